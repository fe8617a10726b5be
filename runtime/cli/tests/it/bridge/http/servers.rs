//! Which server a client has, and when that one starts and ends.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::Command;
use std::sync::mpsc::channel;
use std::thread;
use std::time::{Duration, Instant};

use mcp_revisions::sansio::client::OutgoingRequest;
use mcp_revisions_core::Revision;
use serde_json::{Value, json};

use crate::bridge::several::{self, File, definition};
use crate::bridge::talk::{PATIENCE, bridge_to, peer};
use crate::mcp_rev;

use super::{
    LISTENING, bridged, call, call_in, exchange, in_session, initialize, listening, listening_with,
    port_of, post, serving, session_of,
};

/// Sessions have a server each, and so have per-request clients that say different things of themselves.
#[test]
fn each_client_has_a_server_of_its_own() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("own-servers");
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    let record = folder.join("talk.jsonl");
    let options = ["--record", record.to_str().unwrap()];
    let (_child, port) = listening_with(&options, Revision::V2025_06_18);
    let ok = |answer: &str| answer.contains("\"text\":\"3\"");
    for name in ["one", "one", "two"] {
        let answer = post(port, Revision::LATEST, &call(name, "add"));
        assert!(ok(&answer), "{answer}");
    }
    let talks = || std::fs::read_dir(&folder).unwrap().count();
    assert_eq!(talks(), 2, "those who say the same share a server");
    // One takes its server with it; the other one's lives, and a new one is there for the first.
    let died = post(port, Revision::LATEST, &call("one", "die"));
    assert!(died.contains("-32603"), "{died}");
    for name in ["two", "one"] {
        let answer = post(port, Revision::LATEST, &call(name, "add"));
        assert!(ok(&answer), "{answer}");
    }
    assert_eq!(talks(), 3);
    let healthy = exchange(port, "GET /healthz", "", "");
    assert!(
        healthy.starts_with("HTTP/1.1 200") && healthy.ends_with("ok"),
        "{healthy}"
    );
    // Sessions: what one has subscribed to, the other does not hear of.
    let url = format!("http://127.0.0.1:{port}/mcp");
    let session = || bridged(Revision::V2025_11_25, &url, &["--log", "off"]);
    let (mut first, mut second) = (session(), session());
    let uri = json!({ "uri": "file:///hello" });
    let subscribed = first.ask(OutgoingRequest::new(
        "resources/subscribe",
        Some(uri.into()),
    ));
    first.answers(&[subscribed]);
    let touched = second.tool("touch");
    second.answers(&[touched]);
    assert!(first.told.is_empty(), "{:?}", first.told);
    let touched = first.tool("touch");
    first.answers(&[touched]);
    assert_eq!(
        first.hears("notifications/resources/updated")["uri"],
        "file:///hello"
    );
    for talk in [first, second] {
        assert_eq!(talk.ends().0, Some(0));
    }
}

/// Who finds no room is told so at once, and a session that is over takes its server with it.
#[test]
fn a_session_that_is_over_makes_room_for_another() {
    let (_child, port) = listening_with(&["--max-servers", "1"], Revision::V2025_06_18);
    let opened = || session_of(&in_session(port, None, Some(&initialize())));
    let first = opened().unwrap();
    assert!(call_in(port, &first, "add").contains("\"3.5\""));
    let refused = in_session(port, None, Some(&initialize()));
    assert!(refused.starts_with("HTTP/1.1 503"), "{refused}");
    assert!(refused.contains("\"id\":1"), "{refused}");
    let left = in_session(port, Some(&first), None);
    assert!(left.starts_with("HTTP/1.1 2"), "{left}");
    let second = opened().unwrap();
    assert!(call_in(port, &second, "add").contains("\"3.5\""));
}

/// A client that is gone without a word does not hold its server for ever.
#[test]
fn a_session_on_which_nothing_is_said_is_ended() {
    let options = ["--max-servers", "1", "--idle-timeout", "1"];
    let (_child, port) = listening_with(&options, Revision::V2025_06_18);
    ends_when_idle(port, "add");
    let servers = json!({ "one": definition(Revision::V2025_06_18, Path::new("idle")) });
    let file = File::new("idle", &servers);
    let combined = [&["--combine"], &options[..]].concat();
    let (_bridge, port, _lines) = several::listening(&file, &combined);
    ends_when_idle(port, "one_add");
}

