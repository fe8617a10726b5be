//! The stand-in for sign-in by OAuth, without feature `client-auth`.

/// Returns `None`: no challenge is read.
pub(super) fn needed_scope<'c>(_: impl Iterator<Item = &'c str>) -> Option<String> {
    None
}
