//! The router: one set of functions, called by peers of every revision.

use mcp_revisions::args::MimeType;
use mcp_revisions::mcp_wire::JsonObject;
use mcp_revisions::sansio::server::LogLevel;
use mcp_revisions::service::client::ResultText;
use mcp_revisions::service::router::NoArguments;
use mcp_revisions::service::{Client, Error, Json, RequestContext, Router};
use mcp_revisions::{Latest, Lifecycle, Revision, latest as mcp};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::service::peer::{Peer, revisions};
use crate::support::served;

#[derive(Deserialize, schemars::JsonSchema)]
struct Add {
    a: f64,
    b: f64,
}

#[derive(Serialize, schemars::JsonSchema)]
struct Weather {
    degrees: f64,
    sky: String,
}

#[derive(Deserialize, schemars::JsonSchema)]
struct Greet {
    /// Who is greeted.
    name: String,
    tone: Option<String>,
}

#[derive(Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Colour {
    Red,
    Blue,
}

#[derive(Deserialize, schemars::JsonSchema)]
struct Profile {
    name: String,
    age: Option<u32>,
    colour: Colour,
}

#[derive(Deserialize, schemars::JsonSchema)]
struct User {
    id: String,
}

async fn count(cx: RequestContext<Latest>) -> &'static str {
    cx.progress(50, 100).await;
    cx.log(LogLevel::Info, "half way").await;
    "done"
}

async fn who(_: NoArguments, cx: RequestContext<Latest>) -> Result<String, Error> {
    let Profile { name, age, colour } = cx.elicit::<Profile>("Who are you?").await?;
    let colour = match colour {
        Colour::Red => "red",
        Colour::Blue => "blue",
    };
    Ok(format!("{name} {age:?} {colour}"))
}

fn router() -> Router {
    Router::new()
        .tool("add", "Adds.", |Add { a, b }| async move { a + b })
        .tool("weather", "Tells.", || async {
            Json(Weather {
                degrees: 21.5,
                sky: "clear".to_owned(),
            })
        })
        .tool("fail", "Fails.", || async {
            Err::<String, _>("no such city")
        })
        .tool("wrong", "Says that it was called wrongly.", || async {
            Err::<String, _>(Error::InvalidParams("not like this".to_owned()))
        })
        .tool("count", "Counts.", count)
        .tool("who", "Asks.", who)
        .resource("example://greeting", "greeting", || async { "Hello." })
        .resource_template(
            "users://{id}/profile",
            "profile",
            |User { id }| async move {
                match id.as_str() {
                    "0" => Err(Error::ResourceNotFound("users://0/profile".to_owned())),
                    id => Ok(format!("user {id}")),
                }
            },
        )
        .prompt("greet", "Greets.", |Greet { name, tone }| async move {
            format!("Greet {name} {}.", tone.unwrap_or_default())
        })
        .completion("greet", "name", |typed: String| async move {
            let names = ["Ada", "Alan", "Grace"];
            names
                .into_iter()
                .filter(|name| name.starts_with(&typed))
                .collect::<Vec<_>>()
        })
        .completion("users://{id}/profile", "id", |typed: String| async move {
            vec![format!("{typed}2")]
        })
}

async fn peer(revision: Revision) -> Peer {
    peer_of(revision, router()).await
}

async fn peer_of(revision: Revision, router: Router) -> Peer {
    let running = router.build("example", "1.0.0").unwrap();
    Peer::connect(revision, served(running)).await
}

#[tokio::test]
async fn an_extension_is_declared_beside_what_the_router_serves() {
    let settings = json!({"depth": 2});
    for revision in revisions() {
        let text = settings.to_string().parse::<mcp_wire::Json>();
        let object = JsonObject::try_from(text.unwrap()).unwrap();
        let router = router()
            .with_extension("com.example/charts", object)
            .with_extension("com.example/echo", JsonObject::new());
        let mut peer = peer_of(revision, router).await;
        let declared = match revision.lifecycle() {
            Lifecycle::PerRequest => peer.result("server/discover", json!({})).await,
            Lifecycle::Handshake => peer.opened,
        };
        let declared = &declared["capabilities"];
        assert!(declared["tools"].is_object(), "{revision}: {declared}");
        let extensions = json!({"com.example/charts": settings, "com.example/echo": {}});
        assert_eq!(declared["extensions"], extensions, "{revision}");
    }
    let twice = Router::new()
        .with_extension("com.example/echo", JsonObject::new())
        .with_extension("com.example/echo", JsonObject::new());
    let why = twice.build("twice", "1.0").unwrap_err().to_string();
    assert!(
        why.contains("two extensions are called `com.example/echo`"),
        "{why}"
    );
}

