//! Tools that only run as tasks, as peers without tasks see them.

use mcp_revisions_core::{Revision, methods, translate::find_method};
use mcp_wire::{Direction, Json, MethodKind};

use crate::json::with_members;

pub(crate) fn has_core_tasks(revision: Revision) -> bool {
    let (sender, kind) = (Direction::ClientToServer, MethodKind::Request);
    find_method(revision, methods::TASKS_RESULT, sender, kind).is_some()
}

/// Returns the tools of a list that only run as tasks, as tools like any other; `None` if there are none.
pub(crate) fn plain_tools(result: &Json) -> Option<Json> {
    if !result.text().contains("\"taskSupport\"") {
        return None;
    }
    let tools: Vec<Json> = result.read_member("tools")?;
    let plain = tools.into_iter().map(|tool| {
        let support = tool.get("execution").and_then(|it| it.get("taskSupport"));
        match support.and_then(|it| it.read::<String>().ok()).as_deref() {
            Some("required") => with_members(&tool, &[("execution", None)]),
            _ => tool,
        }
    });
    let plain = Json::of(&plain.collect::<Vec<_>>());
    Some(with_members(result, &[("tools", Some(plain))]))
}
