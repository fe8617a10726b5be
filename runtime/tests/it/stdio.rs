//! The server over stdio: one message a line, whatever the lines bring.

use crate::service::trace::Lines;
use crate::support::{handlers, profile_text, says};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use mcp_revisions::mcp_wire::Json;
use mcp_revisions::sansio::server::{IncomingRequest, Server};
use mcp_revisions::serve::{Handler, Peer};
use mcp_revisions::service::trace::ToClient;
use mcp_revisions::service::{RequestContext, Router};
use mcp_revisions::{Latest, Limits, Revision, stdio};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tracing_subscriber::layer::SubscriberExt as _;

async fn lines(server: Server, handler: impl Handler, input: &[u8]) -> Vec<Value> {
    let (mut to, input_end) = tokio::io::duplex(1 << 16);
    let (output_end, mut from) = tokio::io::duplex(1 << 16);
    let serving = crate::support::spawn(stdio::serve_on(server, handler, input_end, output_end));
    let input = input.to_vec();
    let writing = crate::support::spawn(async move {
        to.write_all(&input).await.unwrap();
        to.shutdown().await.unwrap();
    });
    let mut output = String::new();
    from.read_to_string(&mut output).await.unwrap();
    writing.await.unwrap();
    serving.await.unwrap().unwrap();
    assert!(output.is_empty() || output.ends_with('\n'));
    output
        .lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("no message: {line}")))
        .collect()
}

fn by_id(messages: &[Value], id: i64) -> &Value {
    let mut found = messages.iter().filter(|message| message["id"] == id);
    let message = found
        .next()
        .unwrap_or_else(|| panic!("no answer to {id}: {messages:?}"));
    assert!(found.next().is_none(), "two answers to {id}");
    message
}

fn per_request(id: i64, name: &str) -> String {
    let meta = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}, "progressToken": id});
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": name, "arguments": {"a": 1, "b": 2}, "_meta": meta}}).to_string()
}

