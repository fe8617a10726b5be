//! `extension.toml`: the rows of an extension, and what is wrong with them.

use serde::Deserialize;
use serde_json::Value;
use toml::Spanned;

use mcp_wire::{Direction, ExtensionStage, MethodKind};

use super::super::canonical::definition;
use super::super::methods::messages;
use super::super::range::Order;
use super::super::roles::{kind_of, likely_kind};
use super::super::rules::RuleFile;
use super::super::{Lifecycle, Revision, RevisionStage, revisions};
use super::statements::StatementRow;
use super::{Core, ExtensionMethod, MetaEntry, Roles, known};
use crate::Error;
use crate::one_or_many::OneOrMany;
use crate::sorted::SortedSet;

/// The content of `extension.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExtensionRows {
    /// The identifier by which peers declare it.
    pub identifier: Spanned<String>,
    pub(super) settings: Option<Spanned<String>>,
    /// The only lifecycle whose peers have it; without it, all have.
    pub(super) lifecycle: Option<Lifecycle>,
    #[serde(default)]
    pub(super) roles: Roles,
    /// Its states, oldest first.
    #[serde(default)]
    pub state: Vec<StateRow>,
    /// The messages of its states.
    #[serde(default)]
    pub method: Vec<MethodRow>,
    #[serde(default)]
    pub(super) result: Vec<ResultRow>,
    #[serde(default)]
    meta: Vec<MetaRow>,
    #[serde(default)]
    pub(super) statement: Vec<StatementRow>,
    pub(super) core: Option<CoreRow>,
    #[serde(rename = "later-core")]
    pub(super) later_core: Option<LaterCoreRow>,
}

/// A published state of the extension.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StateRow {
    /// The id.
    pub id: Spanned<String>,
    /// The publication status.
    pub status: RevisionStage,
    /// The stage of the extension's lifecycle, where its authors name one.
    pub stage: Option<Spanned<String>>,
    /// The day on which it came to that stage, where that is known: `YYYY-MM-DD`.
    #[serde(rename = "stage-since")]
    pub(super) stage_since: Option<Spanned<String>>,
    /// The revision that it rests on.
    pub revision: Spanned<String>,
    pub(super) handlers: Option<bool>,
    /// The path of the schema in the extension's repository.
    pub source: Option<String>,
    /// The repository and the commit of the page that the schema was written from: upstream has none.
    #[serde(rename = "written-from")]
    pub written_from: Option<Spanned<String>>,
    /// The digest of the upstream file.
    pub sha256: Option<Spanned<String>>,
    /// The URL of the reference page.
    pub reference: Spanned<String>,
}

impl StateRow {
    /// Finds the day on which it came to its stage.
    pub fn stage_since(&self) -> Option<&str> {
        Some(self.stage_since.as_ref()?.get_ref())
    }

    /// Finds the stage of the lifecycle.
    pub fn stage(&self) -> Option<ExtensionStage> {
        stage_named(self.stage.as_ref()?.get_ref())
    }
}