/// There is room for one session, which is over once nothing is said on it.
fn ends_when_idle(port: u16, tool: &str) {
    let opened = || session_of(&in_session(port, None, Some(&initialize())));
    let first = opened().unwrap();
    assert!(call_in(port, &first, tool).contains("\"3.5\""));
    assert_eq!(opened(), None);
    // After 60 seconds one that says nothing makes room, however long it may be idle.
    let deadline = Instant::now() + PATIENCE / 2;
    while opened().is_none() {
        assert!(Instant::now() < deadline, "it holds the only server");
        thread::sleep(Duration::from_millis(50));
    }
}

/// What many clients can do.
fn able() -> Value {
    let mut opening = initialize();
    let roots = json!({ "listChanged": true });
    opening["params"]["capabilities"] =
        json!({ "elicitation": {}, "sampling": {}, "roots": roots });
    opening
}

/// The bridge starts no server before its first client, and one server for that client, with or without capabilities.
#[test]
fn a_listener_starts_no_server_in_vain() {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("started-by-listener");
    for server in [Revision::V2025_11_25, Revision::LATEST] {
        for [first, second] in [[able(), initialize()], [initialize(), able()]] {
            let _ = std::fs::remove_file(&file);
            let own = ["--started", file.to_str().unwrap()];
            let (_child, port) = port_of(bridge_to(&LISTENING, server, &own));
            let started = || std::fs::read_to_string(&file).map_or(0, |it| it.lines().count());
            // None of these is a client.
            exchange(port, "GET /healthz", "", "");
            exchange(port, "GET /mcp", "", "");
            exchange(port, "POST /mcp", "", "{}");
            exchange(
                port,
                "POST /mcp",
                "Origin: https://evil.example\r\n",
                &first.to_string(),
            );
            assert_eq!(started(), 0, "{server}");
            let session = session_of(&in_session(port, None, Some(&first))).unwrap();
            assert!(call_in(port, &session, "add").contains("\"3.5\""));
            assert_eq!(started(), 1, "{server}");
            // The capabilities of another one are not sent to a server that has a client.
            let session = session_of(&in_session(port, None, Some(&second))).unwrap();
            assert!(call_in(port, &session, "add").contains("\"3.5\""));
            assert_eq!(started(), 2, "{server}");
        }
    }
}

/// A web server that hands everything on to another one, and the methods of HTTP that it has seen.
fn spied(url: &str) -> (String, std::sync::mpsc::Receiver<String>) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let spy = format!("http://{}/mcp", listener.local_addr().unwrap());
    let address = url.trim_start_matches("http://").trim_end_matches("/mcp");
    let address = address.to_owned();
    let (tell, told) = channel();
    thread::spawn(move || {
        while let Ok((mut client, _)) = listener.accept() {
            let mut server = TcpStream::connect(&address).unwrap();
            let (mut from, mut to) = (server.try_clone().unwrap(), client.try_clone().unwrap());
            thread::spawn(move || {
                let _ = std::io::copy(&mut from, &mut to);
                let _ = to.shutdown(std::net::Shutdown::Both);
            });
            let tell = tell.clone();
            thread::spawn(move || {
                let mut chunk = [0; 1 << 16];
                while let Ok(count @ 1..) = client.read(&mut chunk) {
                    let text = String::from_utf8_lossy(&chunk[..count]);
                    if text.starts_with("DELETE") {
                        let _ = tell.send(text.into_owned());
                    }
                    if server.write_all(&chunk[..count]).is_err() {
                        break;
                    }
                }
                let _ = server.shutdown(std::net::Shutdown::Both);
            });
        }
    });
    (spy, told)
}

