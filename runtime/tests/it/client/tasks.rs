//! Calls that a server answers with a task: when the client looks at it, what it asks, and what the application gets.

use std::time::Duration;

use mcp_revisions::sansio::client::{Answer, Channel, Event, Fate, Verdict};
use mcp_revisions::{Limits, Revision, RevisionSet};
use mcp_wire::Json;
use serde_json::{Value, json};

use crate::client::{
    End, NOW, call, error, hear, list, open, options, reaction, result, say, settle,
};

const EXTENSION: &str = "io.modelcontextprotocol/tasks";

/// A client that takes tasks, settled on a revision.
fn client(version: &str) -> End {
    let limits = Limits {
        max_input_requests: 2,
        ..Limits::default()
    };
    let options = options(Channel::Stdio).with_tasks().with_limits(limits);
    let mut client = open(Revision::V2025_11_25, options);
    settle(&mut client, version);
    client
}

/// A client of the extension whose call was answered with this.
fn given(answer: Value) -> (End, Value) {
    let mut client = client("2026-07-28");
    client.ask(call("build"), NOW).unwrap();
    let (_, sent) = hear(&mut client).only();
    say(&mut client, &result(&sent["id"], answer));
    (client, sent)
}

fn task(status: &str) -> Value {
    json!({"resultType": "task", "taskId": "t1", "status": status, "createdAt": "2026-01-01T00:00:00Z",
        "lastUpdatedAt": "2026-01-01T00:00:00Z", "ttlMs": 60_000, "pollIntervalMs": 5_000})
}

fn state(status: &str, more: Value) -> Value {
    let mut state = task(status);
    state["resultType"] = json!("complete");
    for (name, value) in more.as_object().unwrap() {
        state[name] = value.clone();
    }
    state
}

/// Lets time pass until the client looks at its task; the id of that.
fn look(client: &mut End) -> Value {
    let at = client.wake_at().expect("a time to look");
    client.wake(at);
    let (_, look) = hear(client).only();
    assert_eq!(
        (&look["method"], &look["params"]["taskId"]),
        (&json!("tasks/get"), &json!("t1"))
    );
    look["id"].clone()
}

#[test]
fn a_task_is_looked_at_as_often_as_its_server_says_until_it_has_a_result() {
    let (mut client, sent) = given(task("working"));
    let declared = &sent["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"];
    assert_eq!(declared["extensions"][EXTENSION], json!({}));
    assert!(hear(&mut client).answers().is_empty());
    assert_eq!(client.wake_at(), Some(NOW + Duration::from_secs(5)));
    let id = look(&mut client);
    assert_eq!(client.wake_at(), None);
    let more = json!({"pollIntervalMs": 100});
    say(&mut client, &result(&id, state("working", more)));
    assert_eq!(client.wake_at(), Some(NOW + Duration::from_millis(100)));
    let id = look(&mut client);
    let done = json!({"content": [{"type": "text", "text": "built"}]});
    let answer = reaction(
        &mut client,
        &result(&id, state("completed", json!({"result": done}))),
    )
    .answer()
    .unwrap();
    assert_eq!(answer["content"][0]["text"], "built");
    assert_eq!((client.pending(), client.wake_at()), (0, None));
}

#[test]
fn a_task_that_fails_or_is_cancelled_is_an_error_of_the_call() {
    for (status, more, expected) in [
        (
            "failed",
            json!({"error": {"code": -32000, "message": "crashed"}}),
            "crashed",
        ),
        ("cancelled", json!({}), "cancelled"),
        ("failed", json!({}), "without `error`"),
        ("completed", json!({}), "without `result`"),
        ("asleep", json!({}), "`status`"),
        // A task in the place of its own result would never end.
        (
            "completed",
            json!({"result": task("working")}),
            "resultType",
        ),
    ] {
        let (mut client, _) = given(task("working"));
        let id = look(&mut client);
        let why = reaction(&mut client, &result(&id, state(status, more)))
            .answer()
            .unwrap_err();
        assert!(why.contains(expected), "{status}: {why}");
        assert_eq!((client.pending(), client.wake_at()), (0, None));
    }
    let (mut client, _) = given(json!({"resultType": "task", "status": "working"}));
    assert!(hear(&mut client).answer().unwrap_err().contains("taskId"));
    // Its server has forgotten it.
    let (mut client, _) = given(task("working"));
    let id = look(&mut client);
    assert!(
        reaction(&mut client, &error(&id, -32602, Value::Null))
            .answer()
            .unwrap_err()
            .contains("-32602")
    );
}

