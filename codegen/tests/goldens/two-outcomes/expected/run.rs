//! Types of run.

use mcp_wire::{Extra, Map, NoParams};

/// `RunOutcome`, which has no doc line yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunOutcome {
    /// `RunResult`, which has no doc line yet.
    Run(RunResult),
    /// `TaskResult`, which has no doc line yet.
    Task(TaskResult),
}

/// `RunRequest`, which has no doc line yet.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct RunRequest {
    /// Members that this revision does not name, in the order in which they stood.
    pub extra: Extra,
}

impl RunRequest {
    /// Creates an empty value.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}

impl mcp_wire::Request for RunRequest {
    const METHOD: &'static str = "run/now";
    type Params = NoParams;
    type Result = RunOutcome;
}

/// `RunResult`, which has no doc line yet.
#[derive(Clone, PartialEq, Eq)]
pub struct RunResult {
    /// No doc line yet.
    pub output: String,
    /// Members that this revision does not name, in the order in which they stood.
    pub extra: Extra,
}

impl RunResult {
    /// Creates a value with its fields.
    #[must_use]
    pub fn new(output: impl Into<String>) -> Self {
        Self {
            output: output.into(),
            extra: Map::new(),
        }
    }
}

/// `TaskResult`, which has no doc line yet.
#[derive(Clone, PartialEq, Eq)]
pub struct TaskResult {
    /// No doc line yet.
    pub task: String,
    /// Members that this revision does not name, in the order in which they stood.
    pub extra: Extra,
}

impl TaskResult {
    /// Creates a value with its fields.
    #[must_use]
    pub fn new(task: impl Into<String>) -> Self {
        Self {
            task: task.into(),
            extra: Map::new(),
        }
    }
}