/// The client is answered with the reason, and so is the next one.
#[test]
fn a_listener_whose_server_cannot_be_used_tells_each_client_why() {
    let child = mcp_rev("bridge")
        .args(LISTENING)
        .args(["--", "/no/such/program"])
        .spawn()
        .unwrap();
    let (_child, port) = port_of(child);
    for _ in 0..2 {
        let answer = in_session(port, None, Some(&initialize()));
        assert!(answer.contains("cannot start /no/such/program"), "{answer}");
        assert!(answer.contains("\"id\":1"), "{answer}");
    }
}

/// Some servers end for all with the first session that is left.
#[test]
fn no_session_of_a_server_at_a_url_is_left_before_its_client_leaves() {
    for opening in [initialize(), able()] {
        let (_server, url) = serving(Revision::V2025_03_26);
        let (url, left) = spied(&url);
        let child = mcp_rev("bridge").args(LISTENING).arg(&url).spawn().unwrap();
        let (_child, port) = port_of(child);
        let session = session_of(&in_session(port, None, Some(&opening))).unwrap();
        assert!(call_in(port, &session, "add").contains("\"3.5\""));
        assert!(left.try_recv().is_err(), "nobody has left yet");
        in_session(port, Some(&session), None);
        let left = left.recv_timeout(PATIENCE).unwrap();
        assert!(left.to_lowercase().contains("mcp-session-id"), "{left}");
    }
}

/// Over HTTP as over standard streams: the call ends, and others go on.
#[test]
fn an_answer_over_http_that_is_too_long_is_an_error() {
    for server in [Revision::V2025_06_18, Revision::LATEST] {
        let (_server, url) = serving(server);
        let mut talk = bridged(Revision::V2025_11_25, &url, &["--log", "off"]);
        let endless = talk.tool("endless");
        let answers = talk.answers(&[endless]);
        let told = format!("{:?}", answers[&endless]);
        assert!(told.contains("16777216"), "{server}: {told}");
        talk.adds();
    }
}

/// What a session was subscribed to is gone with its server: its client is told, and begins a new one.
#[test]
fn a_client_whose_server_dies_is_told_to_begin_anew() {
    let (_child, port) = listening(Revision::V2025_06_18);
    let session = session_of(&in_session(port, None, Some(&initialize()))).unwrap();
    let opened = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    in_session(port, Some(&session), Some(&opened));
    let died = call_in(port, &session, "die");
    assert!(died.contains("-32603"), "{died}");
    let deadline = Instant::now() + PATIENCE;
    loop {
        let answer = call_in(port, &session, "add");
        if answer.starts_with("HTTP/1.1 404") {
            break;
        }
        assert!(Instant::now() < deadline, "{answer}");
        thread::sleep(Duration::from_millis(20));
    }
    // One of the per-request lifecycle listens on a stream: that ends.
    let mut listen = call("one", "");
    listen["method"] = "subscriptions/listen".into();
    listen["params"].as_object_mut().unwrap().remove("name");
    listen["params"]
        .as_object_mut()
        .unwrap()
        .remove("arguments");
    let resources = json!({ "resourceSubscriptions": ["file:///hello"] });
    listen["params"]["notifications"] = resources;
    let (told, ended) = channel();
    let listening = thread::spawn(move || {
        let answer = post(port, Revision::LATEST, &listen);
        let _ = told.send(());
        answer
    });
    let deadline = Instant::now() + PATIENCE;
    loop {
        let died = post(port, Revision::LATEST, &call("one", "die"));
        assert!(died.contains("-32603"), "{died}");
        if ended.recv_timeout(Duration::from_millis(500)).is_ok() {
            break;
        }
        assert!(Instant::now() < deadline, "the stream is open and mute");
    }
    let said = listening.join().unwrap();
    assert!(said.contains("acknowledged"), "{said}");
}