/// A client over HTTP whose call was answered with a task.
fn given_over_http() -> End {
    let options = options(Channel::Http).with_tasks();
    let options = options.with_verdict(Verdict(Revision::V2026_07_28));
    let mut client = open(Revision::V2025_11_25, options);
    client.ask(call("build"), NOW).unwrap();
    answer_post(&mut client, task("working"));
    hear(&mut client);
    client
}

/// Answers the one message that the client posts.
fn answer_post(client: &mut End, answer: Value) {
    let (post, sent) = hear(client).only();
    let answer = result(&sent["id"], answer).to_string();
    client.answered(post.exchange, 200, None, Some(answer.as_bytes()), NOW);
}

#[test]
fn a_task_that_its_server_does_not_tell_of_any_more_is_given_up_after_some_looks() {
    let mut client = given_over_http();
    for _ in 1..5 {
        client.wake(client.wake_at().expect("a time to look again"));
        let (look, _) = hear(&mut client).only();
        client.failed(look.exchange, "away", NOW);
        assert!(hear(&mut client).answers().is_empty());
    }
    client.wake(client.wake_at().expect("a time to look again"));
    let (look, _) = hear(&mut client).only();
    client.failed(look.exchange, "away", NOW);
    // It tries to cancel the task, and no more.
    let heard = hear(&mut client);
    assert!(!heard.methods().contains(&"tasks/get".to_owned()));
    assert!(heard.answer().unwrap_err().contains("away"));
    assert_eq!(client.wake_at(), None);
}

#[test]
fn a_call_whose_task_is_waited_for_fails_when_the_connection_is_closed() {
    let (mut client, _) = given(task("working"));
    client.closed(NOW);
    hear(&mut client).answer().unwrap_err();
    assert_eq!((client.pending(), client.wake_at()), (0, None));
}

#[test]
fn what_a_stream_tells_of_a_task_is_as_good_as_a_look_at_it() {
    let told = |state: Value| {
        let mut params = state;
        params.as_object_mut().unwrap().remove("resultType");
        params["_meta"] = json!({"io.modelcontextprotocol/subscriptionId": 9});
        json!({"jsonrpc": "2.0", "method": "notifications/tasks", "params": params})
    };
    let (mut client, _) = given(task("working"));
    let more = json!({"pollIntervalMs": 60_000, "statusMessage": "half way"});
    say(&mut client, &told(state("working", more)));
    let messages: Vec<_> = (hear(&mut client).events.into_iter())
        .filter_map(|event| match event {
            Event::Task { task, .. } => task.message,
            _ => None,
        })
        .collect();
    assert_eq!(messages, ["half way"]);
    assert_eq!(client.wake_at(), Some(NOW + Duration::from_secs(60)));
    // One of somebody else is nothing to the call.
    let done = json!({"result": {"content": [{"type": "text", "text": "built"}]}});
    let mut other = state("completed", done.clone());
    other["taskId"] = json!("t2");
    assert!(reaction(&mut client, &told(other)).answers().is_empty());
    // The answer to a look that is on its way is for nobody once the task is told to be over.
    let id = look(&mut client);
    say(&mut client, &told(state("working", json!({}))));
    assert_eq!(client.wake_at(), None);
    let answer = reaction(&mut client, &told(state("completed", done)))
        .answer()
        .unwrap();
    assert_eq!(answer["content"][0]["text"], "built");
    assert!(
        reaction(&mut client, &result(&id, state("working", json!({}))))
            .answers()
            .is_empty()
    );
    assert_eq!((client.pending(), client.wake_at()), (0, None));
}

#[test]
fn a_server_cannot_have_its_task_looked_at_without_a_pause() {
    for (interval, expected) in [(0, 20), (1, 20), (86_400_000, 60_000), (-5, 1_000)] {
        let mut answer = task("working");
        answer["pollIntervalMs"] = json!(interval);
        let (client, _) = given(answer);
        assert_eq!(
            client.wake_at(),
            Some(NOW + Duration::from_millis(expected)),
            "{interval}"
        );
    }
}

/// The questions that the application is asked.
fn asked(client: &mut End) -> Vec<mcp_revisions::sansio::client::IncomingRequest> {
    let call = |event| match event {
        Event::Request(call) => Some(call),
        _ => None,
    };
    hear(client).events.into_iter().filter_map(call).collect()
}