#[tokio::test]
async fn tools_answer_peers_of_every_revision() {
    for revision in revisions() {
        let mut peer = peer(revision).await;
        let list = peer.result("tools/list", json!({})).await;
        let names: Vec<_> = list["tools"]
            .as_array()
            .unwrap()
            .iter()
            .map(|tool| tool["name"].clone())
            .collect();
        assert_eq!(
            names,
            ["add", "weather", "fail", "wrong", "count", "who"],
            "{revision}"
        );
        let sum = peer
            .result(
                "tools/call",
                json!({"name": "add", "arguments": {"a": 1, "b": 2.5}}),
            )
            .await;
        assert_eq!(
            sum["content"],
            json!([{"type": "text", "text": "3.5"}]),
            "{revision}"
        );
        let weather = peer.result("tools/call", json!({"name": "weather"})).await;
        assert_eq!(
            weather["content"][0]["text"], r#"{"degrees":21.5,"sky":"clear"}"#,
            "{revision}"
        );
        let failed = peer.result("tools/call", json!({"name": "fail"})).await;
        assert_eq!(
            (&failed["isError"], &failed["content"][0]["text"]),
            (&json!(true), &json!("no such city"))
        );
        // Arguments are the model's to mend.
        let params = json!({"name": "add", "arguments": {"a": 1}});
        let unread = peer.result("tools/call", params).await;
        assert_eq!(unread["isError"], true, "{revision}: {unread}");
        let why = unread["content"][0]["text"].as_str().unwrap();
        assert!(why.contains("missing field `b`"), "{revision}: {why}");
        for (name, arguments) in [("wrong", json!({})), ("nothing", json!({}))] {
            let error = peer
                .call("tools/call", json!({"name": name, "arguments": arguments}))
                .await
                .unwrap_err();
            assert_eq!(error["code"], -32602, "{revision}: {error}");
        }
    }
}

#[tokio::test]
async fn an_error_quotes_little_of_what_was_wrong() {
    // Each of them is longer as JSON than it is.
    let long = "\"\u{1}".repeat(100_000);
    let wrong = [
        (
            "tools/call",
            json!({"name": "add", "arguments": {"a": long, "b": 1}}),
        ),
        ("tools/call", json!({"name": long})),
        ("prompts/get", json!({"name": long})),
        (
            "prompts/get",
            json!({"name": "greet", "arguments": {(long.clone()): "x"}}),
        ),
        (
            "resources/read",
            json!({"uri": format!("example://{long}")}),
        ),
        (
            "completion/complete",
            json!({"ref": {"type": "ref/prompt", "name": long}, "argument": {"name": "a", "value": "b"}}),
        ),
        (
            "completion/complete",
            json!({"ref": {"type": long, "name": "x"}, "argument": {"name": "a", "value": "b"}}),
        ),
    ];
    for revision in revisions() {
        let mut peer = peer(revision).await;
        for (method, params) in &wrong {
            let (Ok(answer) | Err(answer)) = peer.call(method, params.clone()).await;
            let bytes = answer.to_string().len();
            assert!(bytes < 5_000, "{revision}: {method}: {bytes} bytes");
            if params["arguments"]["b"] == 1 {
                let why = answer["content"][0]["text"].as_str().unwrap();
                assert!(why.contains("argument `a` of `add`: invalid type"), "{why}");
                assert!(why.ends_with("expected f64"), "{why}");
            }
        }
    }
}

#[tokio::test]
async fn what_is_said_on_the_way_comes_before_the_answer() {
    for revision in revisions() {
        let mut peer = peer(revision).await;
        let params = json!({"name": "count", "_meta": {"progressToken": "t"}});
        let done = peer.result("tools/call", params).await;
        assert_eq!(done["content"][0]["text"], "done");
        let told: Vec<_> = peer
            .told
            .iter()
            .map(|one| (one["method"].clone(), one["params"].clone()))
            .collect();
        assert_eq!(told.len(), 2, "{revision}: {told:?}");
        assert_eq!(
            told[0].1,
            json!({"progressToken": "t", "progress": 50, "total": 100})
        );
        assert_eq!(told[1].1, json!({"level": "info", "data": "half way"}));
    }
}

#[tokio::test]
async fn a_person_is_asked_in_one_line() {
    for revision in revisions() {
        let mut peer = peer(revision).await;
        // Nobody can be asked before 2025-06-18: the tool says so, and nobody waits for ever.
        if !revision
            .methods()
            .iter()
            .any(|method| method.name == "elicitation/create")
        {
            let result = peer.call("tools/call", json!({"name": "who"})).await;
            let failed = result.is_err() || result.is_ok_and(|result| result["isError"] == true);
            assert!(failed, "{revision}");
            continue;
        }
        let content = json!({"name": "Ada", "colour": "blue"});
        peer.answers
            .push(json!({"action": "accept", "content": content}));
        let result = peer.result("tools/call", json!({"name": "who"})).await;
        assert_eq!(result["content"][0]["text"], "Ada None blue", "{revision}");
        let question = &peer.asked[0]["params"];
        assert_eq!(question["message"], "Who are you?");
        let form = json!({"type": "object", "required": ["name", "colour"], "properties": {
            "name": {"type": "string"},
            "age": {"type": "integer", "minimum": 0},
            "colour": {"type": "string", "enum": ["red", "blue"]},
        }});
        assert_eq!(question["requestedSchema"], form, "{revision}");

        peer.answers.push(json!({"action": "decline"}));
        let result = peer.result("tools/call", json!({"name": "who"})).await;
        assert_eq!(result["isError"], true, "{revision}");
        assert_eq!(result["content"][0]["text"], "the user declined to answer");
    }
}

