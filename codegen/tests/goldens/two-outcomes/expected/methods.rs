//! The methods of this revision, and what ties each to its params and its result.

use mcp_wire::{Direction, MethodInfo, MethodKind, NoParams, TypeInfo};

use crate::{ClientRequest, RunOutcome, RunRequest, RunResult, TaskResult};

/// Every method, by direction, kind and name.
pub static METHODS: &[MethodInfo] = &[
    MethodInfo {
        name: "run/now",
        direction: Direction::ClientToServer,
        kind: MethodKind::Request,
        message: "RunRequest",
        params: None,
        params_required: false,
        result: Some("RunOutcome"),
        input_required: false,
        named_by: None,
        capability: None,
        capability_parts: &[],
    },
];

/// Every definition of the schema, and every inline schema that has a type of its own.
pub static TYPES: &[TypeInfo] = &[
    TypeInfo::of::<ClientRequest>("ClientRequest", "ClientRequest"),
    TypeInfo::inline::<RunOutcome>("RunOutcome", "RunOutcome"),
    TypeInfo::of::<RunRequest>("RunRequest", "RunRequest"),
    TypeInfo::of::<RunResult>("RunResult", "RunResult"),
    TypeInfo::of::<TaskResult>("TaskResult", "TaskResult"),
];

impl mcp_wire::Request for RunRequest {
    const METHOD: &'static str = "run/now";
    type Params = NoParams;
    type Result = RunOutcome;
}
