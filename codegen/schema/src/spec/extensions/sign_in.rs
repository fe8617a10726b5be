//! Extensions of the sign-in, which have no messages and no schema: their names, and the stages of their lifecycle.

use mcp_wire::ExtensionStage;
use serde::Deserialize;
use toml::Spanned;

use super::rows::stage_named;
use super::{FOLDER, Spec};
use crate::Error;

/// An extension of the sign-in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignInExtension {
    /// The name of its page: `oauth-client-credentials`.
    pub name: String,
    /// The identifier by which peers may declare it.
    pub identifier: String,
    /// The stage of its lifecycle.
    pub stage: ExtensionStage,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SignInRow {
    name: Spanned<String>,
    identifier: String,
    stage: String,
    #[serde(rename = "reference")]
    _reference: String,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
struct SignInRows {
    #[serde(default)]
    extension: Vec<SignInRow>,
}

impl SignInExtension {
    /// Reads those of a spec.
    ///
    /// # Errors
    /// A row without a stage, or with an identifier that is none.
    pub fn read(spec: &Spec) -> Result<Vec<Self>, Error> {
        let file = spec.rules.get(&format!("{FOLDER}/sign-in.toml"));
        let rows: SignInRows = file.parse()?;
        Error::all(rows.extension.into_iter().map(|row| {
            let stage = stage_named(&row.stage);
            let Some(stage) = stage.filter(|_| super::is_identifier(&row.identifier)) else {
                let rule = format!("extension `{}`", row.name.get_ref());
                let help = "identifier = \"PREFIX/NAME\", and stage = \"experimental\", \"beta\" or \"stable\"";
                let problem = "its identifier or its stage is none".to_owned();
                return Err(file.error(row.name.span().start, rule, problem, "", help));
            };
            Ok(Self {
                name: row.name.into_inner(),
                identifier: row.identifier,
                stage,
            })
        }))
    }
}