#[derive(Debug, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Size {
    Small,
    /// Fits most.
    Medium,
    Large,
}

#[derive(Deserialize, schemars::JsonSchema)]
struct Order {
    size: Option<Size>,
}

#[tokio::test]
async fn choices_of_which_some_have_a_line_are_all_in_the_form() {
    let order = |cx: RequestContext<Latest>| async move {
        let Order { size } = cx.elicit("Which size?").await?;
        Ok::<_, Error>(format!("{size:?}"))
    };
    let mut peer = peer_of(
        Revision::LATEST,
        Router::new().tool("order", "Orders.", order),
    )
    .await;
    peer.answers = vec![json!({"action": "accept", "content": {"size": "large"}})];
    let params = json!({"name": "order"});
    let result = peer.result("tools/call", params).await;
    assert_eq!(result["content"][0]["text"], "Some(Large)", "{result}");
    let form = &peer.asked[0]["params"]["requestedSchema"];
    let mut choices = form["properties"]["size"]["oneOf"]
        .as_array()
        .unwrap()
        .clone();
    choices.sort_by_key(|choice| choice["const"].to_string());
    let expected = [
        json!({"const": "large", "title": "large"}),
        json!({"const": "medium", "title": "Fits most."}),
        json!({"const": "small", "title": "small"}),
    ];
    assert_eq!(choices, expected, "{form}");
}

#[tokio::test]
async fn resources_are_read_at_their_uri_and_by_template() {
    for revision in revisions() {
        let mut peer = peer(revision).await;
        let read = |uri: &str| json!({"uri": uri});
        let greeting = peer
            .result("resources/read", read("example://greeting"))
            .await;
        assert_eq!(
            greeting["contents"],
            json!([{"uri": "example://greeting", "text": "Hello."}])
        );
        let user = peer
            .result("resources/read", read("users://a%20b/profile"))
            .await;
        assert_eq!(user["contents"][0]["text"], "user a b");
        let code = match revision.lifecycle() {
            Lifecycle::Handshake => -32002,
            Lifecycle::PerRequest => -32602,
        };
        for uri in ["users://0/profile", "users://1/other", "example://nothing"] {
            let error = peer.call("resources/read", read(uri)).await.unwrap_err();
            assert_eq!(error["code"], code, "{revision} {uri}");
        }
        let templates = peer.result("resources/templates/list", json!({})).await;
        assert_eq!(
            templates["resourceTemplates"][0]["uriTemplate"],
            "users://{id}/profile"
        );
    }
}

#[tokio::test]
async fn what_stands_for_a_variable_leads_out_of_no_folder() {
    #[derive(serde::Deserialize)]
    struct Path {
        path: String,
    }
    let router = Router::new()
        .resource_template("notes://{path}", "note", |Path { path }| async { path })
        .resource_template("docs://{+path}", "page", |Path { path }| async { path });
    let mut peer = peer_of(Revision::LATEST, router).await;
    for (uri, read) in [
        ("notes://a%20b.txt", Some("a b.txt")),
        ("notes://..a", Some("..a")),
        ("docs:///var/log", Some("/var/log")),
        ("docs://a%2Fb", Some("a/b")),
        ("notes://..%2F..%2Fetc%2Fpasswd", None),
        ("notes://..%5C..%5Csecret", None),
        ("notes://%2Fetc%2Fpasswd", None),
        ("notes://..", None),
        ("notes://%2E%2e", None),
        ("notes://.", None),
        ("notes://a%00.txt", None),
        ("notes://a%0Ab", None),
        ("docs://../../etc/passwd", None),
        ("docs://a/%2e%2e/%2e%2e/etc", None),
        ("docs://a/..%5C..", None),
        ("docs://a/%00", None),
    ] {
        let answer = peer.call("resources/read", json!({"uri": uri})).await;
        let text = answer.map(|it| it["contents"][0]["text"].as_str().map(str::to_owned));
        assert_eq!(text.unwrap_or_default().as_deref(), read, "{uri}");
    }
}