fn question() -> Value {
    json!({"method": "elicitation/create", "params": {"mode": "form", "message": "who?",
        "requestedSchema": {"type": "object", "properties": {}}}})
}

#[test]
fn a_question_of_a_task_is_asked_once_and_answered_by_an_update() {
    let (mut client, _) = given(task("working"));
    let id = look(&mut client);
    let questions = json!({"inputRequests": {"q": question()}});
    say(
        &mut client,
        &result(&id, state("input_required", questions.clone())),
    );
    let mut calls = asked(&mut client);
    assert_eq!((calls.len(), calls[0].method), (1, "elicitation/create"));
    // The next poll shows it again, since the client has not answered yet.
    let id = look(&mut client);
    say(
        &mut client,
        &result(&id, state("input_required", questions)),
    );
    assert!(asked(&mut client).is_empty(), "asked twice");
    let _ = client.answer(calls.remove(0).token, Ok(ada()), NOW);
    let (_, update) = hear(&mut client).only();
    assert_eq!(
        (&update["method"], &update["params"]["taskId"]),
        (&json!("tasks/update"), &json!("t1"))
    );
    assert_eq!(
        update["params"]["inputResponses"]["q"]["content"]["name"],
        "Ada"
    );
    // A server that always has one more question is left.
    let id = look(&mut client);
    let more = json!({"q2": question(), "q3": question()});
    let why = reaction(
        &mut client,
        &result(&id, state("input_required", json!({"inputRequests": more}))),
    )
    .answer()
    .unwrap_err();
    assert!(why.contains("too many questions"), "{why}");
}

fn ada() -> Json {
    Json::from(json!({"action": "accept", "content": {"name": "Ada"}}))
}

#[test]
fn an_update_that_gets_lost_is_sent_again_while_the_server_asks_and_not_for_ever() {
    let shows_question = |client: &mut End| {
        client.wake(client.wake_at().expect("a time to look"));
        let questions = json!({"inputRequests": {"q": question()}});
        answer_post(client, state("input_required", questions));
    };
    let mut client = given_over_http();
    shows_question(&mut client);
    let call = asked(&mut client).remove(0);
    assert_eq!(
        client.answer(call.token, Ok(ada()), NOW).fate,
        Fate::Adapted
    );
    for lost in 1..=5 {
        let (update, sent) = hear(&mut client).only();
        let responses = &sent["params"]["inputResponses"];
        assert_eq!(responses["q"]["content"]["name"], "Ada", "{sent}");
        client.failed(update.exchange, "broke off", NOW);
        if lost < 5 {
            let heard = hear(&mut client);
            assert!(heard.sent.is_empty() && heard.events.is_empty());
            shows_question(&mut client);
        }
    }
    let why = hear(&mut client).answer().unwrap_err();
    assert!(why.contains("broke off"), "{why}");
    assert_eq!((client.pending(), client.wake_at()), (0, None));
}

#[test]
fn an_answer_that_a_task_cannot_have_ends_its_call_with_the_reason() {
    for (answer, expected) in [
        // The server refuses the update.
        (ada(), "-32602"),
        (Json::from(json!({"action": "shrug"})), "/action"),
    ] {
        let (mut client, _) = given(task("working"));
        let id = look(&mut client);
        let questions = json!({"inputRequests": {"q": question()}});
        let shown = state("input_required", questions);
        say(&mut client, &result(&id, shown));
        let call = asked(&mut client).remove(0);
        let _ = client.answer(call.token, Ok(answer), NOW);
        let mut heard = hear(&mut client);
        if heard.methods() == ["tasks/update"] {
            let (_, update) = heard.only();
            say(&mut client, &error(&update["id"], -32602, Value::Null));
            heard = hear(&mut client);
        }
        assert_eq!(heard.methods(), ["tasks/cancel"]);
        let why = heard.answer().unwrap_err();
        assert!(why.contains(expected), "{why}");
        assert_eq!(client.wake_at(), None);
    }
}