/// As many names as a client likes, and no more servers than are its share.
#[test]
fn one_address_has_its_share_of_servers() {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("share");
    let _ = std::fs::remove_file(&file);
    let options = [&LISTENING[..], &["--max-servers-per-client", "2"]].concat();
    let own = ["--started", file.to_str().unwrap()];
    let (_child, port) = port_of(bridge_to(&options, Revision::V2025_06_18, &own));
    // The bridge ends servers that no client uses, to make room.
    for number in 0..5 {
        let name = format!("idle {number}");
        let answer = post(port, Revision::LATEST, &call(&name, "add"));
        assert!(answer.contains("\"text\":\"3\""), "{answer}");
    }
    for number in 0..2 {
        let body = call(&format!("busy {number}"), "sleep");
        // A client that finds no room tries again.
        thread::spawn(move || {
            while post(port, Revision::LATEST, &body).contains("are at work") {
                thread::sleep(Duration::from_millis(50));
            }
        });
    }
    let deadline = Instant::now() + PATIENCE;
    loop {
        let answer = post(port, Revision::LATEST, &call("one more", "add"));
        if answer.contains("2 servers are at work for this client") {
            break;
        }
        assert!(Instant::now() < deadline, "{answer}");
        thread::sleep(Duration::from_millis(20));
    }
}

/// The process of the server outlives its output, as one does that writes a core file or logs its end.
#[cfg(unix)]
#[test]
fn a_request_after_the_death_of_a_shared_server_goes_to_the_next_one() {
    let script = r#"exec 3>&1 >&2; "$0" --only 2025-06-18 >&3; exec 3>&-; sleep 0.7"#;
    let child = mcp_rev("bridge")
        .args(LISTENING)
        .args(["--", "sh", "-c", script])
        .arg(peer())
        .spawn()
        .unwrap();
    let (_child, port) = port_of(child);
    for _ in 0..3 {
        let died = post(port, Revision::LATEST, &call("one", "die"));
        assert!(died.contains("-32603"), "{died}");
        let answer = post(port, Revision::LATEST, &call("one", "add"));
        assert!(answer.contains("\"text\":\"3\""), "{answer}");
        // A session has state on its server, and gets no other one.
        let session = session_of(&in_session(port, None, Some(&initialize()))).unwrap();
        assert!(call_in(port, &session, "add").contains("\"3.5\""));
        let died = call_in(port, &session, "die");
        assert!(died.contains("-32603"), "{died}");
        let answer = call_in(port, &session, "add");
        assert!(!answer.contains("\"3.5\""), "{answer}");
    }
}

/// A balancer that asks is told so, over a connection that it has and a new one, as long as a request is open.
#[cfg(unix)]
#[test]
fn a_bridge_that_ends_says_so_until_its_last_request_is_done() {
    let (mut child, port) = listening(Revision::V2025_06_18);
    let connect = || {
        let stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream
    };
    let asks = |stream: &mut TcpStream, head: &str| {
        write!(stream, "{head}Host: localhost\r\n\r\n").unwrap();
        let mut answer = [0; 4096];
        let read = stream.read(&mut answer).unwrap();
        String::from_utf8_lossy(&answer[..read]).into_owned()
    };
    let look = "GET /healthz HTTP/1.1\r\n";
    let (mut kept, mut open) = (connect(), connect());
    assert!(asks(&mut kept, look).starts_with("HTTP/1.1 200"));
    // The bridge asks for the body, which does not come: the request is at work until its client hangs up.
    let half = "POST /mcp HTTP/1.1\r\nContent-Type: application/json\r\n\
                Accept: application/json, text/event-stream\r\nContent-Length: 2\r\nExpect: 100-continue\r\n";
    assert!(asks(&mut open, half).starts_with("HTTP/1.1 100"));
    let id = child.id().to_string();
    let sent = Command::new("kill").args(["-TERM", &id]).status().unwrap();
    assert!(sent.success());
    let deadline = Instant::now() + PATIENCE;
    while !asks(&mut kept, look).starts_with("HTTP/1.1 503") {
        assert!(Instant::now() < deadline, "it does not say so");
    }
    assert!(asks(&mut connect(), look).starts_with("HTTP/1.1 503"));
    let refused = post(port, Revision::LATEST, &call("one", "add"));
    assert!(refused.starts_with("HTTP/1.1 503"), "{refused}");
    drop(open);
    assert_eq!(child.wait().unwrap().code(), Some(0));
}