#[tokio::test]
async fn prompts_are_filled_in_and_completed() {
    for revision in revisions() {
        let mut peer = peer(revision).await;
        let list = peer.result("prompts/list", json!({})).await;
        let arguments = json!([
            {"name": "name", "description": "Who is greeted.", "required": true},
            {"name": "tone", "required": false},
        ]);
        assert_eq!(list["prompts"][0]["arguments"], arguments, "{revision}");
        let filled = peer
            .result(
                "prompts/get",
                json!({"name": "greet", "arguments": {"name": "Ada"}}),
            )
            .await;
        assert_eq!(filled["messages"][0]["content"]["text"], "Greet Ada .");
        let completed = json!({"ref": {"type": "ref/prompt", "name": "greet"}, "argument": {"name": "name", "value": "A"}});
        let completed = peer.result("completion/complete", completed).await;
        assert_eq!(completed["completion"]["values"], json!(["Ada", "Alan"]));
        let of = |name: &str, argument: &str| json!({"ref": {"type": "ref/prompt", "name": name}, "argument": {"name": argument, "value": "A"}});
        let none = peer.call("completion/complete", of("greet", "tone")).await;
        assert_eq!(none.unwrap()["completion"]["values"], json!([]));
        let unknown = peer.call("completion/complete", of("part", "name")).await;
        assert_eq!(unknown.unwrap_err()["code"], -32602, "{revision}");
    }
}

#[tokio::test]
async fn variables_of_templates_are_completed_and_those_of_unknown_ones_refused() {
    for revision in revisions() {
        let mut peer = peer(revision).await;
        let of = |uri: &str| json!({"ref": {"type": "ref/resource", "uri": uri}, "argument": {"name": "id", "value": "4"}});
        let known = peer.call("completion/complete", of("users://{id}/profile"));
        let values = known.await.unwrap()["completion"]["values"].take();
        assert_eq!(values, json!(["42"]), "{revision}");
        let unknown = peer.call("completion/complete", of("users://{id}"));
        assert_eq!(unknown.await.unwrap_err()["code"], -32602, "{revision}");
    }
}

#[test]
fn what_cannot_be_served_is_said() {
    let said = |router: Router| router.build("x", "1").unwrap_err().to_string();
    let twice = Router::new()
        .tool("a", "", || async {})
        .tool("a", "", || async {});
    assert_eq!(
        said(twice),
        "two tools are called `a`: give one another name"
    );
    let template = Router::new().resource_template("a://{?query}", "a", |_: User| async { "" });
    assert!(said(template).contains("only `{name}`, and `{+name}` at the end, can be matched"));
    let list = Router::new().tool_of(
        mcp::Tool::new("list", JsonObject::new()),
        |_: Vec<u8>| async {},
    );
    assert!(said(list).contains("the tool `list` takes no object"));
}

#[test]
fn all_registrations_that_cannot_be_served_are_named_at_once() {
    let read = || async { "" };
    let router = Router::new()
        .tool("", "Has no name.", read)
        .tool(&"x".repeat(2000), "Has a long name.", read)
        .resource("x://{id}", "variables", read)
        .resource("readme", "no scheme", read)
        .resource("file:///a b", "a blank", read)
        .resource_template("users://{user}", "user", |_: User| async { "" })
        .prompt("greet", "Greets.", |greet: Greet| async { greet.name })
        .completion("greet", "colour", |_: String| async { vec!["red"] })
        .completion("ghost", "name", |_: String| async { vec!["boo"] });
    let why = router.build("x", "1").unwrap_err().to_string();
    let expected = [
        "one of the tools has an empty name",
        "one of the tools has a name of 2000 bytes",
        "the resource `x://{id}` has variables: add it with `resource_template`",
        "the resource `readme` has no scheme",
        "the resource `file:///a b` has ' '",
        "the template `users://{user}`: no field of its arguments is called `user`",
        "a completion of `ghost`, which is neither a prompt nor a resource template",
        "a completion of the argument `colour` of `greet`, which has no argument of this name",
    ];
    let lines: Vec<&str> = why.lines().collect();
    assert_eq!(lines.len(), expected.len(), "{why}");
    for (line, expected) in lines.iter().zip(expected) {
        assert!(line.starts_with(expected), "{line}");
    }
}

#[test]
fn a_template_of_any_length_has_completions() {
    let template = format!("users://{}/{{id}}", "x".repeat(200));
    let router = Router::new()
        .resource_template(&template, "user", |User { id }| async { id })
        .completion(&template, "id", |typed: String| async { vec![typed] });
    let _ = router.build("x", "1").unwrap();
}

#[tokio::test]
async fn a_tool_answers_with_an_image_and_is_described_after_it_was_added() {
    let pixel = || async { mcp::ImageContent::new("AAAA", MimeType("image/png")) };
    let router = Router::new()
        .tool("pixel", "Draws.", pixel)
        .described(|tool| tool.with_title("Painter"));
    let mut peer = peer_of(Revision::LATEST, router).await;
    let listed = peer.result("tools/list", json!({})).await;
    assert_eq!(listed["tools"][0]["title"], "Painter");
    assert_eq!(listed["tools"][0]["description"], "Draws.");
    let result = peer.result("tools/call", json!({"name": "pixel"})).await;
    assert_eq!(result["content"][0]["type"], "image", "{result}");
}