#[test]
fn a_call_that_is_given_up_cancels_its_task() {
    let (mut client, _) = given(task("working"));
    let id = look(&mut client);
    let questions = json!({"inputRequests": {"q": question()}});
    say(
        &mut client,
        &result(&id, state("input_required", questions)),
    );
    let call = asked(&mut client).remove(0);
    client.cancel(call.about.expect("the call of the task"), None, NOW);
    let heard = hear(&mut client);
    assert_eq!(heard.methods(), ["tasks/cancel"]);
    let is_over = |event: &Event| matches!(event, Event::Cancelled(it) if it.token == call.token);
    assert!(
        heard.events.iter().any(is_over),
        "the question is called off"
    );
    assert_eq!(heard.answers().len(), 1);
    assert_eq!(client.wake_at(), None);
}

#[test]
fn a_tool_that_only_runs_as_a_task_is_called_as_one_and_waited_for() {
    let mut client = client("2025-11-25");
    // The handshake declared no tasks: a refusal stays one.
    client.ask(call("build"), NOW).unwrap();
    let (_, sent) = hear(&mut client).only();
    assert_eq!(sent["params"].get("task"), None);
    assert!(
        reaction(&mut client, &error(&sent["id"], -32601, Value::Null))
            .answer()
            .unwrap_err()
            .contains("-32601")
    );

    let mut client = of_tasks();
    client.ask(call("build"), NOW).unwrap();
    let (_, sent) = hear(&mut client).only();
    let (_, again) = reaction(&mut client, &error(&sent["id"], -32601, Value::Null)).only();
    assert_eq!(
        (&again["method"], &again["params"]["task"]),
        (&json!("tools/call"), &json!({}))
    );
    let task = json!({"taskId": "t1", "status": "working", "createdAt": "2026-01-01T00:00:00Z",
        "lastUpdatedAt": "2026-01-01T00:00:00Z", "ttl": null, "pollInterval": 50});
    say(&mut client, &result(&again["id"], json!({"task": task})));
    let id = look(&mut client);
    let mut waits = task.clone();
    waits["status"] = json!("input_required");
    say(&mut client, &result(&id, waits));
    // What the task wants to know comes while its result is waited for.
    let (_, fetch) = hear(&mut client).only();
    assert_eq!(
        (&fetch["method"], &fetch["params"]["taskId"]),
        (&json!("tasks/result"), &json!("t1"))
    );
    assert_eq!(client.wake_at(), None);
    assert_eq!(
        reaction(
            &mut client,
            &result(
                &fetch["id"],
                json!({"content": [{"type": "text", "text": "built"}]}),
            )
        )
        .answer()
        .unwrap()["content"][0]["text"],
        "built"
    );
    assert_eq!(client.pending(), 0);
}

/// A client of a server whose tools take tasks that are asked for.
fn of_tasks() -> End {
    let mut client = open(Revision::V2025_11_25, options(Channel::Stdio).with_tasks());
    client.connect(NOW).unwrap();
    let (_, probe) = hear(&mut client).only();
    let (_, initialize) = reaction(&mut client, &error(&probe["id"], -32601, Value::Null)).only();
    let capabilities = json!({"tools": {}, "tasks": {"requests": {"tools": {"call": {}}}}});
    let answer = json!({"protocolVersion": "2025-11-25", "capabilities": capabilities,
        "serverInfo": {"name": "s", "version": "1"}});
    reaction(&mut client, &result(&initialize["id"], answer));
    client
}

/// Whether a call asks for a task that would rather have one.
fn asks_for_task(client: &mut End) -> (Value, bool) {
    let ask = call("build").with_task_preferred();
    client.ask(ask, NOW).unwrap();
    let (_, sent) = hear(client).only();
    (sent["id"].clone(), sent["params"].get("task").is_some())
}

#[test]
fn a_task_is_asked_for_from_the_start_where_a_listed_tool_takes_one() {
    let mut client = of_tasks();
    assert!(
        !asks_for_task(&mut client).1,
        "nothing is known of the tool"
    );
    for (support, expected) in [
        (Some("optional"), true),
        (Some("forbidden"), false),
        (Some("required"), true),
        (None, false),
    ] {
        client.ask(list(), NOW).unwrap();
        let (_, sent) = hear(&mut client).only();
        let mut tool = json!({"name": "build", "inputSchema": {"type": "object"}});
        if let Some(support) = support {
            tool["execution"] = json!({"taskSupport": support});
        }
        reaction(&mut client, &result(&sent["id"], json!({"tools": [tool]})));
        assert_eq!(asks_for_task(&mut client).1, expected, "{support:?}");
    }
    client.ask(call("build"), NOW).unwrap();
    let (_, sent) = hear(&mut client).only();
    assert_eq!(sent["params"].get("task"), None, "the call prefers none");
}

