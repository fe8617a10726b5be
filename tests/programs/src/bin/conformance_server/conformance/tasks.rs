//! Tools whose calls become tasks.

use std::time::Duration;

use mcp_revisions::Latest;
use mcp_revisions::sansio::server::TaskSupport;
use mcp_revisions::service::{Error, RequestContext, Router};
use schemars::JsonSchema;
use serde::Deserialize;
use tokio::time::sleep;

use super::WHAT;

#[derive(Deserialize, JsonSchema)]
struct Greet {
    name: String,
}

#[derive(Deserialize, JsonSchema)]
struct Compute {
    seconds: f64,
    label: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
struct Delete {
    filename: String,
}

/// A form.
#[derive(Deserialize, JsonSchema)]
struct Confirm {
    confirm: bool,
}

/// A form.
#[derive(Deserialize, JsonSchema)]
struct Name {
    name: String,
}

pub(super) fn register(router: Router) -> Router {
    router
        .tool("greet", WHAT, |Greet { name }| async move {
            format!("Hello, {name}!")
        })
        .tool("slow_compute", WHAT, computes)
        .as_task()
        .tool("failing_job", WHAT, || async {
            sleep(Duration::from_secs(1)).await;
            Err::<String, _>("the job has failed")
        })
        .only_as_task()
        .tool("protocol_error_job", WHAT, || async {
            Err::<String, _>(Error::application(-32603, "the job has crashed"))
        })
        .as_task()
        .tool("confirm_delete", WHAT, deletes)
        .as_task()
        .tool("multi_input", WHAT, asks_twice)
        .as_task()
        .tool("test_tool_with_task", WHAT, asks_first)
        .may_start_task(TaskSupport::Required)
}

async fn computes(Compute { seconds, label }: Compute) -> String {
    sleep(Duration::try_from_secs_f64(seconds).unwrap_or_default()).await;
    format!("computed {}", label.unwrap_or_default())
}

async fn deletes(Delete { filename }: Delete, cx: RequestContext<Latest>) -> Result<String, Error> {
    let Confirm { confirm } = cx.elicit(&format!("Delete {filename}?")).await?;
    Ok(match confirm {
        true => format!("{filename} is deleted"),
        false => format!("{filename} is kept"),
    })
}

async fn asks_twice(cx: RequestContext<Latest>) -> Result<String, Error> {
    let (name, confirm) = tokio::join!(
        cx.elicit::<Name>("Who are you?"),
        cx.elicit::<Confirm>("Are you sure?"),
    );
    Ok(format!("{} is sure: {}", name?.name, confirm?.confirm))
}

/// Asks before it starts its task, by a result; the client gets the task with its answer.
async fn asks_first(cx: RequestContext<Latest>) -> Result<String, Error> {
    let cx = cx.stateless();
    let Name { name } = cx.elicit("Who are you?").await?;
    cx.start_task().await?;
    Ok(format!("Hello, {name}!"))
}