#[tokio::test]
async fn a_description_belongs_to_the_registration_that_it_follows() {
    let text = || async { "text" };
    let router = Router::new()
        .tool("pixel", "", text)
        .resource("x://a", "a", text)
        .described_resource(|resource| resource.with_title("A"))
        .resource_template("x://{id}/b", "b", |User { id }| async { id })
        .described_template(|template| template.with_title("B"))
        .prompt("c", "", text)
        .described_prompt(|prompt| prompt.with_title("C"));
    let mut peer = peer_of(Revision::LATEST, router).await;
    for (method, list, title) in [
        ("resources/list", "resources", "A"),
        ("resources/templates/list", "resourceTemplates", "B"),
        ("prompts/list", "prompts", "C"),
    ] {
        let listed = peer.result(method, json!({})).await;
        assert_eq!(listed[list][0]["title"], title, "{listed}");
    }
    let refused = Router::new()
        .tool("pixel", "", text)
        .resource("x://a", "a", text)
        .described(|tool| tool.with_title("of which?"))
        .with_scopes(["x"])
        .prompt("c", "", text)
        .described_resource(|resource| resource)
        .build("", "1");
    let refused = refused.unwrap_err().to_string();
    assert!(
        refused.contains("the server has an empty name"),
        "{refused}"
    );
    for called in ["described", "with_scopes", "described_resource"] {
        let problem = format!("`{called}` does not follow a ");
        assert!(refused.contains(&problem), "{refused}");
    }
}

/// Values of the context come in any order, before and behind the arguments.
#[tokio::test]
async fn a_function_takes_what_it_needs_of_the_context() {
    use mcp_revisions::serve::{Principal, Session};
    use mcp_revisions::service::client::{ResultText, StructuredResult};
    use mcp_revisions::service::{Blob, Client, Extension, State};

    async fn all(
        one: State<u8>,
        other: State<String>,
        principal: Option<Principal>,
        User { id }: User,
        session: Session,
        inserted: Option<Extension<u16>>,
    ) -> String {
        let there = (principal.is_some(), inserted.is_some(), session.is_over());
        format!("{} {} {id} {there:?}", *one, *other)
    }
    async fn last(cx: RequestContext, User { id }: User, one: State<u8>) -> Json<Value> {
        let twice = cx.blocking(move |call| {
            call.progress(1, 2);
            (call.is_cancelled(), *one * 2)
        });
        let (is_cancelled, twice) = twice.await.unwrap();
        Json(json!({"id": id, "twice": twice, "is_cancelled": is_cancelled}))
    }
    async fn guarded(_: Principal) -> &'static str {
        "known"
    }
    async fn sure(cx: RequestContext) -> Result<String, Error> {
        match cx.confirm(format!("Drop {}?", "it")).await {
            Err(Error::CannotAsk(_)) => Ok("cannot ask".to_owned()),
            other => Ok(other?.to_string()),
        }
    }
    let pixel = || async { mcp::ImageContent::from_bytes([1, 2, 3], "image/png") };
    for revision in revisions() {
        let server = Router::new()
            .with_state(7_u8)
            .with_state("text".to_owned())
            .tool("all", "", all)
            .tool("last", "", last)
            .tool("guarded", "", guarded)
            .tool("sure", "", sure)
            .tool("pixel", "", pixel)
            .build("takes", "1")
            .unwrap();
        let builder = Client::builder(&mcp_revisions::program!());
        let only = mcp_revisions::RevisionSet::from_iter([revision]);
        let client = server.client(builder.with_revisions(only));
        let user = json!({"id": "ada"});
        let text = client.call("all", &user).await.unwrap().text();
        assert_eq!(text, "7 text ada (false, false, false)", "{revision}");
        let result = client.call("last", &user).await.unwrap();
        // Older revisions have no structured content.
        let read = result
            .structured::<Value>()
            .or_else(|_| serde_json::from_str(&result.text()));
        let expected = json!({"id": "ada", "twice": 14, "is_cancelled": false});
        assert_eq!(read.unwrap(), expected, "{revision}");
        let refused = client.call("guarded", &json!({})).await.unwrap_err();
        let refused = refused.to_string();
        assert!(refused.contains("no principal"), "{refused}");
        let text = client.call("sure", &json!({})).await.unwrap().text();
        assert_eq!(text, "cannot ask", "{revision}");
        let drawn = client.call("pixel", &json!({})).await.unwrap();
        let mcp::ContentBlock::Image(image) = &drawn.content[0] else {
            panic!("{drawn:?}")
        };
        assert_eq!(image.bytes().unwrap(), [1, 2, 3], "{revision}");
        client.close().await.unwrap();
    }
}

#[tokio::test]
async fn a_handler_is_tested_without_a_transport() {
    let (cx, call) = RequestContext::for_test().await.unwrap();
    call.answer(json!({"name": "Ada", "age": 36, "colour": "blue"}));
    let profile: Profile = cx.elicit("Who are you?").await.unwrap();
    assert_eq!((&*profile.name, profile.age), ("Ada", Some(36)));
    // A form without an answer is declined.
    assert!(!cx.confirm("Sure?").await.unwrap());
    assert_eq!(count(cx).await, "done");
    let record = call.end().await;
    assert_eq!(record.questions, ["Who are you?", "Sure?"], "{record:?}");
    assert_eq!(record.progress.len(), 1, "{record:?}");
    assert_eq!(record.progress[0].total, Some(100.0));
    assert_eq!(record.logs.len(), 1);
}

