//! `revisions.toml`: the one ordered list of revisions.

use serde::{Deserialize, Serialize};
use toml::Spanned;

use super::rules::RuleFile;
use crate::names::module;
use crate::naming::is_identifier;
use crate::{Error, from_name};

/// The way in which a revision settles the version to speak.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Lifecycle {
    /// Once, by `initialize`.
    Handshake,
    /// By each request, in its `_meta`.
    PerRequest,
}

/// The stage of a revision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum RevisionStage {
    /// Published: may be negotiated.
    Released,
    /// A candidate that was published for review: typed and compared, never negotiated.
    Candidate,
    /// The working copy; stands last.
    Draft,
}

impl RevisionStage {
    /// Returns a path in the specification's repository, with the folder of a revision of this stage for `{revision}`: what
    /// is not released stands in `draft`.
    pub fn placed(self, path: &str, id: &str) -> String {
        let folder = match self {
            Self::Released => id,
            Self::Candidate | Self::Draft => "draft",
        };
        path.replace("{revision}", folder)
    }
}

mcp_wire::strings! {
    Lifecycle {
        Handshake "handshake";
        PerRequest "per-request";
    }
}

mcp_wire::strings! {
    RevisionStage {
        Released "released";
        Candidate "candidate";
        Draft "draft";
    }
}

from_name!(Lifecycle, "lifecycle", as_str);
from_name!(RevisionStage, "status", as_str);

/// One entry, with the places of its values.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RevisionRow {
    /// The id.
    pub id: Spanned<String>,
    /// The version string on the wire, where it is not the id.
    pub wire: Option<String>,
    /// The lifecycle.
    pub lifecycle: Lifecycle,
    /// The stage.
    pub status: RevisionStage,
    /// Set for the revision that handlers are written in.
    pub handlers: Option<Spanned<bool>>,
    /// The path of the schema in the specification's repository.
    pub source: Option<String>,
    /// The digest of the upstream file.
    pub sha256: Option<Spanned<String>>,
    /// The URL of the reference page.
    pub reference: Option<String>,
    /// The facts that are confirmed, while others are not.
    pub confirmed: Option<Spanned<Vec<String>>>,
}

impl RevisionRow {
    /// Returns the id.
    pub fn id(&self) -> &str {
        self.id.get_ref()
    }

    /// Returns whether it is a draft.
    pub fn is_draft(&self) -> bool {
        self.status == RevisionStage::Draft
    }

    /// Returns the version string on the wire.
    pub fn wire(&self) -> &str {
        self.wire.as_deref().unwrap_or(self.id())
    }

    /// Returns the recorded SHA-256 of the upstream file; empty if there is none.
    pub fn sha256(&self) -> &str {
        self.sha256.as_ref().map_or("", |digest| digest.get_ref())
    }

    /// Returns whether handlers are written in it.
    pub(crate) fn handlers(&self) -> bool {
        (self.handlers.as_ref()).is_some_and(|handlers| *handlers.get_ref())
    }