#[tokio::test]
async fn a_stream_that_only_its_client_could_end_ends_with_its_input() {
    let listen = per_request(1, "t")
        .replace("tools/call", "subscriptions/listen")
        .replace(
            r#""name":"t""#,
            r#""notifications":{"toolsListChanged":true}"#,
        );
    let handler = |call: IncomingRequest, _: Peer| async move {
        assert_eq!(call.method, "subscriptions/listen");
        std::future::pending::<()>().await;
        Ok(Json::null())
    };
    let profile = profile_text(r#"{"tools":{"listChanged":true}}"#);
    let server = Server::new(Revision::LATEST, profile).unwrap();
    let said = lines(server, handler, listen.as_bytes());
    let said = tokio::time::timeout(Duration::from_secs(20), said).await;
    said.expect("the stream keeps the server");
}

#[tokio::test]
async fn every_request_has_its_line_whatever_comes_between() {
    let input = [
        per_request(1, "add"),
        String::new(),
        "not json".to_owned(),
        "   ".to_owned(),
        r#"{"jsonrpc":"2.0","id":2,"method":"initialize","params":{"protocolVersion":"2024-11-05","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#.to_owned(),
        "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"tools/list\"}\r".to_owned(),
        "\u{feff}{}".to_owned(),
        per_request(4, "pixel"),
        // The last one without a line end.
        r#"{"jsonrpc":"2.0","id":5,"method":"ping"}"#.to_owned(),
    ];
    let answers = lines(
        handlers::server().unwrap(),
        handlers::handle,
        input.join("\n").as_bytes(),
    )
    .await;
    assert_eq!(answers.len(), 7, "{answers:?}");
    assert_eq!(by_id(&answers, 1)["result"]["resultType"], "complete");
    assert_eq!(
        by_id(&answers, 2)["result"]["protocolVersion"],
        "2024-11-05"
    );
    assert_eq!(
        by_id(&answers, 3)["result"]["tools"][0].get("title"),
        None,
        "2024-11-05 has no titles"
    );
    assert_eq!(by_id(&answers, 4)["result"]["content"][0]["type"], "image");
    assert_eq!(by_id(&answers, 5)["result"], json!({}));
    let refused = |code: i64| answers.iter().filter(move |it| it["error"]["code"] == code);
    assert_eq!(refused(-32700).count(), 1);
    assert_eq!(refused(-32600).count(), 1, "behind its mark it is JSON");
}

#[tokio::test]
async fn mistakes_of_a_client_that_are_not_answered_are_reported() {
    let reports = Arc::new(Mutex::new(Vec::new()));
    let report = Arc::clone(&reports);
    let server = handlers::server().unwrap();
    let server = server.on_mistake(move |it| report.lock().unwrap().push(it.to_string()));
    let input = r#"{"jsonrpc":"2.0","id":77,"result":{}}"#;
    assert!(
        lines(server, handlers::handle, input.as_bytes())
            .await
            .is_empty()
    );
    let reports = reports.lock().unwrap();
    assert!(
        reports.len() == 1 && reports[0].contains("77"),
        "{reports:?}"
    );
}

#[tokio::test]
async fn a_byte_order_mark_before_the_first_message_is_skipped() {
    let input = format!("\u{feff}{}\r\n", per_request(1, "add"));
    let server = handlers::server().unwrap();
    let answers = lines(server, handlers::handle, input.as_bytes()).await;
    assert_eq!(by_id(&answers, 1)["result"]["resultType"], "complete");
}

#[tokio::test]
async fn a_line_that_is_too_long_is_refused_and_the_next_one_read() {
    let limits = Limits {
        max_message_bytes: 1000,
        ..Limits::default()
    };
    let server = handlers::server().unwrap().with_limits(limits);
    let input = format!("{}\n{}\n", "x".repeat(5_000_000), per_request(1, "add"));
    let answers = lines(server, handlers::handle, input.as_bytes()).await;
    assert_eq!(answers.len(), 2);
    says(&answers[0]["error"]["message"], "1000");
    assert_eq!(by_id(&answers, 1)["result"]["content"][0]["text"], "3");
}

#[tokio::test]
async fn line_breaks_in_opaque_json_do_not_break_the_line() {
    let handler = |_: IncomingRequest, _: Peer| async {
        Ok(Json::from_text("{\"content\":[],\n\"structuredContent\":{\"a\":\r\n1}}").unwrap())
    };
    let answers = lines(
        handlers::server().unwrap(),
        handler,
        per_request(1, "x").as_bytes(),
    )
    .await;
    assert_eq!(
        by_id(&answers, 1)["result"]["structuredContent"],
        json!({"a": 1})
    );
}

#[tokio::test]
async fn progress_comes_before_the_answer_and_only_if_it_was_asked_for() {
    let silent = r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"count","arguments":{"to":5}}}"#;
    let answers = lines(
        handlers::server().unwrap(),
        handlers::handle,
        per_request(1, "count").as_bytes(),
    )
    .await;
    let kinds: Vec<_> = answers
        .iter()
        .map(|message| message["method"].as_str().unwrap_or("answer"))
        .collect();
    assert_eq!(
        kinds,
        [
            "notifications/progress",
            "notifications/progress",
            "notifications/progress",
            "answer"
        ]
    );
    let answers = lines(
        handlers::server().unwrap(),
        handlers::handle,
        silent.as_bytes(),
    )
    .await;
    assert!(
        answers
            .iter()
            .all(|message| message["method"] != "notifications/progress"),
        "{answers:?}"
    );
    assert_eq!(by_id(&answers, 2)["result"]["content"][0]["text"], "done");
}

#[tokio::test]
async fn a_handler_that_waits_for_a_client_that_is_gone_ends() {
    let handler = |_: IncomingRequest, peer: Peer| async move {
        let error = peer.ask("roots/list", None).await.unwrap_err();
        Ok(Json::from(
            json!({"content": [{"type": "text", "text": error.message}]}),
        ))
    };
    let input = [
        r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{"roots":{}},"clientInfo":{"name":"t","version":"1"}}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"x"}}"#,
    ];
    let answers = lines(
        handlers::server().unwrap(),
        handler,
        input.join("\n").as_bytes(),
    )
    .await;
    assert_eq!(
        by_id(&answers, 2)["result"]["content"][0]["text"],
        "the client is gone"
    );
}

#[tokio::test]
async fn a_cancelled_call_is_not_answered() {
    let handler = |_: IncomingRequest, _: Peer| async {
        std::future::pending::<()>().await;
        Ok(Json::null())
    };
    let cancel = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#;
    let input = format!(
        "{}\n{cancel}\n{{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"server/discover\"}}",
        per_request(1, "x")
    );
    let answers = lines(handlers::server().unwrap(), handler, input.as_bytes()).await;
    assert_eq!(answers.len(), 1, "{answers:?}");
    assert_eq!(answers[0]["id"], 2);
}

