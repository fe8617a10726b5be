//! Tools that ask by results of their own, in rounds: by names that mean something, several things at once, with a state.
//!
//! Tools that need none of that ask as [`questions`](super::questions) does.

use mcp_revisions::mcp_wire::Json;
use mcp_revisions::service::{Error, RequestContext, Router};
use mcp_revisions::{Latest, latest as mcp};

use super::WHAT;
use super::questions::sampling;

type Outcome = Result<mcp::CallToolOutcome, Error>;

/// The states that rounds hand on, so that a state of this server is distinguished from an invented one.
///
/// The server signs them.
const STATES: [&str; 2] = ["round-1", "round-2"];

pub(super) fn register(router: Router) -> Router {
    router
        .tool("test_input_required_result_elicitation", WHAT, name)
        .tool("test_input_required_result_sampling", WHAT, capital)
        .tool("test_input_required_result_list_roots", WHAT, roots)
        .tool("test_input_required_result_request_state", WHAT, confirm)
        .tool("test_input_required_result_tampered_state", WHAT, confirm)
        .tool("test_input_required_result_multiple_inputs", WHAT, all)
        .tool("test_input_required_result_multi_round", WHAT, rounds)
        .tool("test_input_required_result_capabilities", WHAT, possible)
}

async fn name(cx: RequestContext<Latest>) -> Outcome {
    match cx.input_response::<mcp::ElicitResult>("user_name")? {
        Some(said) => says(format!("Hello, {}!", of(&said, "name"))),
        None => asks([("user_name", who("What is your name?", "name"))], None),
    }
}

async fn capital(cx: RequestContext<Latest>) -> Outcome {
    match cx.input_response::<mcp::CreateMessageResult>("capital_question")? {
        Some(said) => says(Json::of(&said.content).to_string()),
        None => asks(
            [("capital_question", sample("What is the capital of France?"))],
            None,
        ),
    }
}

async fn roots(cx: RequestContext<Latest>) -> Outcome {
    match cx.input_response::<mcp::ListRootsResult>("client_roots")? {
        Some(said) => says(Json::of(&said.roots).to_string()),
        None => asks([("client_roots", roots_of_client())], None),
    }
}

async fn confirm(cx: RequestContext<Latest>) -> Outcome {
    match cx.request_state() {
        None => {
            let flag = mcp::PrimitiveSchemaDefinition::from(mcp::BooleanSchema::new());
            let question = form("Please confirm", "ok", flag);
            asks([("confirm", question)], Some(STATES[0]))
        }
        Some(state) if state == STATES[0] => says("state-ok"),
        Some(_) => Err(none_of_ours()),
    }
}

async fn all(cx: RequestContext<Latest>) -> Outcome {
    let name = cx.input_response::<mcp::ElicitResult>("user_name")?;
    let greeting = cx.input_response::<mcp::CreateMessageResult>("greeting")?;
    let roots = cx.input_response::<mcp::ListRootsResult>("client_roots")?;
    match (name, greeting, roots) {
        (Some(_), Some(_), Some(_)) => says("thank you"),
        _ => asks(
            [
                ("user_name", who("What is your name?", "name")),
                ("greeting", sample("Generate a greeting")),
                ("client_roots", roots_of_client()),
            ],
            Some(STATES[0]),
        ),
    }
}

async fn rounds(cx: RequestContext<Latest>) -> Outcome {
    let [first, second] = STATES;
    match cx.request_state() {
        None => asks(
            [("step1", who("Step 1: What is your name?", "name"))],
            Some(first),
        ),
        Some(state) if state == first => {
            let question = who("Step 2: What is your favorite color?", "color");
            asks([("step2", question)], Some(second))
        }
        Some(state) if state == second => says("two steps"),
        Some(_) => Err(none_of_ours()),
    }
}

/// Asks for all that its client can be asked.
async fn possible(cx: RequestContext<Latest>) -> Outcome {
    let can = |capability| cx.client().is_some_and(|client| client.can(capability));
    let questions = [
        ("sampling", "greeting", sample("Generate a greeting")),
        (
            "elicitation",
            "user_name",
            who("What is your name?", "name"),
        ),
        ("roots", "client_roots", roots_of_client()),
    ];
    let names = questions.each_ref().map(|(_, name, _)| *name);
    let possible = questions
        .into_iter()
        .filter(|(capability, ..)| can(capability));
    let mut questions = possible
        .map(|(_, name, question)| (name, question))
        .peekable();
    let answered = names
        .iter()
        .any(|name| cx.input_response::<Json>(name).is_ok_and(|it| it.is_some()));
    match answered || questions.peek().is_none() {
        true => says("asked for what can be asked"),
        false => asks(questions, None),
    }
}

fn says(text: impl Into<String>) -> Outcome {
    let text = mcp::TextContent::new(text);
    Ok(mcp::CallToolResult::new(vec![text.into()]).into())
}

fn asks(
    questions: impl IntoIterator<Item = (&'static str, mcp::InputRequest)>,
    state: Option<&str>,
) -> Outcome {
    let questions: mcp::InputRequests = questions.into_iter().collect();
    let mut result = mcp::InputRequiredResult::new().with_input_requests(questions);
    result.request_state = state.map(str::to_owned);
    Ok(result.into())
}

fn none_of_ours() -> Error {
    Error::InvalidParams("`requestState` is none that was given out".to_owned())
}

/// A question to the person at the client, for a text.
fn who(message: &str, name: &str) -> mcp::InputRequest {
    form(message, name, mcp::StringSchema::new().into())
}

fn form(message: &str, name: &str, kind: mcp::PrimitiveSchemaDefinition) -> mcp::InputRequest {
    let properties = [(name, kind)].into_iter().collect();
    let schema = mcp::ElicitRequestFormParamsRequestedSchema::new(properties)
        .with_required(vec![name.to_owned()]);
    let params = mcp::ElicitRequestFormParams::new(message, schema);
    mcp::ElicitRequest::new(params).into()
}

fn sample(text: &str) -> mcp::InputRequest {
    mcp::CreateMessageRequest::new(sampling(text, 100)).into()
}

fn roots_of_client() -> mcp::InputRequest {
    mcp::ListRootsRequest::without_params().into()
}

/// What was filled in.
fn of(said: &mcp::ElicitResult, name: &str) -> String {
    let value = said.content.as_ref().and_then(|content| content.get(name));
    value
        .map(|value| Json::of(value).to_string())
        .unwrap_or_default()
}
