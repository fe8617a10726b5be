//! Tools that are called as a task: only 2025-11-25 has them, and neither adjacent revision can call one.

use mcp_2025_11_25::{TaskSupport, Tool};

/// Returns whether a tool can be called by a peer that knows no tasks.
#[must_use]
pub fn works_without_tasks(tool: &Tool) -> bool {
    let support = tool
        .execution
        .as_ref()
        .and_then(|execution| execution.task_support);
    support != Some(TaskSupport::Required)
}