#[test]
fn what_a_server_asks_and_tells_about_a_task_belongs_to_its_call() {
    let mut client = of_tasks();
    client.ask(call("build"), NOW).unwrap();
    let (_, sent) = hear(&mut client).only();
    let (_, again) = reaction(&mut client, &error(&sent["id"], -32601, Value::Null)).only();
    let task = json!({"taskId": "t1", "status": "working", "createdAt": "2026-01-01T00:00:00Z",
        "lastUpdatedAt": "2026-01-01T00:00:00Z", "ttl": null});
    reaction(&mut client, &result(&again["id"], json!({"task": task})));
    let about = |client: &mut End, id: &str| {
        let meta = json!({"io.modelcontextprotocol/related-task": {"taskId": id}});
        let params = json!({"_meta": meta, "message": "who?", "requestedSchema": {"type": "object", "properties": {}}});
        let question =
            json!({"jsonrpc": "2.0", "id": id, "method": "elicitation/create", "params": params});
        say(client, &question);
        asked(client).remove(0).about
    };
    assert!(about(&mut client, "t1").is_some());
    assert_eq!(about(&mut client, "another"), None);
    assert_eq!(client.pending(), 1);
}

#[test]
fn an_application_without_tasks_sees_tools_that_only_run_as_tasks() {
    let options = options(Channel::Stdio).with_tasks();
    let mut client = open(Revision::V2026_07_28, options);
    settle(&mut client, "2025-11-25");
    client.ask(list(), NOW).unwrap();
    let (_, sent) = hear(&mut client).only();
    let tool = json!({"name": "build", "inputSchema": {"type": "object"}, "execution": {"taskSupport": "required"}});
    let tools = reaction(&mut client, &result(&sent["id"], json!({"tools": [tool]})))
        .answer()
        .unwrap();
    assert_eq!(tools["tools"][0]["name"], "build", "{tools}");
    assert_eq!(tools["tools"][0].get("execution"), None);
}

#[test]
fn a_client_that_takes_no_tasks_declares_none_and_is_given_none() {
    let mut client = open(Revision::V2025_11_25, options(Channel::Stdio));
    settle(&mut client, "2026-07-28");
    client.ask(call("build"), NOW).unwrap();
    let (_, sent) = hear(&mut client).only();
    assert!(!sent.to_string().contains(EXTENSION), "{sent}");
    let mut answers = reaction(&mut client, &result(&sent["id"], task("working"))).answers();
    let (_, answer) = answers.remove(0);
    assert!(matches!(answer, Answer::Failed(_)), "{answer:?}");
}

#[test]
fn a_client_declares_tasks_to_servers_of_the_extension_and_not_to_those_that_have_it_in_their_core()
{
    for (core, declares) in [
        (RevisionSet::none(), true),
        (RevisionSet::none().with(Revision::LATEST), false),
    ] {
        let options = options(Channel::Stdio).with_tasks();
        let mut client = open(Revision::V2025_11_25, options.with_extension_in_core(core));
        settle(&mut client, Revision::LATEST.protocol_version());
        client.ask(call("build"), NOW).unwrap();
        let (_, sent) = hear(&mut client).only();
        let capabilities = |message: &Value| {
            let meta = &message["params"]["_meta"];
            meta["io.modelcontextprotocol/clientCapabilities"].clone()
        };
        let declared =
            |message: &Value| capabilities(message)["extensions"].get(EXTENSION).is_some();
        assert_eq!(declared(&sent), declares, "{sent}");
        assert_eq!(capabilities(&sent).get("extensions").is_some(), declares);
        // The task is followed all the same, and each look at it says as much.
        say(&mut client, &result(&sent["id"], task("working")));
        let at = client.wake_at().expect("a time to look");
        client.wake(at);
        let (_, look) = hear(&mut client).only();
        assert_eq!(look["method"], "tasks/get");
        assert_eq!(declared(&look), declares, "{look}");
        let content =
            json!({"resultType": "complete", "content": [{"type": "text", "text": "done"}]});
        let done = state("completed", json!({"result": content}));
        let answer = reaction(&mut client, &result(&look["id"], done))
            .answer()
            .unwrap();
        assert_eq!(answer["content"][0]["text"], "done");
    }
}
