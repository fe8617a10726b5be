//! The kinds of changes, by stable id, with all that is known of each by itself.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::verdict::{ChangeLevel, CrateChange, DirectionVerdict, Meaning, Verdicts};
use mcp_revisions_schema::from_name;

/// A kind in words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Explanation {
    /// The meaning of the kind.
    pub means: &'static str,
    /// The peers that can no longer work together, or misunderstand each other.
    pub breaks: &'static str,
    /// The task of a maintainer.
    pub todo: &'static str,
    /// One that happened, or that could.
    pub example: &'static str,
}

/// Defines the kinds, a row each, so that no kind can be left out of a list.
macro_rules! kinds {
    ($($name:ident = $id:literal, crate $crate_change:ident, $up:ident up, $down:ident down:
        $means:literal, $breaks:literal, $todo:literal, $example:literal;)+) => {
        /// The kind of a change at a place.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "kebab-case")]
        pub enum ChangeKind {
            $(#[doc = $means] $name,)+
        }

        impl ChangeKind {
            /// All kinds, in the order in which they are printed.
            pub const ALL: &[Self] = &[$(Self::$name),+];

            /// Returns the stable id.
            pub fn id(self) -> &'static str {
                match self { $(Self::$name => $id,)+ }
            }

            /// Explains the kind: what it means, who breaks, and what to do about it.
            pub fn explain(self) -> Explanation {
                let [means, breaks, todo, example] = match self {
                    $(Self::$name => [$means, $breaks, $todo, $example],)+
                };
                Explanation { means, breaks, todo, example }
            }

            /// Returns the effect on users of the generated crate.
            pub(super) fn crate_change(self) -> CrateChange {
                match self { $(Self::$name => CrateChange::$crate_change,)+ }
            }

            /// Returns the verdicts that hold as long as nothing else is known of the change.
            pub(super) fn verdicts(self) -> Verdicts {
                match self { $(Self::$name => Verdicts::of(DirectionVerdict::$up, DirectionVerdict::$down),)+ }
            }
        }
    };
}