#[test]
fn an_error_is_asked_for_its_kind_and_its_cause() {
    use std::error::Error as _;
    use std::io;

    let refused = Error::from(io::Error::from(io::ErrorKind::ConnectionRefused));
    let Error::Transport(transport) = &refused else {
        panic!("{refused}")
    };
    assert_eq!(transport.kind(), Some(io::ErrorKind::ConnectionRefused));
    let system = refused.source().and_then(|cause| cause.source());
    assert!(
        system.is_some_and(|system| system.is::<io::Error>()),
        "{refused:?}"
    );
    let broken = Error::from(JsonObject::from_text("x").unwrap_err());
    assert!(broken.source().is_some(), "{broken:?}");
}

#[tokio::test]
async fn a_handler_reads_the_meta_of_its_call() {
    let trace = |cx: RequestContext<Latest>| async move {
        let parent = cx.meta().and_then(|meta| meta.get("traceparent"));
        parent.map(|parent| parent.to_string()).unwrap_or_default()
    };
    for revision in revisions() {
        let mut peer = peer_of(revision, Router::new().tool("trace", "", trace)).await;
        let params = json!({"name": "trace", "_meta": {"traceparent": "00-1-2-01"}});
        let result = peer.result("tools/call", params).await;
        assert_eq!(result["content"][0]["text"], "\"00-1-2-01\"", "{revision}");
    }
}

/// A tool that asks by a result of its own: by name, and with a state.
async fn named(cx: RequestContext<Latest>) -> Result<mcp::CallToolOutcome, Error> {
    let Some(said) = cx.input_response::<mcp::ElicitResult>("who")? else {
        let properties = [("name", mcp::StringSchema::new().into())];
        let schema =
            mcp::ElicitRequestFormParamsRequestedSchema::new(properties.into_iter().collect());
        let form = mcp::ElicitRequestFormParams::new("Who are you?", schema);
        let question = mcp::InputRequest::from(mcp::ElicitRequest::new(form));
        let questions: mcp::InputRequests = [("who", question)].into_iter().collect();
        let result = mcp::InputRequiredResult::new().with_input_requests(questions);
        return Ok(result.with_request_state("asked").into());
    };
    let name = said
        .content
        .as_ref()
        .and_then(|content| content.get("name"));
    let text = format!("{name:?} {:?}", cx.request_state());
    let text = mcp::TextContent::new(text);
    Ok(mcp::CallToolResult::new(vec![text.into()]).into())
}

#[tokio::test]
async fn a_function_may_ask_by_a_result_of_its_own() {
    for revision in revisions() {
        let mut methods = revision.methods().iter();
        if !methods.any(|method| method.name == "elicitation/create") {
            continue;
        }
        let running = Router::new().tool("named", "Asks.", named);
        let running = running.build("example", "1").unwrap();
        let mut peer = Peer::connect(revision, served(running)).await;
        let call = json!({"name": "named"});
        peer.answers = vec![json!({"action": "accept", "content": {"name": "Ada"}})];
        let result = peer.result("tools/call", call.clone()).await;
        let text = result["content"][0]["text"].as_str().unwrap();
        assert!(
            text.contains("Ada") && text.contains("asked"),
            "{revision}: {text}"
        );
        if revision.lifecycle() == Lifecycle::Handshake {
            continue;
        }
        // By another name nothing was answered; what is no answer is the caller's mistake.
        let mut other = call.clone();
        other["inputResponses"] = json!({"whom": {"action": "accept"}});
        peer.answers = vec![json!({"action": "cancel"})];
        let result = peer.result("tools/call", other).await;
        assert_eq!(peer.asked.len(), 2, "{result}");
        let mut broken = call;
        broken["inputResponses"] = json!({"who": {"action": "perhaps"}});
        let error = peer.call("tools/call", broken).await.unwrap_err();
        assert_eq!(error["code"], -32602, "{error}");
    }
}

#[derive(Deserialize, schemars::JsonSchema)]
struct Page {
    number: u32,
    open: bool,
    share: Option<f64>,
    colour: Colour,
    name: String,
}

async fn page(page: Page) -> String {
    let colour = match page.colour {
        Colour::Red => "red",
        Colour::Blue => "blue",
    };
    let (number, open, share, name) = (page.number, page.open, page.share, page.name);
    format!("{number} {open} {share:?} {colour} {name}")
}

