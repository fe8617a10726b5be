//! What each kind of change means, who breaks, and what to do about it.

use serde::Serialize;

use super::kind::Kind;

/// A kind in words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Explanation {
    /// The kind.
    pub kind: Kind,
    /// What happened.
    pub means: &'static str,
    /// Which peers can no longer talk, or misunderstand each other.
    pub breaks: &'static str,
    /// What a maintainer does about it.
    pub todo: &'static str,
    /// One that happened, or that could.
    pub example: &'static str,
}

/// Explains a kind.
#[must_use]
pub fn explain(kind: Kind) -> Explanation {
    let [means, breaks, todo, example] = texts(kind);
    Explanation {
        kind,
        means,
        breaks,
        todo,
        example,
    }
}

fn texts(kind: Kind) -> [&'static str; 4] {
    match kind {
        Kind::MethodAdded => [
            "A message that the old revision does not list for that direction and channel.",
            "Nobody who does not send it. An old peer answers a request that it does not know with -32601 and passes over a notification.",
            "Send it only to peers that speak the new revision. A bridge to an old peer answers the request itself.",
            "2025-03-26..2025-06-18: S2C elicitation/create",
        ],
        Kind::MethodRemoved => [
            "A message that the new revision no longer lists for that direction and channel.",
            "Old peers that send it: a request is refused with -32601, a notification is passed over.",
            "Look for what took its place (rows of kind moved say where its parts went), or answer it in the runtime for old peers.",
            "2025-11-25..2026-07-28: C2S initialize",
        ],
        Kind::MethodRechanneled => [
            "The same method on another channel, such as a server's request that became an entry of inputRequests in a result.",
            "Everybody who sends or awaits it on the old channel.",
            "A runtime has to keep state: it turns the request into a result that asks for input, and the retry into the answer.",
            "2025-11-25..2026-07-28: S2C sampling/createMessage",
        ],
        Kind::Moved => [
            "A value that is carried elsewhere now, under the same name or a longer one.",
            "Receivers that look for it in the old place. Breaking where the new place is required.",
            "Copy the value between the two places; where one place is in another message, remember it in between.",
            "2025-11-25..2026-07-28: capabilities of initialize, now in _meta of every request",
        ],
        Kind::MemberAddedOptional => [
            "An object got a member that may be absent.",
            "Nobody: objects of MCP are open, so an old receiver passes over it. It is breaking only where the old object is closed.",
            "Down to an old peer it can be dropped; note the loss if it carries meaning.",
            "2025-03-26..2025-06-18: S2C tools/list result $.tools[].title",
        ],
        Kind::MemberAddedRequired => [
            "An object got a member that must be there.",
            "New receivers refuse what old senders say, since it is missing.",
            "Decide on a value for messages from old peers: a default that the protocol names, or something the runtime knows.",
            "2025-11-25..2026-07-28: S2C tools/list result $.resultType",
        ],
        Kind::MemberRemoved => [
            "A member is known no more.",
            "New receivers pass over it, which loses what it said. Breaking where it was required: old receivers miss it.",
            "Keep it for old peers, or decide what they get instead.",
            "2026-07-28-rc..2026-07-28: S2C elicitation/create params ${mode=url}.elicitationId",
        ],
        Kind::BecameRequired => [
            "A member that could be absent must be there now.",
            "New receivers refuse messages of old senders that leave it out.",
            "Decide on a value for messages that come without it.",
            "draft: S2C tools/list result $.tools[].description, if it ever became required",
        ],
        Kind::BecameOptional => [
            "A member that had to be there can be absent now.",
            "Old receivers refuse messages of new senders that leave it out.",
            "Decide on a value for old peers.",
            "2026-07-28-rc..2026-07-28: clientInfo in _meta of every request",
        ],
        Kind::TypeWidened => [
            "A value may be more than before.",
            "Old receivers refuse the values that are new.",
            "Decide what an old peer gets in place of such a value, or refuse it for them.",
            "2025-11-25..2026-07-28: S2C tools/call result $.structuredContent, an object before and any JSON now",
        ],
        Kind::TypeNarrowed => [
            "A value may be less than before.",
            "New receivers refuse the values that are gone.",
            "Decide what becomes of such a value from an old peer.",
            "the widening above, read backwards",
        ],
        Kind::TypeChanged => [
            "A value is something else than before: neither side's values are a part of the other's.",
            "Both: what one sends the other refuses.",
            "Write a conversion for both ways, or say that there is none.",
            "a string that became an object",
        ],
        Kind::UnionMemberAdded => [
            "There is one more choice. Choices are told apart by a constant tag, else by their required members, never by position.",
            "Old receivers refuse the new choice, unless one of the old choices admits it.",
            "Decide what an old peer gets in its place.",
            "2024-11-05..2025-03-26: S2C tools/call result $.content[]{type=audio}",
        ],
        Kind::UnionMemberRemoved => [
            "A choice less.",
            "New receivers refuse it when an old sender makes it.",
            "Decide what becomes of it.",
            "2025-11-25..2026-07-28: the task that could answer tools/call",
        ],
        Kind::EnumValueAdded => [
            "An enumeration got a value.",
            "Old receivers refuse it.",
            "Name the old value that comes nearest.",
            "a new logging level",
        ],
        Kind::EnumValueRemoved => [
            "An enumeration lost a value.",
            "New receivers refuse it when an old sender uses it.",
            "Name the new value that comes nearest.",
            "a logging level that is gone",
        ],
        Kind::ConstChanged => [
            "A constant has another value.",
            "Both: each refuses the other's constant.",
            "Write the constant of the revision that is spoken; the generated types do.",
            "a tag that is spelled otherwise",
        ],
        Kind::ConstraintChanged => [
            "Other limits on a value (minimum, maxItems, ...), or another hint (format, default).",
            "Breaking where a value keeps one limit and not the other; the generated types do not enforce limits.",
            "Look at the values that you send. A default that changed changes what absence means.",
            "2025-11-25..2026-07-28: S2C completion/complete result $.completion.values, at most 100 now",
        ],
        Kind::OpennessChanged => [
            "Whether members may be there that the schema does not name, or what they may be.",
            "Receivers with the stricter schema refuse members that the other side may send.",
            "Drop the members that are not named on the way to the stricter side.",
            "additionalProperties: false where there was nothing",
        ],
        Kind::Deprecated => [
            "Still there, and on its way out.",
            "Nobody yet.",
            "Stop relying on it; the page says when it can go.",
            "2025-11-25..2026-07-28: roots, sampling and logging",
        ],
        Kind::Undeprecated => [
            "No longer on its way out: it stays, or it is gone for good.",
            "Nobody.",
            "See whether it is still there.",
            "a deprecation that was taken back",
        ],
        Kind::ErrorCodeAdded => [
            "An error that the old revision does not name.",
            "Nobody: an old receiver takes it for an error of any kind.",
            "Towards old peers, send the code that they know for the case.",
            "2025-06-18..2025-11-25: -32042 URLElicitationRequired",
        ],
        Kind::ErrorCodeRemoved => [
            "An error that is not sent any more, and that no other code stands for. It can still come from old peers.",
            "Old peers that wait for this code.",
            "Look for what took its place: a result, or nothing.",
            "2025-11-25..2026-07-28: -32042 URLElicitationRequired",
        ],
        Kind::ErrorCodeRenumbered => [
            "The same error goes by another code.",
            "Peers that act on the code.",
            "Translate the code both ways.",
            "2025-11-25..2026-07-28: ResourceNotFound, -32002 before and -32602 now",
        ],
        Kind::ErrorCodeChanged => [
            "The same code says something else, or goes with another HTTP status.",
            "Peers that act on the difference.",
            "Read both meanings.",
            "2025-11-25..2026-07-28: -32601 MethodNotFound, now with HTTP status 404",
        ],
        Kind::HeaderAdded => [
            "An HTTP header that the old revision does not have.",
            "Servers that insist on it refuse requests of old clients: breaking, although HTTP shows it and no JSON text does. Else risky.",
            "Send it; it mirrors the body.",
            "2025-11-25..2026-07-28: Mcp-Method",
        ],
        Kind::HeaderRemoved => [
            "An HTTP header that is not used any more, and passed over when it comes.",
            "Peers that rely on it.",
            "Neither send nor await it where the new revision is spoken.",
            "2025-11-25..2026-07-28: Mcp-Session-Id",
        ],
        Kind::HeaderChanged => [
            "An HTTP header that says something else, or at other times.",
            "Peers that send or check it the old way.",
            "Read both meanings.",
            "2025-11-25..2026-07-28: MCP-Protocol-Version",
        ],
        Kind::RuleAdded => [
            "A rule that binds peers and stands in no schema.",
            "Old peers, who do not keep it.",
            "Keep it, and be patient with old peers.",
            "2025-11-25..2026-07-28: required-meta",
        ],
        Kind::RuleRemoved => [
            "A rule that binds nobody any more.",
            "Old peers, who rely on it.",
            "Keep it towards old peers.",
            "2025-03-26..2025-06-18: batch",
        ],
        Kind::RuleChanged => [
            "A rule that says something else.",
            "Peers that keep the old one.",
            "Read both.",
            "2025-11-25..2026-07-28: notice of when the HTTP+SSE transport goes",
        ],
        Kind::DefinitionRenamed => [
            "A definition of the schema goes by another name; it stands at the same wire paths.",
            "Nobody on the wire. The generated type has another name.",
            "Nothing, or a type alias for those who use the type by name.",
            "2025-03-26..2025-06-18: ResourceReference -> ResourceTemplateReference",
        ],
    }
}
