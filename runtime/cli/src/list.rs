//! `mcp-rev list`: the revisions, types and methods that the other subcommands can name.

use std::fmt::Write as _;

use clap::{Args, ValueEnum};

use mcp_revisions_core::Protocol;
use mcp_revisions_core::{Extension, Lifecycle, Revision};
use mcp_revisions_schema::spec::extensions::SignInExtension;
use mcp_wire::{Direction, ExtensionStage, MethodInfo};
use serde_json::{Value, json};

use crate::{SubcommandOutcome, embedded};

#[derive(Args)]
pub(crate) struct Arguments {
    /// Subject of the list
    what: ListSubject,
    /// Protocol revision, or an extension: `tasks`; not for `revisions` [default: the latest release]
    #[arg(value_name = "ID")]
    of: Option<Protocol>,
    /// Print one JSON object per name
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum ListSubject {
    /// Revisions with lifecycle and status, and extensions with the stage of their lifecycle
    Revisions,
    /// Definitions of the schema and of its extensions, for --type
    Types,
    /// Methods with sender, kind, params and result, for --method
    Methods,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<SubcommandOutcome> {
    let of = match (arguments.what, arguments.of) {
        (ListSubject::Revisions, None) => return revisions(arguments.json),
        (ListSubject::Revisions, Some(of)) => {
            anyhow::bail!(
                "`list revisions` lists them all: leave `{of}` out, or list its `types` or `methods`"
            )
        }
        (_, of) => of.unwrap_or(Revision::LATEST.into()),
    };
    // A revision is listed with the extensions that rest on it.
    let (types, methods, added) = match of {
        Protocol::Revision(revision) => (revision.types(), revision.methods(), Some(revision)),
        Protocol::Extension(extension) => (extension.types, extension.methods, None),
    };
    let added = || added.into_iter().flat_map(Extension::of);
    let mut text = String::new();
    match arguments.what {
        ListSubject::Revisions => {}
        ListSubject::Types => {
            let added = added().flat_map(|extension| extension.types);
            let definitions = types.iter().chain(added).filter(|ty| ty.definition);
            // The tables are sorted by the names of the types in Rust.
            let mut names: Vec<_> = definitions.map(|ty| ty.name).collect();
            names.sort_unstable();
            for name in names {
                let _ = if arguments.json {
                    writeln!(text, "{}", json!({ "name": name }))
                } else {
                    writeln!(text, "{name}")
                };
            }
        }
        ListSubject::Methods => {
            let own = match of {
                Protocol::Revision(_) => None,
                Protocol::Extension(extension) => Some(extension),
            };
            let added =
                added().flat_map(|of| of.methods.iter().map(move |method| (method, Some(of))));
            let listed: Vec<_> = methods
                .iter()
                .map(|method| (method, own))
                .chain(added)
                .collect();
            let width = listed
                .iter()
                .map(|(method, _)| method.name.len())
                .max()
                .unwrap_or(0);
            for (method, extension) in listed {
                let direction = direction(method, extension);
                if arguments.json {
                    let _ = writeln!(text, "{}", row(method, &direction));
                    continue;
                }
                let _ = writeln!(
                    text,
                    "{:width$}  {}  {:12}  {} -> {}",
                    method.name,
                    direction,
                    method.kind.as_str(),
                    method.params.unwrap_or("-"),
                    method.result.unwrap_or("-"),
                );
            }
        }
    }
    Ok(SubcommandOutcome { text, code: 0 })
}

/// Lists the revisions and the states of extensions, oldest first.
fn revisions(json: bool) -> anyhow::Result<SubcommandOutcome> {
    let own = Revision::ALL.iter().map(|of| {
        json!({
            "id": of.to_string(),
            "protocolVersion": of.protocol_version(),
            "lifecycle": match of.lifecycle() {
                Lifecycle::Handshake => "handshake",
                Lifecycle::PerRequest => "per-request",
            },
            "status": of.status().to_string(),
        })
    });
    let added = Extension::ALL.iter().map(|of| {
        json!({
            "id": of.name,
            "identifier": of.identifier,
            "state": of.state,
            "revision": of.revision.to_string(),
            "status": of.status.to_string(),
            "stage": of.stage.map(ExtensionStage::as_str),
            "stageSince": of.stage_since,
        })
    });
    let without_messages = SignInExtension::read(&embedded::spec()?)?;
    let of_sign_in = without_messages.iter().map(
        |of| json!({ "id": of.name, "identifier": of.identifier, "stage": of.stage.as_str() }),
    );
    let mut text = String::new();
    for row in own.chain(added).chain(of_sign_in) {
        if json {
            let _ = writeln!(text, "{row}");
            continue;
        }
        let cell = |name: &str| row[name].as_str().unwrap_or_default();
        let (first, second) = match cell("identifier") {
            "" => (cell("protocolVersion"), cell("lifecycle").to_owned()),
            identifier if cell("revision").is_empty() => (identifier, "sign-in".to_owned()),
            identifier => (identifier, format!("on {}", cell("revision"))),
        };
        let stage = [", ", cell("stage"), " since ", cell("stageSince")];
        let stage = match (cell("stage"), cell("stageSince")) {
            ("", _) => String::new(),
            (_, "") => stage[..2].concat(),
            _ => stage.concat(),
        };
        let described = format!("{}{stage}", cell("status"));
        let status = described.trim_start_matches(", ");
        let _ = writeln!(text, "{:13}  {first:30}  {second:13}  {status}", cell("id"));
    }
    Ok(SubcommandOutcome { text, code: 0 })
}

/// Returns the sender and the receiver of a message: of an extension, by its roles.
fn direction(method: &MethodInfo, extension: Option<&Extension>) -> String {
    match extension.map(|extension| (extension.roles, method.direction)) {
        None => method.direction.to_string(),
        Some(([client, server], Direction::ClientToServer)) => format!("{client}-to-{server}"),
        Some(([client, server], Direction::ServerToClient)) => format!("{server}-to-{client}"),
    }
}

/// Returns a method as `--json` prints it.
fn row(method: &MethodInfo, direction: &str) -> Value {
    json!({
        "name": method.name,
        "direction": direction,
        "kind": method.kind.as_str(),
        "params": method.params,
        "result": method.result,
    })
}
