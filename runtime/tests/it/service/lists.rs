//! Lists in pages and lists that depend on who asks, state that functions share, and what a client does with them.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use mcp_revisions::http::Principal;
use mcp_revisions::latest::{self as mcp, CallServer};
use mcp_revisions::mcp_wire::{JsonObject, Map};
use mcp_revisions::service::client::{ClientBuilder, ResultText};
use mcp_revisions::service::{Client, Error, RequestContext, Router, State};
use mcp_revisions::{Latest, Limits, Revision, RevisionSet};
use serde_json::json;
use tokio::io::{duplex, split};
use tokio::sync::Semaphore;

use crate::service::peer::revisions;

fn builder(only: Revision) -> ClientBuilder<Latest, ()> {
    Client::builder(&mcp_revisions::program!()).with_revisions(RevisionSet::from_iter([only]))
}

/// Connects to a router in the same process.
fn connect(only: Revision, router: Router) -> Client {
    connect_by(builder(only), router, Limits::default())
}

fn connect_by(builder: ClientBuilder<Latest, ()>, router: Router, limits: Limits) -> Client {
    let server = router.build("example", "1").unwrap().with_limits(limits);
    server.client(builder)
}

fn tool(name: &str) -> mcp::Tool {
    mcp::Tool::new(
        name,
        JsonObject::from_text(r#"{"type": "object"}"#).unwrap(),
    )
}

#[tokio::test]
async fn a_list_in_pages_is_read_whole() {
    for revision in revisions() {
        let mut router = Router::new().with_page_size(2);
        for name in ["a", "b", "c", "d", "e"] {
            router = router
                .tool(name, "", || async { "" })
                .resource(&format!("x://{name}"), name, || async { "" })
                .prompt(name, "", || async { "" });
        }
        let client = connect(revision, router);
        let first = client.list_tools(None).await.unwrap();
        assert_eq!((first.tools.len(), first.next_cursor.is_some()), (2, true));
        let tools = client.list_all_tools().await.unwrap();
        let names: Vec<_> = tools.iter().map(|it| it.name.as_str()).collect();
        assert_eq!(names, ["a", "b", "c", "d", "e"], "{revision}");
        assert_eq!(client.list_all_resources().await.unwrap().len(), 5);
        assert_eq!(client.list_all_prompts().await.unwrap().len(), 5);
        let strange = mcp::PaginatedRequestParams::new().with_cursor("strange");
        let refused = client.list_tools(strange).await.unwrap_err().to_string();
        assert!(refused.contains("no page `strange`"), "{refused}");
        client.close().await.unwrap();
    }
}

/// Lists a page for each letter of the name of who asks.
async fn list(
    cursor: Option<String>,
    who: Option<Principal>,
) -> Result<mcp::ListToolsResult, Error> {
    let who = who.map_or_else(|| "me".to_owned(), |it| it.0);
    let number: usize = cursor
        .as_deref()
        .map_or(Ok(0), str::parse)
        .map_err(Error::internal)?;
    let letter = who.get(number..=number).unwrap_or_default();
    let mut page = mcp::ListToolsResult::new(vec![tool(letter)]);
    page.next_cursor = (number + 1 < who.len()).then(|| (number + 1).to_string());
    Ok(page)
}

async fn call(params: mcp::CallToolRequestParams, _: RequestContext<Latest>) -> String {
    format!("dynamic {}", params.name)
}

#[tokio::test]
async fn tools_that_are_known_when_a_client_asks_come_after_those_that_are_registered() {
    for revision in revisions() {
        let router = Router::new()
            .with_page_size(1)
            .tool("fixed", "", || async { "fixed" })
            .tool("also", "", || async { "also" })
            .dynamic_tools(list, call);
        let client = connect(revision, router);
        let tools = client.list_all_tools().await.unwrap();
        let names: Vec<_> = tools.iter().map(|it| it.name.as_str()).collect();
        assert_eq!(names, ["fixed", "also", "m", "e"], "{revision}");
        let empty = json!({});
        assert_eq!(client.call("fixed", &empty).await.unwrap().text(), "fixed");
        assert_eq!(client.call("e", &empty).await.unwrap().text(), "dynamic e");
        assert!(client.capabilities().unwrap().tools.is_some());
        client.close().await.unwrap();
    }
}

struct Names {
    all: Vec<&'static str>,
}

/// The state of a list is that of other functions, and pages of it are made like others.
#[tokio::test]
async fn what_is_known_when_a_client_asks_comes_of_a_state_in_pages() {
    async fn list(names: State<Names>) -> Vec<mcp::Tool> {
        names.all.iter().map(|name| tool(name)).collect()
    }
    async fn call(
        names: State<Names>,
        params: mcp::CallToolRequestParams,
        calls: State<AtomicU64>,
        cx: RequestContext,
    ) -> Result<String, Error> {
        cx.progress(1, 1).await;
        let place = names.all.iter().position(|name| *name == params.name);
        let place = place.ok_or(Error::InvalidParams(params.name))?;
        Ok(format!("{place} {}", calls.fetch_add(1, Ordering::SeqCst)))
    }
    async fn rows(names: State<Names>) -> Result<Vec<mcp::Resource>, Error> {
        let uri = |name: &&str| mcp_revisions::args::Uri(format!("rows://{name}"));
        let resources = names
            .all
            .iter()
            .map(|name| mcp::Resource::new(uri(name), *name));
        Ok(resources.collect())
    }
    #[derive(serde::Deserialize)]
    struct Row {
        name: String,
    }
    let router = Router::new()
        .with_page_size(2)
        .with_state(Names {
            all: vec!["a", "b", "c", "d", "e"],
        })
        .with_state(AtomicU64::new(0))
        // The registered one is called, and listed once.
        .tool("c", "", || async { "registered" })
        .dynamic_tools(list, call)
        .resource_template("rows://{name}", "row", |row: Row| async { row.name })
        .resource_list(rows);
    let client = connect(Revision::LATEST, router);
    let tools = client.list_all_tools().await.unwrap();
    let names: Vec<_> = tools.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names, ["c", "a", "b", "d", "e"]);
    let first = client.list_resources(None).await.unwrap();
    assert_eq!(first.resources.len(), 2);
    assert_eq!(client.list_all_resources().await.unwrap().len(), 5);
    let empty = json!({});
    assert_eq!(client.call("c", &empty).await.unwrap().text(), "registered");
    assert_eq!(client.call("d", &empty).await.unwrap().text(), "3 0");
    assert_eq!(client.call("d", &empty).await.unwrap().text(), "3 1");
    let read = mcp::ReadResourceRequestParams::new("rows://e");
    assert_eq!(client.read_resource(read).await.unwrap().text(), "e");
    client.close().await.unwrap();
    // What lists and calls take is looked for like what others take.
    let refused = Router::new().dynamic_tools(list, call).build("x", "1");
    let refused = refused.unwrap_err().to_string();
    assert_eq!(
        refused.matches("`dynamic_tools` takes `State<").count(),
        3,
        "{refused}"
    );
}

