//! A request that may be answered by its result or by a task is answered by a union of both.

use mcp_two_outcomes::{RunOutcome, RunRequest, RunResult};
use mcp_wire::Request;

type Answer = <RunRequest as Request>::Result;

#[test]
fn the_answer_is_one_or_the_other() {
    let result: Answer = mcp_wire::from_str(r#"{"output":"o"}"#).unwrap();
    assert_eq!(result, RunOutcome::Run(RunResult::new("o")));
    let task: Answer = mcp_wire::from_str(r#"{"task":"t"}"#).unwrap();
    assert!(matches!(task, RunOutcome::Task(_)));
}