// Each with what it does to users of the generated crate, what becomes of messages on the way up and down, and in words:
// what it means, which peers break, what a maintainer does about it, and an example.
kinds! {
    MethodAdded = "method-added", crate Minor, FINE up, DROPPED down:
        "A message that the old revision does not list for that direction and channel.",
        "Only peers that send it. An old peer answers an unknown request with -32601 and ignores an unknown notification.",
        "Send it only to peers that speak the new revision. A bridge to an old peer answers the request itself.",
        "2025-03-26..2025-06-18: S2C elicitation/create";
    MethodRemoved = "method-removed", crate Major, DROPPED up, FINE down:
        "A message that the new revision no longer lists for that direction and channel.",
        "Old peers that send it: a request is rejected with -32601, a notification is ignored.",
        "Look for its replacement (changes of kind moved say where its parts went), or answer it in the runtime for old peers.",
        "2025-11-25..2026-07-28: C2S initialize";
    MethodRechanneled = "method-rechanneled", crate Major, CHANGED up, CHANGED down:
        "The same method on another channel, such as a server's request that became an entry of inputRequests in a result.",
        "Peers that send or expect it on the old channel.",
        "A runtime has to keep state: it turns the request into a result that asks for input, and the retry into the answer.",
        "2025-11-25..2026-07-28: S2C sampling/createMessage";
    ResultAdded = "result-added", crate Major, CHANGED up, CHANGED down:
        "The new schema says what answers a request, and the old one did not.",
        "Nobody knows: there is nothing to compare the result with.",
        "Name what answered the request before, and compare again: a file says it by the name of the result or by a definition of the response, `CompleteResultResponse`, a revision by a [[result]] in `spec/methods.toml` as well.",
        "a result that gets a definition";
    ResultRemoved = "result-removed", crate Major, CHANGED up, CHANGED down:
        "The new schema no longer says what answers a request: the definition of its result is gone, or has another name.",
        "Nobody knows: there is nothing to compare the result with.",
        "Name what answers the request now, and compare again: a file says it by the name of the result or by a definition of the response, `CompleteResultResponse`, a revision by a [[result]] in `spec/methods.toml` as well.",
        "CompleteResult renamed, and completion/complete not told";
    Moved = "moved", crate Major, CHANGED up, CHANGED down:
        "A value that is in another place now, under the same name or a longer one.",
        "Receivers that look for it in the old place. Breaking where the new place is required.",
        "Copy the value between the two places; where one place is in another message, remember it in between.",
        "2025-11-25..2026-07-28: capabilities of initialize, now in _meta of every request";
    MemberAddedOptional = "member-added-optional", crate Minor, FINE up, DROPPED down:
        "An object has a new optional member.",
        "No peer: objects of MCP are open, so an old receiver ignores it. It is breaking only where the old object is closed.",
        "Drop it for an old peer; record the loss if it carries meaning.",
        "2025-03-26..2025-06-18: S2C tools/list result $.tools[].title";
    MemberAddedRequired = "member-added-required", crate Major, CHANGED up, DROPPED down:
        "An object has a new required member.",
        "New receivers reject messages of old senders, which lack it.",
        "Decide on a value for messages from old peers: a default that the protocol names, or something the runtime knows.",
        "2025-11-25..2026-07-28: S2C tools/list result $.resultType";
    MemberRemoved = "member-removed", crate Major, DROPPED up, FINE down:
        "A member was removed.",
        "New receivers ignore it, so its value is lost. Breaking where it was required: old receivers require it.",
        "Keep it for old peers, or decide what they get instead.",
        "2026-07-28-rc..2026-07-28: S2C elicitation/create params ${mode=url}.elicitationId";
    BecameRequired = "became-required", crate Major, CHANGED up, FINE down:
        "An optional member became required.",
        "New receivers reject messages of old senders that leave it out.",
        "Decide on a value for messages that come without it.",
        "draft: S2C tools/list result $.tools[].description, if it ever became required";
    BecameOptional = "became-optional", crate Major, FINE up, CHANGED down:
        "A required member became optional.",
        "Old receivers reject messages of new senders that leave it out.",
        "Decide on a value for old peers.",
        "2026-07-28-rc..2026-07-28: clientInfo in _meta of every request";
    TypeWidened = "type-widened", crate Major, FINE up, CHANGED down:
        "More values are allowed.",
        "Old receivers reject the new values.",
        "Decide what an old peer gets in place of such a value, or reject the message.",
        "2025-11-25..2026-07-28: S2C tools/call result $.structuredContent, an object before and any JSON now";
    TypeNarrowed = "type-narrowed", crate Major, CHANGED up, FINE down:
        "Fewer values are allowed.",
        "New receivers reject the removed values.",
        "Decide how to convert such a value from an old peer.",
        "the widening above, read backwards";
    TypeChanged = "type-changed", crate Major, CHANGED up, CHANGED down:
        "A value has another type: neither revision's values are a subset of the other's.",
        "Both: each rejects what the other sends.",
        "Write a conversion for both directions, or state that there is none.",
        "a string that became an object";
    UnionMemberAdded = "union-member-added", crate Major, FINE up, CHANGED down:
        "A union has a new variant. Variants are distinguished by a constant tag or by their required members, never by position: in a path `{type=image}` is the variant with that constant, `{blob}` the one that requires `blob`, `{!blob}` the one that does not.",
        "Old receivers reject the new variant, unless one of the old variants admits it.",
        "Decide what an old peer gets in its place.",
        "2024-11-05..2025-03-26: S2C tools/call result $.content[]{type=audio}";
    UnionMemberRemoved = "union-member-removed", crate Major, CHANGED up, FINE down:
        "A union lost a variant.",
        "New receivers reject it when an old sender sends it.",
        "Decide how to convert it.",
        "2025-11-25..2026-07-28: the task that could answer tools/call";
    EnumValueAdded = "enum-value-added", crate Major, FINE up, CHANGED down:
        "An enumeration has a new value.",
        "Old receivers reject it.",
        "Name the nearest old value.",
        "a new logging level";
    EnumValueRemoved = "enum-value-removed", crate Major, CHANGED up, FINE down:
        "An enumeration lost a value.",
        "New receivers reject it when an old sender uses it.",
        "Name the nearest new value.",
        "a logging level that is gone";
    ConstChanged = "const-changed", crate Patch, CHANGED up, CHANGED down:
        "A constant has another value.",
        "Both: each rejects the other's constant.",
        "Write the constant of the revision that is spoken; the generated types do.",
        "a tag that is spelled otherwise";
    ConstraintChanged = "constraint-changed", crate Patch, FINE up, FINE down:
        "Other limits on a value (minimum, maxItems, ...), or another hint (format, default).",
        "Breaking where a value satisfies one limit and not the other; the generated types do not enforce limits.",
        "Check the values that you send. A changed default changes the meaning of absence.",
        "2025-11-25..2026-07-28: S2C completion/complete result $.completion.values, at most 100 now";
    OpennessChanged = "openness-changed", crate Major, FINE up, FINE down:
        "Whether an object allows members that the schema does not name, or their type, changed.",
        "Receivers with the stricter schema reject members that the other side may send.",
        "Drop unnamed members in messages to the stricter side.",
        "additionalProperties: false where there was nothing";
    Deprecated = "deprecated", crate Minor, FINE up, FINE down:
        "Deprecated, and still in the schema.",
        "No peer yet.",
        "Stop relying on it; the specification gives the removal date.",
        "2025-11-25..2026-07-28: roots, sampling and logging";
    Undeprecated = "undeprecated", crate Minor, FINE up, FINE down:
        "No longer deprecated: it stays, or it was removed.",
        "No peer.",
        "Check whether it still exists.",
        "a deprecation that was withdrawn";
    ErrorCodeAdded = "error-code-added", crate Patch, FINE up, DROPPED down:
        "An error that the old revision does not name.",
        "No peer: an old receiver treats it as any other error.",
        "Send old peers the code that their revision names for the case.",
        "2025-06-18..2025-11-25: -32042 URLElicitationRequired";
    ErrorCodeRemoved = "error-code-removed", crate Patch, DROPPED up, FINE down:
        "New peers no longer send the error, and no other error replaces it. Old peers can still send it.",
        "Old peers that expect this code.",
        "Look for its replacement: a result, or nothing.",
        "2025-11-25..2026-07-28: -32042 URLElicitationRequired";
    ErrorCodeRenumbered = "error-code-renumbered", crate Patch, CHANGED up, CHANGED down:
        "The same error has another code.",
        "Peers that act on the code.",
        "Convert the code in both directions.",
        "2025-11-25..2026-07-28: ResourceNotFound, -32002 before and -32602 now";
    ErrorCodeChanged = "error-code-changed", crate Patch, CHANGED up, CHANGED down:
        "The same code has another meaning, or another HTTP status.",
        "Peers that act on the difference.",
        "Read both meanings.",
        "2025-11-25..2026-07-28: -32601 MethodNotFound, now with HTTP status 404";
    HeaderAdded = "header-added", crate Patch, CHANGED up, DROPPED down:
        "An HTTP header that the old revision does not have.",
        "Servers that require it reject requests of old clients: breaking, although only HTTP shows it. Otherwise risky.",
        "Send it; it mirrors the body.",
        "2025-11-25..2026-07-28: Mcp-Method";
    HeaderRemoved = "header-removed", crate Patch, DROPPED up, CHANGED down:
        "An HTTP header that is no longer used, and ignored when received.",
        "Peers that rely on it.",
        "Neither send nor expect it where the new revision is spoken.",
        "2025-11-25..2026-07-28: Mcp-Session-Id";
    HeaderChanged = "header-changed", crate Patch, CHANGED up, CHANGED down:
        "An HTTP header with another meaning, or sent at other times.",
        "Peers that send or check it the old way.",
        "Read both meanings.",
        "2025-11-25..2026-07-28: MCP-Protocol-Version";
    RuleAdded = "rule-added", crate Patch, CHANGED up, FINE down:
        "A rule of the specification's prose that no schema states.",
        "Old peers, which do not follow it.",
        "Follow it; tolerate old peers that do not.",
        "2025-11-25..2026-07-28: required-meta";
    RuleRemoved = "rule-removed", crate Patch, FINE up, CHANGED down:
        "A rule that no longer applies.",
        "Old peers, which rely on it.",
        "Follow it towards old peers.",
        "2025-03-26..2025-06-18: batch";
    RuleChanged = "rule-changed", crate Patch, CHANGED up, CHANGED down:
        "A rule that changed.",
        "Peers that follow the old rule.",
        "Read both versions of the rule.",
        "2025-11-25..2026-07-28: notice of when the HTTP+SSE transport goes";
    TextChanged = "text-changed", crate Patch, CHANGED up, CHANGED down:
        "A text of a server that a model reads: a description, a title, the instructions.",
        "No peer rejects it. A model that reads the new text may act otherwise than people reviewed.",
        "Read both texts before the new one reaches a model: it can carry instructions of an attacker.",
        "a description of a tool that asks for the user's files as well";
    HintWeakened = "hint-weakened", crate Patch, CHANGED up, CHANGED down:
        "A tool promises less than before: readOnlyHint or idempotentHint is not true any more, destructiveHint or openWorldHint not false.",
        "Hosts that run the tool without asking because of the hint.",
        "Review the tool again; ask before calls of it.",
        "readOnlyHint of a tool gone";
    HiddenCharacters = "hidden-characters", crate Patch, CHANGED up, CHANGED down:
        "A text of a server has characters that show nothing: zero-width ones, direction marks, tags, control codes.",
        "People, who see another text than a model reads.",
        "Refuse the text unless its script needs the characters.",
        "a description with words in tag characters";
    StatementChanged = "statement-changed", crate Patch, FINE up, FINE down:
        "Something else that a server says of itself or of what it offers: a version, a capability, an icon, an annotation.",
        "Clients that rely on what it said before.",
        "Compare what was said; risky are capabilities and protocol versions that went.",
        "the version in serverInfo";
    DefinitionRenamed = "definition-renamed", crate Major, FINE up, FINE down:
        "A definition of the schema has another name, and the same wire paths.",
        "No peer: the wire is the same. The generated type has another name.",
        "Nothing, or add a type alias for code that uses the type by name.",
        "2025-03-26..2025-06-18: ResourceReference -> ResourceTemplateReference";
}

impl ChangeKind {
    /// Returns whether a change of this kind can be seen in the text of a message.
    pub fn is_on_the_wire(self) -> bool {
        self != Self::DefinitionRenamed
    }

    /// Returns the level that follows from verdicts, unless `spec/diff.toml` says otherwise.
    pub fn level(self, verdicts: Verdicts) -> ChangeLevel {
        let Verdicts {
            old_to_new,
            new_to_old,
        } = verdicts;
        if !self.is_on_the_wire() {
            ChangeLevel::Representation
        } else if !(old_to_new.valid && new_to_old.valid) {
            ChangeLevel::Breaking
        } else if old_to_new.meaning != Meaning::Kept || new_to_old.meaning == Meaning::Changed {
            ChangeLevel::Risky
        } else {
            ChangeLevel::Compatible
        }
    }
}

impl fmt::Display for ChangeKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.id())
    }
}

from_name!(ChangeKind, "kind of change", id);