/// Finds the stage of a word, `beta`; a folder of that name says the same.
pub fn stage_named(word: &str) -> Option<ExtensionStage> {
    ExtensionStage::ALL
        .into_iter()
        .find(|one| one.as_str() == word)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MethodRow {
    pub name: Spanned<String>,
    sender: Spanned<String>,
    kind: Option<Spanned<String>>,
    result: Option<Spanned<String>>,
    area: Option<String>,
    #[serde(rename = "named-by")]
    named_by: Option<String>,
    pub since: Option<String>,
    pub until: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ResultRow {
    method: Spanned<String>,
    result: Spanned<String>,
    since: Option<String>,
    until: Option<String>,
}

/// A name in `_meta` of types of the revision, and its value.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MetaRow {
    definition: Spanned<String>,
    name: String,
    of: OneOrMany<String>,
    since: Option<String>,
    until: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CoreRow {
    pub(super) revision: Spanned<String>,
    pub(super) methods: Vec<Spanned<String>>,
}

/// A later revision whose core has the feature again.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LaterCoreRow {
    revision: Spanned<String>,
}

/// The word of a row for a message that gets no response.
const NOTIFICATION: &str = "notification";
/// The word for one that does.
const REQUEST: &str = "request";

/// What `stage` may say.
const STAGES: &str = "stage = \"experimental\", \"beta\" or \"stable\": the folder of specification/ in which its page lies; leave the lines out for an extension without a lifecycle";

/// Returns whether the range of a row has a state, and whether it begins there.
pub(super) fn holds_and_begins(
    order: &Order,
    since: &Option<String>,
    until: &Option<String>,
    id: &str,
) -> (bool, bool) {
    let first = order.first().unwrap_or_default();
    let begin = since.as_deref().unwrap_or(first);
    (order.holds(begin, until.as_deref(), id), begin == id)
}

impl ExtensionRows {
    /// Returns the order of the states.
    pub fn order(&self) -> Order {
        let draft = |row: &&StateRow| row.status == RevisionStage::Draft;
        let drafts = self.state.iter().filter(draft).count();
        let ids = self.state.iter().map(|row| row.id.get_ref().clone());
        Order::of_states(ids.collect(), self.state.len() - drafts)
    }

    /// Returns the state that handlers are written in: the one whose row says so, else the latest release, else the last.
    pub fn of_handlers(&self) -> Option<&StateRow> {
        let released = |row: &&StateRow| row.status == RevisionStage::Released;
        let mut said = self.state.iter();
        said.find(|row| row.handlers == Some(true))
            .or_else(|| self.state.iter().rev().find(released))
            .or_else(|| self.state.last())
    }

    /// Returns the messages that a state has by the rows; a draft has none that its schema lacks.
    pub fn methods(&self, state: &StateRow, schema: &Value) -> Vec<ExtensionMethod> {
        let (order, id) = (self.order(), state.id.get_ref());
        let own: SortedSet<&str> = messages(schema).map(|(name, _)| name).collect();
        let rows = self.method.iter().filter(|row| {
            let (holds, _) = holds_and_begins(&order, &row.since, &row.until, id);
            holds && own.contains(row.name.get_ref().as_str())
        });
        let method = |row: &MethodRow| ExtensionMethod {
            name: row.name.get_ref().clone(),
            sender: self.roles.direction(row.sender.get_ref()).flatten(),
            kind: (row.kind.as_ref()).and_then(|word| kind_of_word(word.get_ref())),
            result: row.result.as_ref().map(|of| of.get_ref().clone()),
            area: row.area.clone(),
            named_by: row.named_by.clone(),
        };
        rows.map(method).collect()
    }

    /// Returns the later core that has the methods of a state; `None` for a state that handlers are not written in, and for a
    /// draft of a core that has none of them.
    pub(super) fn later_core(
        &self,
        state: &StateRow,
        methods: &[ExtensionMethod],
        revisions: &[Revision],
    ) -> Option<Core> {
        let id = self.later_core.as_ref()?.revision.get_ref();
        let main = (self.of_handlers()).filter(|main| main.id == state.id)?;
        let place = |id: &str| revisions.iter().position(|one| one.id == id);
        let named = place(id)?;
        // A feature that a draft takes back is released before it, in the first revision that has it.
        let first = match revisions.get(named)?.status {
            RevisionStage::Draft => place(main.revision.get_ref())? + 1,
            RevisionStage::Released | RevisionStage::Candidate => named,
        };
        let mut later = revisions.get(first..=named)?.iter();
        later.find_map(|one| {
            let taken = taken_by(one, methods.iter().map(|method| method.name.as_str()));
            let has_it = !taken.is_empty() && one.status != RevisionStage::Candidate;
            has_it.then(|| Core {
                revision: one.id.clone(),
                methods: taken,
            })
        })
    }

    /// Returns the fault of the row about a later core.
    fn later_core_fault<'r>(
        &'r self,
        revisions: &[Revision],
    ) -> Option<(&'r Spanned<String>, String, String)> {
        let row = &self.later_core.as_ref()?.revision;
        let place = |id: &str| revisions.iter().position(|one| one.id == id);
        let Some(at) = place(row.get_ref()) else {
            return Some((row, "no revision `{}`".to_owned(), known(revisions)));
        };
        let main = self.of_handlers()?;
        if place(main.revision.get_ref()) >= Some(at) {
            let problem = format!("`{{}}` is not later than {}", main.revision.get_ref());
            let help = "the first revision whose core has the feature that the extension had";
            return Some((row, problem, help.to_owned()));
        }
        let later = revisions.get(at)?;
        let methods = self.method.iter().map(|row| row.name.get_ref().as_str());
        // A draft moves: it is passed over where it has none of them.
        if later.status != RevisionStage::Draft && taken_by(later, methods).is_empty() {
            let problem = "revision `{}` has no method of the extension".to_owned();
            let help = "the first revision whose core has them; or remove the table";
            return Some((row, problem, help.to_owned()));
        }
        None
    }

    /// Returns the results by which requests of the revision may be answered in a state.
    pub(super) fn results(&self, state: &StateRow, schema: &Value) -> Vec<(String, String)> {
        let (order, id) = (self.order(), state.id.get_ref());
        let rows = self.result.iter().filter(|row| {
            let (holds, _) = holds_and_begins(&order, &row.since, &row.until, id);
            holds && definition(schema, row.result.get_ref()).is_some()
        });
        rows.map(|row| (row.method.get_ref().clone(), row.result.get_ref().clone()))
            .collect()
    }

    /// Returns the entries of `_meta` in types of the revision, in a state.
    pub(super) fn meta(&self, state: &StateRow, schema: &Value) -> Vec<MetaEntry> {
        let (order, id) = (self.order(), state.id.get_ref());
        let rows = self.meta.iter().filter(|row| {
            let (holds, _) = holds_and_begins(&order, &row.since, &row.until, id);
            holds && definition(schema, row.definition.get_ref()).is_some()
        });
        let entry = |row: &MetaRow| MetaEntry {
            definition: row.definition.get_ref().clone(),
            name: row.name.clone(),
            of: row.of.all().to_vec(),
        };
        rows.map(entry).collect()
    }

    /// Returns the faults of the list of states.
    pub(super) fn list_faults(&self, facts: &RuleFile, revisions: &[Revision]) -> Vec<Error> {
        let mut errors = Vec::new();
        let mut fault = |at: &Spanned<String>, problem: String, help: &str| {
            let rule = format!("state `{}`", at.get_ref());
            errors.push(facts.error(at.span().start, rule, problem, "", help));
        };
        let mut before: Vec<&StateRow> = Vec::new();
        for row in &self.state {
            let id = row.id.get_ref();
            if !revisions::is_name(id) {
                fault(
                    &row.id,
                    format!("`{id}` cannot name a state"),
                    revisions::NAME_HELP,
                );
            }
            if before.iter().any(|other| other.id.get_ref() == id) {
                let help = "leave one of the rows, or name the other state";
                fault(&row.id, "another row has that id".to_owned(), help);
            }
            let is_draft = |row: &StateRow| row.status == RevisionStage::Draft;
            if !is_draft(row) && before.iter().any(|other| is_draft(other)) {
                let help = "the list is in order of age, drafts last";
                fault(&row.id, "it stands after a draft".to_owned(), help);
            }
            if row.handlers == Some(true) {
                let is_taken = before.iter().any(|other| other.handlers == Some(true));
                if row.status != RevisionStage::Released || is_taken {
                    let help = "`handlers = true` stands at one released state";
                    fault(
                        &row.id,
                        "handlers are written in another state".to_owned(),
                        help,
                    );
                }
            }
            if row.reference.get_ref().is_empty() {
                let help = "the URL of the page that the docs of the types are to link";
                fault(
                    &row.id,
                    "the state names no reference page".to_owned(),
                    help,
                );
            }
            if row.stage.is_some() && row.stage().is_none() {
                let problem = "no stage of an extension is called so".to_owned();
                fault(row.stage.as_ref().unwrap_or(&row.id), problem, STAGES);
            }
            if let Some(since) = row.stage_since.as_ref() {
                let is_day = |text: &str| {
                    let parts: Vec<&str> = text.split('-').collect();
                    let digits = |part: &&str| part.bytes().all(|byte| byte.is_ascii_digit());
                    parts.iter().map(|part| part.len()).eq([4, 2, 2]) && parts.iter().all(digits)
                };
                if row.stage.is_none() {
                    fault(since, "the state names no stage".to_owned(), STAGES);
                } else if !is_day(since.get_ref()) {
                    let problem = format!("`{}` is not a day", since.get_ref());
                    fault(since, problem, "YYYY-MM-DD; or leave the line out");
                }
            }
            let base = row.revision.get_ref();
            if revisions.iter().all(|one| one.id != *base) {
                fault(&row.id, format!("no revision `{base}`"), &known(revisions));
            }
            before.push(row);
        }
        errors
    }

    /// Returns the rows that the schema of a state contradicts; a draft is passed over, where nothing
    /// begins with it.
    pub(super) fn faults(
        &self,
        facts: &RuleFile,
        state: &StateRow,
        schema: &Value,
        revisions: &[Revision],
    ) -> Vec<Error> {
        const UNDEFINED: &str = "the schema has no definition `{}`";
        const LEAVE_OUT: &str = "the name of a definition of the schema; or leave the line out";
        let (order, id) = (self.order(), state.id.get_ref().as_str());
        let is_draft = state.status == RevisionStage::Draft && self.state.len() > 1;
        let of_state = match self.state.len() {
            1 => String::new(),
            _ => format!(" (state {id})"),
        };
        let mut errors = Vec::new();
        // `{}` in a problem is what the row says there.
        let mut fault = |at: &Spanned<String>, rule: &str, problem: &str, help: &str| {
            errors.push(facts.error(
                at.span().start,
                rule,
                problem.replace("{}", at.get_ref()) + &of_state,
                "",
                help,
            ));
        };
        let is_undefined = |name: &&Spanned<String>| definition(schema, name.get_ref()).is_none();
        if let Some(settings) = self.settings.as_ref().filter(is_undefined)
            && !is_draft
        {
            fault(settings, "settings", UNDEFINED, LEAVE_OUT);
        }
        let own: SortedSet<&str> = messages(schema).map(|(method, _)| method).collect();
        let mut said = SortedSet::new();
        for row in &self.method {
            let (holds, begins) = holds_and_begins(&order, &row.since, &row.until, id);
            if !holds {
                continue;
            }
            let name = &row.name;
            let rule = format!("method `{}`", name.get_ref());
            if !said.insert(name.get_ref()) {
                let help = "leave one of the rows, with its sender";
                fault(name, &rule, "another row says it", help);
            }
            if is_draft && !begins {
                continue;
            }
            if !own.contains(name.get_ref().as_str()) {
                let problem = "the schema has no message of that method";
                let help = "remove the row, correct the name, or end it with `until`";
                fault(name, &rule, problem, help);
            }
            if let Some(result) = row.result.as_ref().filter(is_undefined) {
                fault(result, &rule, UNDEFINED, LEAVE_OUT);
            }
        }
        let base = revisions
            .iter()
            .find(|one| one.id == *state.revision.get_ref());
        for row in &self.meta {
            let (holds, begins) = holds_and_begins(&order, &row.since, &row.until, id);
            if !holds || is_draft && !begins {
                continue;
            }
            let rule = format!("meta `{}`", row.name);
            if is_undefined(&&row.definition) {
                fault(&row.definition, &rule, UNDEFINED, LEAVE_OUT);
            }
            for of in row.of.all() {
                if base.is_some_and(|base| base.definition(of).is_none()) {
                    let problem = format!("the revision has no definition `{of}`");
                    let help = "the definitions of the revision whose `_meta` holds it";
                    fault(&row.definition, &rule, &problem, help);
                }
            }
        }
        let theirs: SortedSet<&str> = revisions
            .iter()
            .flat_map(|one| messages(&one.schema))
            .map(|(method, _)| method)
            .collect();
        for row in &self.result {
            let (holds, begins) = holds_and_begins(&order, &row.since, &row.until, id);
            if !holds || is_draft && !begins {
                continue;
            }
            let ResultRow { method, result, .. } = row;
            let rule = format!("result of `{}`", method.get_ref());
            if !theirs.contains(method.get_ref().as_str()) {
                let help = "a request of the revision, such as tools/call";
                fault(method, &rule, "no revision has such a method", help);
            }
            if is_undefined(&result) {
                let help = "the name of a definition of the schema; or remove the row";
                fault(result, &rule, UNDEFINED, help);
            }
        }
        errors
    }

    /// Returns the faults of the rows by themselves, without the schemas of the states.
    pub(super) fn own_faults(&self, facts: &RuleFile, revisions: &[Revision]) -> Vec<Error> {
        let order = self.order();
        let mut errors = Vec::new();
        let mut fault = |at: &Spanned<String>, rule: &str, problem: &str, help: &str| {
            errors.push(facts.error(
                at.span().start,
                rule,
                problem.replace("{}", at.get_ref()),
                "",
                help,
            ));
        };
        if !super::is_identifier(self.identifier.get_ref()) {
            let problem = "`{}` is not the identifier of an extension";
            fault(&self.identifier, "identifier", problem, super::IDENTIFIER);
        }
        let Roles { client, server } = &self.roles;
        let sides = format!("{client} or {server}");
        if [client, server].iter().any(|word| !Roles::is_word(word)) || client == server {
            let help = "two different words of lower-case letters, such as view and host";
            fault(
                &self.identifier,
                "roles",
                "the roles do not name two sides",
                help,
            );
        }
        for row in &self.method {
            let rule = format!("method `{}`", row.name.get_ref());
            if self.roles.direction(row.sender.get_ref()).is_none() {
                fault(&row.sender, &rule, "`{}` is neither side", &sides);
            }
            let is_no_kind = |word: &&Spanned<String>| kind_of_word(word.get_ref()).is_none();
            if let Some(kind) = row.kind.as_ref().filter(is_no_kind) {
                let help = "request or notification; without the line, the method says it";
                fault(kind, &rule, "`{}` is not a kind of message", help);
            }
        }
        let of_methods = (self.method.iter()).map(|row| (&row.name, &row.since, &row.until));
        let of_results = (self.result.iter()).map(|row| (&row.method, &row.since, &row.until));
        let of_meta = (self.meta.iter()).map(|row| (&row.definition, &row.since, &row.until));
        let of_statements = (self.statement.iter()).map(|row| (row.name(), &row.since, &row.until));
        let ranges = of_methods
            .chain(of_results)
            .chain(of_meta)
            .chain(of_statements);
        for (name, since, until) in ranges {
            let first = order.first().unwrap_or_default();
            let begin = since.as_deref().unwrap_or(first);
            if let Err(problem) = order.range(begin, until.as_deref()) {
                let rule = format!("`{}`", name.get_ref());
                fault(name, &rule, &problem, "the id of a state of the extension");
            }
        }
        if let Some((at, problem, help)) = self.later_core_fault(revisions) {
            fault(at, "later-core", &problem, &help);
        }
        if let Some(CoreRow { revision, methods }) = &self.core {
            let id = revision.get_ref();
            let before = revisions.iter().find(|one| one.id == *id);
            match before.map(|before| before.status) {
                None => fault(revision, "core", "no revision `{}`", &known(revisions)),
                Some(RevisionStage::Released) => {}
                Some(status) => {
                    let problem = format!("revision `{{}}` is a {status}");
                    let help = "the last released revision whose core has the feature: its messages are converted";
                    fault(revision, "core", &problem, help);
                }
            }
            let has = |before: &Revision, name: &str| {
                messages(&before.schema).any(|(method, _)| method == name)
            };
            for method in methods {
                if before.is_some_and(|before| !has(before, method.get_ref())) {
                    let problem = format!("revision `{id}` has no method `{{}}`");
                    let help = "the methods of the feature as that revision has them";
                    fault(method, "core", &problem, help);
                }
            }
        }
        errors
    }
}

