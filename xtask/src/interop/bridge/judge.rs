//! The results that a session through the bridge must have.

use serde_json::Value;

use super::servers::ComparedServer;

/// Returns the first step that came to something else, and what that was.
pub(super) fn first_fault(
    told: &[Value],
    server: &ComparedServer,
    revision: &str,
) -> Option<(&'static str, String)> {
    let connected = ("connect", revision);
    let elicits = server.elicits(revision);
    let mut steps = std::iter::once(connected)
        .chain(server.expected.iter().copied())
        .filter(|(step, _)| *step != "elicitation" || elicits);
    steps.find_map(|(step, expected)| {
        let Some(found) = told.iter().find(|told| told["step"] == step) else {
            return Some((step, "did not happen".to_owned()));
        };
        if let Some(error) = found["error"].as_str() {
            return Some((step, error.to_owned()));
        }
        let value = found["value"].as_str().unwrap_or_default();
        let is_it = value.contains(expected);
        (!is_it).then(|| (step, format!("expected {expected:?}, found {found}")))
    })
}