#[tokio::test]
async fn texts_of_a_uri_and_of_a_prompt_are_read_as_what_the_handler_takes() {
    for revision in [Revision::V2024_11_05, Revision::LATEST] {
        let template = "pages://{number}/{open}/{share}/{colour}/{name}";
        let router = Router::new()
            .resource_template(template, "page", page)
            .prompt("page", "Shows a page.", page);
        let mut peer = peer_of(revision, router).await;
        let uri = json!({"uri": "pages://7/true/-0.5/red/12"});
        let read = peer.result("resources/read", uri).await;
        let text = &read["contents"][0]["text"];
        assert_eq!(text, "7 true Some(-0.5) red 12", "{revision}");
        let arguments = json!({"number": "7", "open": "false", "colour": "blue", "name": "12"});
        let params = json!({"name": "page", "arguments": arguments});
        let filled = peer.result("prompts/get", params).await;
        let text = &filled["messages"][0]["content"]["text"];
        assert_eq!(text, "7 false None blue 12", "{revision}");

        // A text that is none of these is the caller's mistake, and the error says which.
        for (uri, variable, text) in [
            ("pages://many/true/1/red/a", "`number`", "many"),
            ("pages://-1/true/1/red/a", "`number`", "-1"),
            ("pages://4294967296/true/1/red/a", "`number`", "4294967296"),
            ("pages://1/maybe/1/red/a", "`open`", "maybe"),
            ("pages://1/true/NaN/red/a", "`share`", "NaN"),
            ("pages://1/true/1/green/a", "`colour`", "green"),
        ] {
            let refused = peer.call("resources/read", json!({"uri": uri})).await;
            let refused = refused.unwrap_err();
            let why = refused["message"].as_str().unwrap();
            assert_eq!(refused["code"], -32602, "{revision}: {refused}");
            assert!(why.contains(variable) && why.contains(text), "{why}");
        }
        let arguments = json!({"number": "many", "open": "false", "colour": "blue", "name": "a"});
        let params = json!({"name": "page", "arguments": arguments});
        let refused = peer.call("prompts/get", params).await.unwrap_err();
        assert!(refused["message"].to_string().contains("`number`"));
        assert_eq!(refused["code"], -32602, "{revision}: {refused}");
    }
}

