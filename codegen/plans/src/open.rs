//! Open questions of a pair's rules: each place once, the safe answer that was taken, and the row that would
//! settle it.

use mcp_revisions_schema::sorted::{SortedMap, SortedSet};
use std::fmt::Write as _;

use mcp_revisions_schema::decision::{Decision, QuestionKind, Scope, Settle};
use mcp_revisions_schema::naming::{numbered, rule_id, snake_case};
use mcp_revisions_schema::pair::{MethodSender, RevisionPair, StepDirection};
use mcp_revisions_schema::pointer::escaped;
use mcp_revisions_schema::spec::toml_text::{one_or_many, quoted};

/// The rule of losses and rejections that are not decided, by the id that `mcp_convert` gives it.
pub const UNDECIDED: &str = "undecided";

/// Something that is open on one way.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct OpenDifference {
    /// The direction in which it is open; `None` for both.
    way: Option<StepDirection>,
    /// The open question, in words.
    open: String,
    /// The safe answer, in words.
    answer: String,
    /// The row that would settle it.
    row: ProposedRow,
}

/// The row that would settle a finding.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ProposedRow {
    /// A `[[rule]]` at the place with this action, in TOML: it answers what else is open there on that way, if it is a
    /// hook.
    Rule(String),
    /// The same, where what the action puts there is recorded.
    Add(String),
    /// A hook of a type that makes a member, or a place inside of it, fit.
    Covers([String; 2]),
    /// A `[[rename]]` of a type.
    Rename([String; 2]),
    /// A `[[rename]]` of a member whose type changed as well, and the hooks that convert its value.
    Retype([String; 2]),
    /// A `[[rename]]` of a method: it settles what both names leave open.
    RenameMethod([String; 2]),
    /// A `[[method]]` with this action, in TOML, and the way on which the method is missing.
    Method(MethodSender, StepDirection, String),
    /// An `[[error]]` with this code, below a comment that may be empty.
    Error(i64, String),
    /// A line of `spec/errors.toml`.
    Listed(String),
}

/// All findings of a pair, by place.
#[derive(Debug, Default)]
pub(super) struct OpenDifferences {
    places: SortedMap<String, SortedSet<OpenDifference>>,
    /// The member that only the other side has and that is like the one at a place, by the way to that side.
    twins: SortedMap<(String, StepDirection), (String, Likeness)>,
}

/// The likeness of a member that went and one that came.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Likeness {
    /// The type, and whether it must be there.
    OfType,
    /// A word of their names, and whether it must be there.
    OfName,
}

/// Returns whether two names in camel case have a word in common.
pub(super) fn shares_word(one: &str, other: &str) -> bool {
    let [one, other] = [one, other].map(snake_case);
    let mut words = one.split('_').filter(|word| !word.is_empty());
    words.any(|word| other.split('_').any(|other| word == other))
}

impl OpenDifferences {
    /// Adds what is open on both ways, or on one.
    pub(super) fn open(
        &mut self,
        place: impl Into<String>,
        way: Option<StepDirection>,
        open: impl Into<String>,
        answer: impl Into<String>,
        row: ProposedRow,
    ) {
        // One that is there stays one.
        self.places
            .entry(place.into())
            .or_default()
            .insert(OpenDifference {
                way,
                open: open.into(),
                answer: answer.into(),
                row,
            });
    }

    /// Adds those of one way.
    pub(super) fn extend(&mut self, others: Self) {
        for (place, findings) in others.places {
            self.places.entry(place).or_default().extend(findings);
        }
        self.twins.extend(others.twins);
    }

    /// Adds that a member which goes on a way is like one that only the other side has.
    pub(super) fn alike(&mut self, place: &str, way: StepDirection, twin: &str, how: Likeness) {
        let twin = (twin.to_owned(), how);
        self.twins.insert((place.to_owned(), way), twin);
    }