#[tokio::test]
async fn resources_that_are_known_when_a_client_asks_are_listed_and_read() {
    let list = |_: Option<String>, _: RequestContext<Latest>| async {
        let one = mcp::Resource::new(mcp_revisions::args::Uri("db://one"), "one");
        Ok::<_, Error>(mcp::ListResourcesResult::new(vec![one]))
    };
    let read = |uri: String, _: RequestContext<Latest>| async move {
        match uri.as_str() {
            "db://one" => Ok("row one".to_owned()),
            _ => Err(Error::ResourceNotFound(uri)),
        }
    };
    let router = Router::new().dynamic_resources(list, read);
    let client = connect(Revision::V2025_06_18, router);
    assert_eq!(client.list_all_resources().await.unwrap().len(), 1);
    let read = |uri| client.read_resource(mcp::ReadResourceRequestParams::new(uri));
    assert_eq!(read("db://one").await.unwrap().text(), "row one");
    let refused = read("db://two").await.unwrap_err();
    assert!(refused.to_string().contains("db://two"), "{refused}");
    client.close().await.unwrap();
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Note {
    text: String,
}

type Notes = Mutex<Vec<String>>;

async fn add(notes: State<Notes>, Note { text }: Note) -> usize {
    let mut notes = notes.lock().unwrap();
    notes.push(text);
    notes.len()
}

async fn calls(count: State<AtomicU64>) -> u64 {
    count.fetch_add(1, Ordering::Relaxed)
}

async fn all(notes: State<Notes>, _cx: RequestContext<Latest>) -> String {
    notes.lock().unwrap().join(", ")
}

#[tokio::test]
async fn functions_share_the_state_of_their_router() {
    let router = Router::new()
        .tool("add", "", add)
        .tool("calls", "", calls)
        .resource("notes://all", "all", all)
        .with_state(Notes::default())
        .with_state(AtomicU64::new(7));
    let client = connect(Revision::LATEST, router);
    assert_eq!(
        client
            .call("add", &json!({"text": "one"}))
            .await
            .unwrap()
            .text(),
        "1"
    );
    assert_eq!(
        client
            .call("add", &json!({"text": "two"}))
            .await
            .unwrap()
            .text(),
        "2"
    );
    assert_eq!(client.call("calls", &json!({})).await.unwrap().text(), "7");
    let uri = "notes://all";
    let read = client
        .read_resource(mcp::ReadResourceRequestParams::new(uri))
        .await;
    assert_eq!(read.unwrap().text(), "one, two");
    client.close().await.unwrap();
    let refused = Router::new().tool("add", "", add).build("example", "1");
    let refused = refused.unwrap_err().to_string();
    assert!(
        refused.contains("the tool `add` takes `State<"),
        "{refused}"
    );
    assert!(refused.contains("give it by `with_state`"), "{refused}");
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Trip {
    #[allow(dead_code, reason = "the prompt names both")]
    country: String,
    #[allow(dead_code, reason = "the prompt names both")]
    city: String,
}

#[tokio::test]
async fn a_completion_sees_what_was_filled_in_before() {
    let cities = |_: String, cx: RequestContext<Latest>| async move {
        match cx.completion_arguments().get("country").map(String::as_str) {
            Some("France") => vec!["Paris"],
            _ => vec!["Paris", "Rome"],
        }
    };
    let router = Router::new()
        .prompt("trip", "", |_: Trip| async { "" })
        .completion("trip", "city", cities);
    let client = connect(Revision::V2025_06_18, router);
    let argument = mcp::CompleteRequestParamsArgument::new("city", mcp_revisions::args::Value("P"));
    let reference = mcp::CompletionReference::Prompt(mcp::PromptReference::new("trip"));
    let filled = Map::from_iter([("country", "France".to_owned())]);
    let context = mcp::CompleteRequestParamsContext::new().with_arguments(filled);
    let params = mcp::CompleteRequestParams::new(reference, argument).with_context(context);
    let completed = client.complete(params).await.unwrap().completion;
    assert_eq!(completed.values, ["Paris"]);
    client.close().await.unwrap();
}

#[tokio::test]
async fn three_thousand_calls_at_once_wait_for_room() {
    static GATE: Semaphore = Semaphore::const_new(0);
    let wait = || async {
        GATE.acquire().await.unwrap().forget();
        "done"
    };
    let router = Router::new().tool("wait", "", wait);
    let limits = Limits {
        max_pending_requests: 5_000,
        ..Limits::default()
    };
    let client = connect_by(builder(Revision::LATEST), router, limits);
    let empty = json!({});
    let calls: Vec<_> = (0..3_000)
        .map(|_| {
            let (client, empty) = (client.clone(), empty.clone());
            tokio::spawn(async move { client.call("wait", &empty).await.map(|it| it.text()) })
        })
        .collect();
    tokio::time::sleep(Duration::from_millis(100)).await;
    GATE.add_permits(3_000);
    for call in calls {
        assert_eq!(call.await.unwrap().unwrap(), "done");
    }
    client.close().await.unwrap();
}

#[tokio::test]
async fn a_client_connects_before_its_first_call_and_knows_when_the_server_has_left() {
    let client = connect(
        Revision::V2025_11_25,
        Router::new().tool("sky", "", || async { "" }),
    );
    assert!(client.server_info().is_none() && !client.is_disconnected());
    let (one, other) = tokio::join!(client.connect(), client.connect());
    assert_eq!(one.unwrap().revision, other.unwrap().revision);
    assert_eq!(client.server_info().unwrap().name, "example");
    assert!(client.capabilities().unwrap().tools.is_some());
    client.clone().close().await.unwrap();
    client.closed().await;
    assert!(client.is_disconnected());
    let (near, far) = duplex(1 << 10);
    drop(far);
    let (input, output) = split(near);
    let gone = builder(Revision::LATEST).lines(input, output);
    let refused = gone.connect().await.unwrap_err().to_string();
    assert!(refused.contains("ended before"), "{refused}");
}

/// No handler has a resource of its own kind but `resources/read`: the code of that one means nothing in a tool.
#[tokio::test]
async fn a_resource_that_a_tool_does_not_find_is_the_same_error_in_every_revision() {
    for revision in revisions() {
        let find = || async { Err::<String, _>(Error::ResourceNotFound("x://1".to_owned())) };
        let client = connect(revision, Router::new().tool("find", "", find));
        let refused = client.call("find", &json!({})).await.unwrap_err();
        let Error::Rpc(error) = refused else {
            panic!("{refused}");
        };
        assert_eq!(error.code.as_i64(), Some(-32602), "{revision}");
        assert!(error.message.contains("x://1"), "{revision}");
        client.close().await.unwrap();
    }
}

/// Any error that can be shown; `Error` has codes.
#[tokio::test]
async fn errors_of_resources_prompts_and_completions_follow_one_rule() {
    #[derive(Debug)]
    struct Broken;
    impl std::fmt::Display for Broken {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("the disk is full")
        }
    }
    let router = Router::new()
        .tool("tool", "", || async { Err::<String, _>(Broken) })
        .resource("x://1", "one", || async { Err::<String, _>(Broken) })
        .resource("x://2", "two", || async {
            Err::<String, _>(Error::application(-32000, "later"))
        })
        .prompt("prompt", "", || async { Err::<String, _>("no text") });
    let client = connect(Revision::V2025_11_25, router);
    let failed = client.call("tool", &json!({})).await.unwrap();
    assert_eq!(
        (failed.is_error, failed.text().as_str()),
        (Some(true), "the disk is full")
    );
    let read = |uri| client.read_resource(mcp::ReadResourceRequestParams::new(uri));
    let error = |error| match error {
        Error::Rpc(error) => (error.code.as_i64().unwrap(), error.message.to_string()),
        other => panic!("{other}"),
    };
    let internal = error(read("x://1").await.unwrap_err());
    assert_eq!(internal, (-32603, "the disk is full".to_owned()));
    let own = error(read("x://2").await.unwrap_err());
    assert_eq!(own, (-32000, "later".to_owned()));
    let prompt = client
        .get_prompt(mcp::GetPromptRequestParams::new("prompt"))
        .await;
    assert_eq!(error(prompt.unwrap_err()), (-32603, "no text".to_owned()));
    client.close().await.unwrap();
}