/// The only text of a result that tells of an error.
fn failure(result: &Value) -> String {
    assert_eq!(result["isError"], true, "{result}");
    result["content"][0]["text"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn an_answer_of_the_client_that_is_none_is_no_cancellation_and_no_fault_of_the_call() {
    let accepted = json!({"name": "Ada", "colour": "red"});
    let accepted = json!({"action": "accept", "content": accepted});
    let wrong = json!({"action": "accept", "content": {"name": 5, "colour": "red"}});
    for revision in [Revision::V2025_11_25, Revision::LATEST] {
        let mut peer = peer(revision).await;
        peer.answers = vec![wrong.clone()];
        let result = peer.call("tools/call", json!({"name": "who"})).await;
        let why = failure(&result.unwrap());
        assert!(why.contains("the client's answer"), "{revision}: {why}");
        if revision.lifecycle() == Lifecycle::Handshake {
            peer.answers = vec![json!({"action": "zzz"})];
            let refused = peer.call("tools/call", json!({"name": "who"})).await;
            let refused = refused.unwrap_err();
            let why = refused["message"].as_str().unwrap();
            assert!(why.contains("the client's result"), "{revision}: {why}");
            assert_eq!(refused["code"], -32603, "{revision}: {refused}");
            continue;
        }
        // The call goes on to wait for an answer that is one.
        let asked = peer.once("tools/call", json!({"name": "who"})).await;
        let asked = asked.unwrap();
        let question = asked["inputRequests"].as_object().unwrap().keys().next();
        for (answer, is_taken) in [
            (json!({"action": "zzz"}), false),
            (json!(5), false),
            (accepted.clone(), true),
        ] {
            let responses = json!({question.unwrap(): answer});
            let params = json!({"name": "who", "requestState": asked["requestState"], "inputResponses": responses});
            match peer.once("tools/call", params).await {
                Ok(result) => {
                    assert!(is_taken, "{answer}: {result}");
                    assert_eq!(result["content"][0]["text"], "Ada None red");
                }
                Err(error) => {
                    assert!(!is_taken, "{answer}: {error}");
                    assert_eq!(error["code"], -32602, "{answer}: {error}");
                }
            }
        }
    }
}

#[tokio::test]
async fn a_handler_that_asks_after_its_answer_is_told_that_the_call_is_over() {
    for revision in [Revision::V2025_11_25, Revision::LATEST] {
        let (asks, mut asked) = tokio::sync::mpsc::unbounded_channel();
        let leaves = move |cx: RequestContext<Latest>| {
            let asks = asks.clone();
            async move {
                asks.send(cx).unwrap();
                "done"
            }
        };
        let router = Router::new().tool("leaves", "Answers at once.", leaves);
        let mut peer = peer_of(revision, router).await;
        let params = json!({"name": "leaves"});
        peer.result("tools/call", params).await;
        let late = asked.recv().await.unwrap();
        let why = late.elicit::<Greet>("Who is there?").await.err().unwrap();
        assert!(why.to_string().contains("the call is over"), "{why}");
    }
}

fn schema(value: &Value) -> JsonObject {
    JsonObject::from_text(&value.to_string()).unwrap()
}

#[tokio::test]
async fn calls_and_their_results_are_checked_by_the_schemas_of_their_tools() {
    let input = json!({
        "type": "object", "required": ["give"], "additionalProperties": false,
        "properties": {
            "give": true, "kind": { "enum": ["a", "b"] }, "way": { "pattern": "^(a|aa)+$" },
            // A tree as deep as the caller likes, and a reference in a circle.
            "tree": { "$ref": "#/$defs/tree" }, "circle": { "$ref": "#/$defs/circle" },
        },
        "$defs": {
            "tree": { "type": "array", "items": { "$ref": "#/$defs/tree" } },
            "circle": { "$ref": "#/$defs/circle" },
        },
    });
    let output = json!({ "type": "object", "properties": { "sum": { "type": "integer" } }, "required": ["sum"] });
    let tool = mcp::Tool::new("give", schema(&input)).with_output_schema(schema(&output));
    let give = |mut arguments: Value| async move {
        match arguments["give"].take() {
            Value::Null => Ok(mcp::CallToolResult::new(Vec::new())),
            Value::String(why) => Err(why),
            content => Ok(mcp::CallToolResult::new(Vec::new()).with_structured_content(content)),
        }
    };
    let server = Router::new().tool_of(tool, give).build("x", "1").unwrap();
    let client = server
        .with_schema_checks()
        .unwrap()
        .client(Client::builder(&mcp_revisions::program!()));
    let deep = (0..100).fold(json!([]), |inner, _| json!([inner]));
    let hostile = "a".repeat(100_000) + "b";
    let mistake = "the server has made a mistake: the result of `give` does not fit its outputSchema: structuredContent";
    for (arguments, expected) in [
        (
            json!({ "give": { "sum": 1 }, "kind": "b", "tree": deep, "circle": 1 }),
            String::new(),
        ),
        (
            json!({}),
            "arguments of `give`: expected a member \"give\", found {}".into(),
        ),
        (
            json!({ "give": 1, "kind": 7 }),
            "argument `/kind` of `give`: expected enum [\"a\",\"b\"], found 7".into(),
        ),
        (
            json!({ "give": 1, "x/y": 7 }),
            "arguments of `give`: expected other members, found `x/y`".into(),
        ),
        (
            json!({ "give": 1, "tree": [[7]] }),
            "argument `/tree/0/0` of `give`: expected type \"array\", found 7".into(),
        ),
        (
            json!({ "give": 1, "way": hostile }),
            "argument `/way` of `give`: expected pattern \"^(a|aa)+$\", found \"aaa".into(),
        ),
        (
            json!({ "give": { "sum": 1.5 } }),
            format!("{mistake}/sum: expected type \"integer\", found 1.5"),
        ),
        (
            json!({ "give": null }),
            format!("{mistake}: expected a value, found none"),
        ),
        // A result that says that the call failed has no structured content.
        (json!({ "give": "no rain" }), "no rain".into()),
    ] {
        let result = client.call("give", &arguments).await.unwrap();
        assert_eq!(
            result.is_error.unwrap_or_default(),
            !expected.is_empty(),
            "{result:?}"
        );
        assert!(
            result.text().starts_with(&expected),
            "{expected}\n{}",
            result.text()
        );
        assert!(result.text().len() < 1000);
    }
}

#[test]
fn a_schema_that_cannot_be_used_is_named_when_its_tool_is_added() {
    let long = json!({ "const": "x".repeat(2 << 20) });
    let rows = r##"
{"type": "strin"} | at `/properties/a/type`
{"$ref": "https://example.com/a.json"} | https://example.com/a.json
{"$ref": "file:///etc/passwd"} | file:///etc/passwd
{"$ref": "#/$defs/none"} | /$defs/none
{"pattern": "^(?=a)"} | at `/properties/a/pattern`
{"pattern": "(a{1000}){1000}"} | at `/properties/a/pattern`
LONG | expected at most 1048576 bytes
"##;
    for row in rows.trim().replace("LONG", &long.to_string()).lines() {
        let (rule, why) = row.split_once(" | ").unwrap();
        let rule: Value = serde_json::from_str(rule).unwrap();
        let whole = json!({ "type": "object", "properties": { "a": rule } });
        let tool = mcp::Tool::new("rain", schema(&whole));
        let server = Router::new()
            .tool_of(tool, |_: Value| async {})
            .build("x", "1");
        let refused = server
            .unwrap()
            .with_schema_checks()
            .unwrap_err()
            .to_string();
        let whose = "the `inputSchema` of the tool `rain` cannot be used: ";
        assert!(
            refused.starts_with(whose) && refused.contains(why),
            "{why}: {refused}"
        );
        assert!(refused.len() < 1000, "{refused}");
    }
}