/// Returns those of some methods that a revision has.
fn taken_by<'m>(revision: &Revision, methods: impl Iterator<Item = &'m str>) -> Vec<String> {
    let own: SortedSet<&str> = messages(&revision.schema)
        .map(|(method, _)| method)
        .collect();
    let taken = methods.filter(|method| own.contains(method));
    taken.map(str::to_owned).collect()
}

/// Returns the kind of message that a word of a row names.
fn kind_of_word(word: &str) -> Option<MethodKind> {
    match word {
        NOTIFICATION => Some(MethodKind::Notification),
        REQUEST => Some(MethodKind::Request),
        _ => None,
    }
}

/// Returns the word that a new row says of a message, where its method alone would say another kind.
pub fn stated_kind(method: &str, definition: &str) -> Option<&'static str> {
    match (likely_kind(method, definition), kind_of(method)) {
        (MethodKind::Notification, MethodKind::Request) => Some(NOTIFICATION),
        _ => None,
    }
}

impl Roles {
    /// Returns the direction of what a side sends: `Some(None)` for an empty word, `None` for an unknown one.
    pub(super) fn direction(&self, word: &str) -> Option<Option<Direction>> {
        match word {
            "" => Some(None),
            word if word == self.client => Some(Some(Direction::ClientToServer)),
            word if word == self.server => Some(Some(Direction::ServerToClient)),
            _ => None,
        }
    }

    /// Returns whether a text can be a word for a side: it becomes a part of the names of types.
    fn is_word(text: &str) -> bool {
        !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_lowercase())
    }
}