    /// Says of a variant that is open on a way that an entry of a list is left out for it, and proposes the row that says the same.
    pub(super) fn leaves_out(&mut self, place: &str, way: StepDirection) {
        let Some(findings) = self.places.get_mut(place) else {
            return;
        };
        let all = std::mem::take(findings).into_iter();
        let left_out = all.map(|one| match one.way {
            Some(of) if of == way => OpenDifference {
                answer: format!(
                    "{}; an entry of a list is left out, and recorded",
                    one.answer
                ),
                row: ProposedRow::Rule("\"drop\"".to_owned()),
                ..one
            },
            _ => one,
        });
        *findings = left_out.collect();
    }

    /// Puts one finding in the place of all about members that have another name in the newer revision: those of which each
    /// is the only one like the other, in several types or with a word of their names in common.
    fn rename(&mut self) {
        let mut owners: SortedMap<([String; 2], Likeness), Vec<String>> = SortedMap::new();
        for ((place, _), (new, how)) in self
            .twins
            .iter()
            .filter(|((_, way), _)| *way == StepDirection::Up)
        {
            let Some((owner, old)) = place.split_once('.') else {
                continue;
            };
            let back = (format!("{owner}.{new}"), StepDirection::Down);
            if (self.twins.get(&back)).is_some_and(|(twin, other)| twin == old && other == how) {
                let names = [old.to_owned(), new.clone()];
                let of = owners.entry((names, *how)).or_default();
                of.push(owner.to_owned());
            }
        }
        for (([old, new], how), owners) in owners {
            let at = match &owners[..] {
                [one] if shares_word(&old, &new) => one.as_str(),
                [_] | [] => continue,
                _ => "*",
            };
            for owner in &owners {
                self.places.remove(&format!("{owner}.{old}"));
                self.places.remove(&format!("{owner}.{new}"));
            }
            let rename = [&old, &new].map(|name| format!("{at}.{name}"));
            let of = owners
                .iter()
                .map(|owner| format!("`{owner}`"))
                .collect::<Vec<_>>();
            let open = format!(
                "`{old}` of {} is gone, and `{new}` came, which is like it",
                of.join(", ")
            );
            let answer = "they are two members: the one is left out, and recorded, and the other is not made of it";
            let place = rename[0].clone();
            let row = match how {
                Likeness::OfType => ProposedRow::Rename(rename),
                Likeness::OfName => ProposedRow::Retype(rename),
            };
            self.open(place, None, open, answer, row);
        }
    }

    /// One decision a place, and one for a member of which the same is open in several types; its row has an id that no rule
    /// of the pair has.
    pub(super) fn decisions(
        mut self,
        pair: &RevisionPair,
        mut taken: SortedSet<String>,
    ) -> Vec<Decision> {
        self.rename();
        let mut alike: SortedMap<(String, SortedSet<OpenDifference>), Vec<String>> =
            SortedMap::new();
        for (place, findings) in self.places {
            let is_rule = |one: &OpenDifference| {
                matches!(one.row, ProposedRow::Rule(_) | ProposedRow::Add(_))
            };
            // Other rows, and places without a member, are of one place each.
            let member = match place.split_once('.') {
                Some((_, member)) if findings.iter().all(is_rule) => member.to_owned(),
                _ => format!("{place}."),
            };
            alike.entry((member, findings)).or_default().push(place);
        }
        let mut decisions: Vec<Decision> = Vec::new();
        for ((_, findings), places) in alike {
            let id = free_id(rule_id(places.first().map_or("", String::as_str)), &taken);
            taken.insert(id.clone());
            decisions.push(decision(pair, &places, &findings, &id));
        }
        decisions.sort();
        decisions
    }
}

/// Returns an id, with a number behind it if it is taken.
pub(super) fn free_id(id: String, taken: &SortedSet<String>) -> String {
    if taken.contains(&id) {
        numbered(&format!("{id}-"), |id| taken.contains(id))
    } else {
        id
    }
}