    /// Returns the facts that are confirmed, while others are not.
    pub fn confirmed(&self) -> Vec<&str> {
        let facts = self.confirmed.iter().flat_map(|facts| facts.get_ref());
        facts.map(String::as_str).collect()
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RevisionsFile {
    #[serde(default)]
    revision: Vec<RevisionRow>,
}

/// Reads the list and checks that it can be one. Returns an error for a text that is not TOML, an id that is taken or not a
/// file name, a protocol version that two released revisions share, a digest that is not valid, handlers of two revisions or of an
/// unreleased one, and a draft that does not stand last.
pub fn read(file: &RuleFile) -> Result<Vec<RevisionRow>, Error> {
    let rows = file.parse::<RevisionsFile>()?.revision;
    let mut errors = Vec::new();
    for (index, row) in rows.iter().enumerate() {
        let rule = format!("revision `{}`", row.id());
        for (offset, problem, help) in faults(row, &rows[..index]) {
            errors.push(file.error(offset, rule.as_str(), problem, "", help));
        }
    }
    Error::check(errors)?;
    Ok(rows)
}

/// Returns the faults of an entry after those before it: offset, problem and help.
fn faults(row: &RevisionRow, before: &[RevisionRow]) -> Vec<(usize, String, &'static str)> {
    let mut faults: Vec<(usize, String, &str)> = Vec::new();
    let at = row.id.span().start;
    if !is_id(row.id()) {
        faults.push((at, "the id cannot name a revision".into(), ID_HELP));
    }
    let own = module(row.id());
    if (before.iter()).any(|other| module(other.id()).eq_ignore_ascii_case(&own)) {
        faults.push((at, "it is listed twice".into(), ""));
    }
    let released = |row: &RevisionRow| row.status == RevisionStage::Released;
    let shares =
        |other: &&RevisionRow| other.wire() == row.wire() && released(other) && released(row);
    if let Some(other) = before.iter().find(shares) {
        let (wire, other) = (row.wire(), other.id());
        let problem = format!("it has the protocol version `{wire}` of revision `{other}`");
        let help = "two released revisions cannot share one protocol version";
        faults.push((at, problem, help));
    }
    let is_digest = |text: &str| text.len() == 64 && text.bytes().all(is_lower_hex);
    if let Some(digest) = row.sha256.as_ref().filter(|it| !is_digest(it.get_ref())) {
        let problem = "`sha256` is not 64 lower-case hex digits".into();
        faults.push((digest.span().start, problem, ""));
    }
    if let Some(handlers) = row.handlers.as_ref().filter(|_| row.handlers()) {
        let at = handlers.span().start;
        if !released(row) {
            let problem = "handlers are written in it, and it is not released".into();
            let help = "`handlers = true` stands at a released revision";
            faults.push((at, problem, help));
        }
        if let Some(other) = before.iter().find(|other| other.handlers()) {
            let problem = format!("handlers are written in revision `{}`, too", other.id());
            faults.push((at, problem, "`handlers = true` stands at one revision"));
        }
    }
    if !row.is_draft() && before.iter().any(RevisionRow::is_draft) {
        let help = "the list is in order of age, drafts last";
        faults.push((at, "it stands after a draft".into(), help));
    }
    faults
}

/// Writes the form of a name, and what follows from where it is used.
macro_rules! form {
    ($more:literal) => {
        concat!(
            "letters, digits, `.`, `_` and `-`, beginning with a letter or digit and ending with one, without `..`; not a keyword of Rust",
            $more
        )
    };
}

/// The form of the name of an extension, and of the id of its state.
pub const NAME_HELP: &str = form!("");

/// The form of a revision's id.
pub const ID_HELP: &str =
    form!(", nor a name that a folder of spec/, a crate or a feature of this workspace has");

/// Names that something else has: folders of spec/, crates `mcp-NAME`, features, modules beside those of the revisions, words
/// of cargo.
const RESERVED: &[&str] = &[
    "auth",
    "backplane",
    "bridge",
    "candidates",
    "client",
    "client-auth",
    "client-http",
    "client-stdio",
    "client-tls",
    "codegen",
    "convert",
    "core",
    "default",
    "errors",
    "events",
    "extensions",
    "full",
    "fuzz",
    "headers",
    "hooks",
    "latest",
    "layer",
    "lock",
    "macros",
    "methods",
    "metrics",
    "peers",
    "protocol",
    "redis",
    "redis-tls",
    "registry",
    "rev",
    "revision",
    "revisions",
    "router",
    "sansio",
    "sansio-client",
    "sansio-server",
    "schema",
    "schema-checks",
    "schemars",
    "server",
    "server-http",
    "server-stdio",
    "service",
    "shared",
    "shims",
    "skills",
    "spoken",
    "stated",
    "tables",
    "target",
    "test",
    "test-programs",
    "tests",
    "tracing",
    "transport",
    "versioned",
    "wire",
];

/// The beginnings of names of other crates: those of extensions, and `mcp-revisions-NAME`.
const RESERVED_PREFIXES: &[&str] = &["ext-", "revisions-"];

/// Checks a revision id: it is a directory of spec/, part of a crate name, a module and a feature.
pub fn is_id(id: &str) -> bool {
    let name = module(id).to_lowercase().replace('_', "-");
    let is_taken = RESERVED_PREFIXES
        .iter()
        .any(|prefix| name.starts_with(prefix));
    is_name(id) && !is_taken && !RESERVED.contains(&name.as_str())
}

/// Checks the name of an extension, or of a state: it is a directory of spec/, and part of the names of a crate, a module and a
/// feature.
pub fn is_name(name: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
    let ends = |byte: Option<u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric());
    name.bytes().all(plain)
        && ends(name.bytes().next())
        && ends(name.bytes().next_back())
        && !name.contains("..")
        && is_identifier(&module(name))
}

fn is_lower_hex(byte: u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'a'..=b'f')
}