#[tokio::test]
async fn a_handler_that_has_asked_a_client_that_then_goes_ends() {
    let handler = |_: IncomingRequest, peer: Peer| async move {
        let error = peer.ask("roots/list", None).await.unwrap_err();
        Ok(Json::from(
            json!({"content": [{"type": "text", "text": error.message}]}),
        ))
    };
    let (mut to, input) = tokio::io::duplex(1 << 16);
    let (output, from) = tokio::io::duplex(1 << 16);
    crate::support::spawn(stdio::serve_on(
        handlers::server().unwrap(),
        handler,
        input,
        output,
    ));
    let said = [
        r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{"roots":{}},"clientInfo":{"name":"t","version":"1"}}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"x"}}"#,
        "",
    ];
    to.write_all(said.join("\n").as_bytes()).await.unwrap();
    let mut lines = BufReader::new(from).lines();
    // It goes once the question is there, and not before.
    loop {
        let line = lines.next_line().await.unwrap().unwrap();
        if line.contains("roots/list") {
            break;
        }
    }
    drop(to);
    let rest = tokio::time::timeout(Duration::from_secs(10), lines.next_line());
    let answer = rest.await.expect("it waits for ever").unwrap().unwrap();
    assert!(answer.contains("the client is gone"), "{answer}");
}

#[tokio::test(start_paused = true)]
async fn a_call_at_work_is_cancelled_and_answered_once_its_client_has_left() {
    let (cancelled, mut ended) = tokio::sync::mpsc::unbounded_channel();
    struct Guard(Peer, tokio::sync::mpsc::UnboundedSender<bool>);
    impl Drop for Guard {
        fn drop(&mut self) {
            let _ = self.1.send(self.0.cancellation().is_some());
        }
    }
    let handler = move |_: IncomingRequest, peer: Peer| {
        let guard = Guard(peer, cancelled.clone());
        async move {
            let _guard = guard;
            std::future::pending::<()>().await;
            Ok(Json::null())
        }
    };
    let server = handlers::server().unwrap();
    let answers = lines(server, handler, per_request(1, "x").as_bytes()).await;
    let error = &by_id(&answers, 1)["error"]["message"];
    assert!(
        error.as_str().unwrap().contains("the server ended"),
        "{error}"
    );
    assert_eq!(ended.recv().await, Some(true), "it can tell why it ends");
}

#[tokio::test]
async fn what_nobody_reads_holds_up_whoever_says_it() {
    let said = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&said);
    let handler = move |call: IncomingRequest, peer: Peer| {
        let said = Arc::clone(&counted);
        async move {
            let token: Value = call.progress_token.unwrap().parse().unwrap();
            for step in 0..100_000 {
                let progress = json!({"progressToken": token, "progress": step});
                let _ = (peer.notify("notifications/progress", Some(&Json::from(progress)))).await;
                said.fetch_add(1, Ordering::SeqCst);
            }
            Ok(Json::from(json!({"content": []})))
        }
    };
    let (mut to, input) = tokio::io::duplex(1 << 16);
    let (output, from) = tokio::io::duplex(1 << 10);
    let serving = crate::support::spawn(stdio::serve_on(
        handlers::server().unwrap(),
        handler,
        input,
        output,
    ));
    // A token as long as they may be, in every notification.
    let token = "t".repeat(1_000);
    let call = per_request(1, "x").replace(
        r#""progressToken":1"#,
        &format!(r#""progressToken":"{token}""#),
    );
    to.write_all(format!("{call}\n").as_bytes()).await.unwrap();
    let mut before = 0;
    loop {
        tokio::time::sleep(Duration::from_millis(100)).await;
        let now = said.load(Ordering::SeqCst);
        if now == before && now > 0 {
            break;
        }
        before = now;
    }
    assert!(
        before < 1_000,
        "{before} notifications of 1 KB wait for nobody"
    );
    drop((to, from));
    let _ = tokio::time::timeout(Duration::from_secs(10), serving).await;
}