fn decision(
    pair: &RevisionPair,
    places: &[String],
    findings: &SortedSet<OpenDifference>,
    id: &str,
) -> Decision {
    let told = |text: fn(&OpenDifference) -> &str| {
        let mut lines: Vec<String> = Vec::new();
        for finding in findings {
            let line = match finding.way {
                Some(way) => format!("on the way {way} {}", text(finding)),
                None => text(finding).to_owned(),
            };
            if !lines.contains(&line) {
                lines.push(line);
            }
        }
        lines.join("; ")
    };
    Decision {
        scope: Scope::Pair(pair.clone()),
        question: QuestionKind::Change,
        open: told(|finding| &finding.open),
        answer: told(|finding| &finding.answer),
        settle: settle(pair, places, findings, id),
        place: places.join(", "),
    }
}

/// Returns the rows to write: those of another kind than `[[rule]]` take its place, since they settle what follows from them.
///
/// A limit of a member of which something else is open, too, is for a hook of the member: it sees to both.
fn settle(
    pair: &RevisionPair,
    places: &[String],
    findings: &SortedSet<OpenDifference>,
    id: &str,
) -> Settle {
    let tail = "reason = \"\"\nsource = \"\"\n";
    let place = places.first().map_or("", String::as_str);
    let mut rule = SortedMap::new();
    let adds = findings
        .iter()
        .any(|one| matches!(one.row, ProposedRow::Add(_)));
    let of_member =
        |one: &OpenDifference| matches!(one.row, ProposedRow::Rule(_) | ProposedRow::Add(_));
    let of_member = findings.iter().any(of_member);
    let mut rows: Vec<String> = Vec::new();
    // Limits come last, so that their hook stands in the place of an action of the same way.
    let (limits, others): (Vec<&OpenDifference>, Vec<&OpenDifference>) =
        (findings.iter()).partition(|one| matches!(one.row, ProposedRow::Covers(_)));
    for OpenDifference { way, row, .. } in others.into_iter().chain(limits) {
        let stub = match row {
            ProposedRow::Covers(_) if of_member => {
                rule.insert(way.unwrap_or(StepDirection::Up), "{ custom = \"\" }");
                continue;
            }
            ProposedRow::Rule(action) | ProposedRow::Add(action) => {
                let ways = StepDirection::BOTH
                    .into_iter()
                    .filter(|one| way.is_none_or(|way| way == *one));
                rule.extend(ways.map(|way| (way, action.as_str())));
                continue;
            }
            ProposedRow::Covers([owner, member]) => {
                let direction = way.unwrap_or(StepDirection::Up);
                let example = example("type", owner, [(None, "", None)]);
                let [owner, member] = [owner, member].map(|name| quoted(name));
                format!(
                    "[[rule]]\nid = \"{id}\"\nat = {owner}\n{direction} = {{ before = \"\" }}\ncovers = [{member}]\n{tail}{example}"
                )
            }
            ProposedRow::Rename([old, new]) => {
                let [old, new] = [old, new].map(|name| quoted(name));
                format!("[[rename]]\nold = {old}\nnew = {new}\nreason = \"\"\n")
            }
            ProposedRow::Retype([old, new]) => {
                let [old, new] = [old, new].map(|name| quoted(name));
                let rename = format!("[[rename]]\nold = {old}\nnew = {new}\nreason = \"\"\n");
                let hook = |way: &str, at: &str| {
                    format!(
                        "\n[[rule]]\nid = \"{id}-{way}\"\nat = {at}\n{way} = {{ custom = \"\" }}\n{tail}"
                    )
                };
                rename + &hook("up", &new) + &hook("down", &old)
            }
            ProposedRow::RenameMethod([old, new]) => {
                let [old, new] = [old, new].map(|name| quoted(name));
                format!("[[rename]]\nmethod = true\nold = {old}\nnew = {new}\nreason = \"\"\n")
            }
            ProposedRow::Method(sender, missing, action) => {
                let sender = format!("{sender:?}").to_lowercase();
                // A method that changed sides has a row for each.
                let of = (findings.len() > 1).then(|| format!("-of-{sender}"));
                let id = format!("{id}{}", of.unwrap_or_default());
                let example = example("params", place, [(Some(*missing), action.as_str(), None)]);
                let name = quoted(place);
                format!(
                    "[[method]]\nname = {name}\nsender = \"{sender}\"\nid = \"{id}\"\naction = {action}\n{tail}{example}"
                )
            }
            ProposedRow::Error(code, comment) => format!(
                "{comment}[[error]]\ncode = {code}\nid = \"error{code}\"\n{} = {{ code = -32603 }}\n{tail}{}",
                way.unwrap_or(StepDirection::Down),
                example("error", "", [(None, "", None)])
            ),
            ProposedRow::Listed(line) => {
                return Settle::of("errors.toml", line.clone());
            }
        };
        // Two limits of one member ask for one row.
        if !rows.contains(&stub) {
            rows.push(stub);
        }
    }
    if !rows.is_empty() {
        return Settle::of(pair.file(), rows.join("\n"));
    }
    // The default of one direction implies the value of an absent member in the other one.
    let default = (rule.get(&StepDirection::Up).copied())
        .and_then(|action| action.strip_prefix("{ default = "))
        .filter(|_| rule.get(&StepDirection::Down).copied() == Some("\"drop\""));
    let implied = default.map(|value| format!("{{ implied = {value}"));
    if let Some(implied) = &implied {
        rule.insert(StepDirection::Down, implied);
    }
    let all: Vec<&str> = places.iter().map(String::as_str).collect();
    let mut stub = format!("[[rule]]\nid = \"{id}\"\nat = {}\n", one_or_many(&all));
    for (way, action) in &rule {
        let _ = writeln!(stub, "{way} = {action}");
    }
    let drops = |action: &&str| *action == "\"drop\"" || action.starts_with("{ implied");
    let fills = |action: &&str| action.starts_with("{ default");
    let loses = |action: &&str| drops(action) || adds && fills(action);
    if rule.values().any(loses) {
        stub.push_str("severity = \"semantic\"\n");
    }
    // The way back makes a value that the receiver had made up or can make again, so it takes none from what was carried.
    if rule.values().any(fills) && (adds || rule.values().any(drops)) {
        stub.push_str("carry = false\n");
    }
    stub.push_str(tail);
    let owner = place.split(['.', '|']).next().unwrap_or(place);
    let member = place.split_once('.').map(|(_, member)| member);
    let rows = rule.iter().map(|(way, action)| {
        let lost = member.filter(|_| loses(action));
        ((rule.len() > 1).then_some(*way), *action, lost)
    });
    stub.push_str(&example("type", owner, rows));
    Settle::of(pair.file(), stub)
}

/// Examples to be filled in, one a way, with the action and the member that is lost by it; which way is not said where
/// there is one.
fn example<'p>(
    of: &str,
    name: &str,
    rows: impl IntoIterator<Item = (Option<StepDirection>, &'p str, Option<&'p str>)>,
) -> String {
    let lines = rows.into_iter().map(|(way, action, lost)| {
        let direction = way.map_or_else(String::new, |way| format!("way = \"{way}\", "));
        let loses = lost.map_or_else(String::new, |member| {
            let pointer = quoted(&format!("/{}", escaped(member)));
            format!(", loses = [{pointer}]")
        });
        let code = action.strip_prefix("{ reject = { code = ");
        let output = match code.and_then(|rest| rest.split(',').next()) {
            Some(code) => format!("rejected {code}"),
            None if of == "params" && action == "\"drop\"" => "dropped".to_owned(),
            None => String::new(),
        };
        let name = quoted(name);
        format!("  {{ {of} = {name}, {direction}input = '', output = '{output}'{loses} }},\n")
    });
    format!("example = [\n{}]\n", lines.collect::<String>())
}
