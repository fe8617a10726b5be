//! How much a loss matters.

/// The severity of a loss.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// It shows: an icon, a display name, a hint for caches.
    Cosmetic,
    /// It was no part of its sender's revision: a mistake of the sender, which costs this part and not the message.
    Invalid,
    /// It changes what the message says or what can be done with it.
    Semantic,
    /// A person could have been interrupted, and now is not.
    Interaction,
    /// A hint that guards against harm is gone.
    Safety,
}

mcp_wire::strings! {
    Severity {
        Cosmetic "cosmetic";
        Invalid "invalid";
        Semantic "semantic";
        Interaction "interaction";
        Safety "safety";
    }
}