#[tokio::test]
async fn a_thousand_questions_that_were_given_up_do_not_keep_the_next_from_being_asked() {
    let handler = |_: IncomingRequest, peer: Peer| async move {
        for _ in 0..1_500 {
            let ask = peer.ask("roots/list", None);
            // It is asked, and not waited for.
            let _ = tokio::time::timeout(Duration::from_millis(1), ask).await;
        }
        let answer = peer.ask("roots/list", None).await?;
        Ok(Json::from(
            json!({"content": [{"type": "text", "text": answer.text()}]}),
        ))
    };
    let (mut to, input) = tokio::io::duplex(1 << 16);
    let (output, from) = tokio::io::duplex(1 << 16);
    crate::support::spawn(stdio::serve_on(
        handlers::server().unwrap(),
        handler,
        input,
        output,
    ));
    let said = [
        r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{"roots":{}},"clientInfo":{"name":"t","version":"1"}}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"x"}}"#,
        "",
    ];
    to.write_all(said.join("\n").as_bytes()).await.unwrap();
    let mut lines = BufReader::new(from).lines();
    let (mut asked, mut taken_back) = (Vec::new(), 0);
    let answer = loop {
        let line = tokio::time::timeout(Duration::from_secs(1), lines.next_line()).await;
        let Ok(line) = line else {
            // All but the last are given up, and that one waits.
            let roots = json!({"jsonrpc": "2.0", "id": asked.last(), "result": {"roots": []}});
            to.write_all(format!("{roots}\n").as_bytes()).await.unwrap();
            continue;
        };
        let message: Value = serde_json::from_str(&line.unwrap().unwrap()).unwrap();
        match message["method"].as_str() {
            Some("roots/list") => asked.push(message["id"].clone()),
            Some("notifications/cancelled") => taken_back += 1,
            _ if message["id"] == 2 => break message,
            _ => {}
        }
    };
    assert!(
        taken_back > 1_000 && asked.len() == taken_back + 1,
        "{taken_back}"
    );
    says(&answer["result"]["content"][0]["text"], "roots");
}

/// A client that asks and does not read: what is kept for it has a bound, and it reads why it got no more.
#[tokio::test]
async fn what_a_client_does_not_read_has_a_bound() {
    const CALLS: usize = 40;
    const LONG: usize = 256 << 10;
    let limits = Limits {
        max_message_bytes: 4 * LONG,
        ..Limits::default()
    };
    let called = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&called);
    // All of them are at work before the first one answers.
    let handler = move |_: IncomingRequest, _: Peer| {
        let count = Arc::clone(&count);
        async move {
            count.fetch_add(1, Ordering::SeqCst);
            while count.load(Ordering::SeqCst) < CALLS {
                tokio::task::yield_now().await;
            }
            let long = "x".repeat(LONG);
            Ok(Json::from(
                json!({"content": [{"type": "text", "text": long}]}),
            ))
        }
    };
    let (mut to, input) = tokio::io::duplex(1 << 16);
    let (output, mut from) = tokio::io::duplex(1 << 10);
    let server = handlers::server().unwrap().with_limits(limits);
    let serving = crate::support::spawn(stdio::serve_on(server, handler, input, output));
    for id in 0..CALLS {
        let call = per_request(id as i64, "add") + "\n";
        to.write_all(call.as_bytes()).await.unwrap();
    }
    while called.load(Ordering::SeqCst) < CALLS {
        tokio::task::yield_now().await;
    }
    // Each of them has answered by then.
    for _ in 0..1_000 {
        tokio::task::yield_now().await;
    }
    drop(to);
    let mut read = String::new();
    from.read_to_string(&mut read).await.unwrap();
    serving.await.unwrap().unwrap();
    assert_eq!(read.lines().count(), CALLS, "each has its answer");
    let kept = 4 * limits.max_message_bytes;
    assert!(read.len() < kept + LONG, "{} bytes were kept", read.len());
    let refused = read.lines().filter(|line| line.contains("has not read"));
    assert!(refused.count() > 0);
}

const OPENING: [&str; 3] = [
    r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{"roots":{}},"clientInfo":{"name":"t","version":"1"}}}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
    r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"x"}}"#,
];

