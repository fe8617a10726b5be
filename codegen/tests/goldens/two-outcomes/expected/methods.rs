//! The methods and the types of this revision, as tables.

use crate::{ClientRequest, RunOutcome, RunRequest, RunResult, TaskResult};

mcp_wire::methods! {
    "run/now" ClientToServer Request { message: "RunRequest", result: Some("RunOutcome") };
}

mcp_wire::types! {
    ClientRequest "ClientRequest" of;
    RunOutcome "RunOutcome" inline;
    RunRequest "RunRequest" of;
    RunResult "RunResult" of;
    TaskResult "TaskResult" of;
}