/// The messages about a session come in order and before the answer that follows them, however late they are read.
#[tokio::test]
async fn nothing_overtakes_what_waits_for_its_reader_and_what_finds_no_room_is_reported() {
    let dropped = Lines::new("a message to a client was dropped", "method");
    let subscriber = tracing_subscriber::registry().with(dropped.clone());
    let _guard = tracing::subscriber::set_default(subscriber);
    // The queue has room for less than 400 of them, and 64 more are set aside.
    let fits = 420;
    for sent in std::iter::once(fits).chain(std::iter::repeat_n(2_000, 20)) {
        let handler = move |_: IncomingRequest, peer: Peer| async move {
            let session = peer.session();
            for number in 0..sent {
                let long = "x".repeat(1_000);
                let log = json!({"level": "error", "data": {"number": number, "long": long}});
                session.notify("notifications/message", Some(&Json::from(log)));
            }
            Ok(Json::from(json!({"content": []})))
        };
        let input = OPENING.join("\n");
        let server = handlers::server().unwrap();
        let mut said = lines(server, handler, input.as_bytes()).await;
        assert_eq!(said.pop().unwrap()["id"], 2, "the answer is the last");
        let numbers = said
            .iter()
            .filter_map(|it| it["params"]["data"]["number"].as_i64());
        let numbers: Vec<_> = numbers.collect();
        assert!(numbers.is_sorted(), "{numbers:?}");
        assert_eq!(numbers.len() == sent, sent == fits, "{}", numbers.len());
        // Of many in this process, few are reported.
        let reported = dropped.values.lock().unwrap().pop();
        if let Some(method) = reported {
            assert_eq!((method.as_str(), sent), ("notifications/message", 2_000));
            return;
        }
    }
    panic!("no report in time");
}

/// The report may go to the client itself, whose connection must not be locked then.
#[test]
fn what_finds_no_room_is_reported_while_events_go_to_clients() {
    let floods = |cx: RequestContext<Latest>| async move {
        let session = cx.peer().map(Peer::session).ok_or("no call")?;
        let log = json!({"level": "error", "data": "x".repeat(1_000)});
        for _ in 0..2_000 {
            session.notify("notifications/message", Some(&Json::from(log.clone())));
        }
        Ok::<_, &str>("flooded")
    };
    let router = Router::new().tool("x", "Floods.", floods);
    let running = router.build("floods", "1").unwrap();
    let (tell, told) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let subscriber = tracing_subscriber::registry().with(ToClient);
        let _guard = tracing::subscriber::set_default(subscriber);
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build();
        let served = runtime.unwrap().block_on(async {
            let (output, mut from) = tokio::io::duplex(16 << 20);
            let input = OPENING.join("\n");
            running.lines(input.as_bytes(), output).await.unwrap();
            let mut said = String::new();
            from.read_to_string(&mut said).await.unwrap();
            said
        });
        tell.send(served).unwrap();
    });
    let said = told.recv_timeout(Duration::from_secs(60));
    let said = said.expect("the handler waits for itself");
    assert!(
        said.lines().any(|line| line.contains("flooded")),
        "no answer"
    );
}

/// An input that breaks in the place of its end.
struct Broken(tokio::io::DuplexStream);

impl tokio::io::AsyncRead for Broken {
    fn poll_read(
        self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
        bytes: &mut tokio::io::ReadBuf<'_>,
    ) -> std::task::Poll<std::io::Result<()>> {
        let before = bytes.filled().len();
        let read = std::pin::Pin::new(&mut self.get_mut().0).poll_read(context, bytes);
        read.map_ok(|()| bytes.filled().len() > before)
            .map(|read| match read? {
                true => Ok(()),
                false => Err(std::io::ErrorKind::ConnectionReset.into()),
            })
    }
}

#[tokio::test]
async fn a_handler_that_has_asked_a_client_whose_input_breaks_ends() {
    let (at_work, mut ended) = tokio::sync::mpsc::channel::<()>(1);
    let handler = move |_: IncomingRequest, peer: Peer| {
        let at_work = at_work.clone();
        async move {
            let _at_work = at_work;
            peer.ask("roots/list", None).await
        }
    };
    let (mut to, input) = tokio::io::duplex(1 << 16);
    let (output, from) = tokio::io::duplex(1 << 16);
    let server = handlers::server().unwrap();
    let serving = crate::support::spawn(stdio::serve_on(server, handler, Broken(input), output));
    let said = OPENING.join("\n") + "\n";
    to.write_all(said.as_bytes()).await.unwrap();
    let mut lines = BufReader::new(from).lines();
    while !lines
        .next_line()
        .await
        .unwrap()
        .unwrap()
        .contains("roots/list")
    {}
    drop(to);
    let broken = serving.await.unwrap().unwrap_err();
    assert_eq!(broken.kind(), std::io::ErrorKind::ConnectionReset);
    // Each handler has a sender.
    let ended = tokio::time::timeout(Duration::from_secs(10), ended.recv()).await;
    assert_eq!(ended.expect("the handler waits for ever"), None);
}
