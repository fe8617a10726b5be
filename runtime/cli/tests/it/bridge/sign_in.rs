//! The sign-in of a bridge to a server that wants one, and what is written of it: no log, record, error or list of processes has a
//! secret.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::Stdio;
use std::sync::mpsc::channel;
use std::thread;

use mcp_revisions_core::Revision;
use serde_json::json;

use super::guarded::{GUARDED, GuardedServer, SECRET, folder, open, request, run, run_in};
use super::http::{Program, exchange, post_with};
use super::several::told;
use crate::Run;
use crate::mcp_rev;

#[test]
fn a_sign_in_its_refresh_its_failure_and_its_end_leave_no_secret_in_logs_records_errors_or_processes()
 {
    let (server, folder) = (GuardedServer::start(), folder("sign-in-secrets"));
    let (url, path) = (server.url(), |name: &str| {
        folder.join(name).display().to_string()
    });
    let (store, record, losses) = (path("store"), path("record.jsonl"), path("losses.jsonl"));
    let mut written = String::new();
    let mut keep = |(run, listed): (Run, String), code: i32| {
        assert_eq!(run.code, code, "{} {}", run.out, run.err);
        written.push_str(&format!("{}\n{}\n{listed}\n", run.out, run.err));
        run
    };
    let client = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}});
    let opening = [
        request(1, "initialize", client),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        request(2, "tools/call", json!({"name": "hello", "arguments": {}})),
    ];
    let bridge = [
        "bridge",
        "--no-browser",
        "--log",
        "trace",
        "--auth-store",
        &store,
        "--record",
        &record,
        "--loss-log",
        &losses,
        &url,
    ];
    let signed_in = keep(run(&bridge, &opening), 0);
    assert!(
        signed_in.out.contains("\"hello\""),
        "{} {}",
        signed_in.out,
        signed_in.err
    );
    assert!(
        signed_in.err.contains("You are signed in"),
        "{}",
        signed_in.err
    );
    // Its token is withdrawn: the next bridge refreshes it, and shows no page.
    server.seen.lock().unwrap().withdrawn = 1;
    let refreshed = keep(run(&bridge, &opening), 0);
    assert!(
        refreshed.out.contains("\"hello\""),
        "{} {}",
        refreshed.out,
        refreshed.err
    );
    assert!(!refreshed.err.contains("signed in"), "{}", refreshed.err);
    assert_eq!(server.seen.lock().unwrap().tokens, 2);
    keep(run(&["auth", "status", "--auth-store", &store], &[]), 0);
    keep(
        run(&["auth", "status", "--json", "--auth-store", &store], &[]),
        0,
    );
    let check = keep(run(&["auth", "check", &url], &[]), 0);
    for foreseen in [
        "client: one that registers itself",
        "PKCE: S256",
        "scopes: read",
    ] {
        assert!(check.out.contains(foreseen), "{}", check.out);
    }
    let again = keep(run(&["login", "--auth-store", &store, &url], &[]), 0);
    assert!(again.out.starts_with("signed in already"), "{}", again.out);
    let out = keep(run(&["logout", "--auth-store", &store, &url], &[]), 0);
    let revoked = "; revoked: refresh token, access token";
    assert_eq!(out.out, format!("signed out of {url}{revoked}\n"));
    let revoked = server.seen.lock().unwrap().revoked.clone();
    assert_eq!(revoked, ["s3cret-refresh-2", "s3cret-access-2"]);
    // A sign-in that fails at its end, of a program without a store.
    server.seen.lock().unwrap().refuses_codes = true;
    let other = path("other");
    let failed = keep(
        run(
            &["login", "--no-browser", "--auth-store", &other, &url],
            &[],
        ),
        1,
    );
    assert!(failed.err.contains("invalid_grant"), "{}", failed.err);
    assert!(!failed.err.contains('\u{1b}'), "{}", failed.err);
    for file in [&record, &losses] {
        written.push_str(&std::fs::read_to_string(file).unwrap_or_default());
    }
    assert!(written.contains("tools/call"), "the record was not read");
    let mut secrets = server.seen.lock().unwrap().verifiers.clone();
    assert_eq!(secrets.len(), 1);
    secrets.push(SECRET.to_owned());
    for secret in secrets {
        let place = written.find(&secret);
        let around = place.map(|at| written[..at].lines().last().unwrap_or_default().to_owned());
        assert_eq!(around, None, "a secret behind this");
    }
    // What is kept until the end is the registration, in a file that only its owner reads.
    let kept = std::fs::read_dir(&store).unwrap();
    let texts = kept.filter_map(|entry| std::fs::read_to_string(entry.unwrap().path()).ok());
    let kept: String = texts.collect();
    assert!(
        kept.contains("s3cret-of-client") && !kept.contains("s3cret-refresh"),
        "{kept}"
    );
}

#[test]
fn a_person_who_signs_out_of_all_servers_is_told_for_each_and_no_file_stays() {
    let (one, other, folder) = (
        GuardedServer::start(),
        GuardedServer::start(),
        folder("sign-out-of-all"),
    );
    let store = folder.join("store").display().to_string();
    for server in [&one, &other] {
        let login = ["login", "--no-browser", "--auth-store", &store];
        let (signed_in, _) = run(&[&login[..], &[&server.url()]].concat(), &[]);
        assert_eq!(signed_in.code, 0, "{}", signed_in.err);
    }
    other.seen.lock().unwrap().refuses_revocations = true;
    let (out, _) = run(&["logout", "--all", "--auth-store", &store], &[]);
    assert_eq!(out.code, 0, "{} {}", out.out, out.err);
    let line = |server: &GuardedServer| {
        let begins = format!("signed out of {}", server.url());
        let mut lines = out.out.lines();
        let found = lines.find_map(|line| line.strip_prefix(&*begins));
        found.unwrap_or_else(|| panic!("{}", out.out)).to_owned()
    };
    assert_eq!(line(&one), "; revoked: refresh token, access token");
    let why = line(&other);
    assert!(
        why.contains("not revoked: access token (")
            && why.contains("503")
            && why.contains("valid for"),
        "{why}"
    );
    assert!(out.out.ends_with("removed: 2\n"), "{}", out.out);
    let revoked = one.seen.lock().unwrap().revoked.clone();
    assert_eq!(revoked, ["s3cret-refresh-1", "s3cret-access-1"]);
    let (status, _) = run(&["auth", "status", "--auth-store", &store], &[]);
    assert_eq!(status.out, "not signed in\n");
}

#[test]
fn a_bridge_without_a_folder_for_tokens_signs_in_and_says_that_they_are_not_stored() {
    let server = GuardedServer::start();
    let none = ["HOME", "XDG_STATE_HOME", "MCP_REV_AUTH_STORE"].map(|name| (name, ""));
    let client = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}});
    let talk = [
        request(1, "initialize", client),
        request(2, "tools/call", json!({"name": "hello", "arguments": {}})),
    ];
    let bridge = ["bridge", "--no-browser", "--loss-log", "off", &server.url()];
    let (signed_in, _) = run_in(&none, None, &bridge, &talk);
    assert_eq!(signed_in.code, 0, "{}", signed_in.err);
    assert!(signed_in.out.contains("\"hello\""), "{}", signed_in.out);
    for words in ["the tokens are not stored", "--auth-store"] {
        assert!(signed_in.err.contains(words), "{}", signed_in.err);
    }
    // A person signs in by hand only where that is of use.
    let (login, _) = run_in(&none, None, &["login", "--no-browser", &server.url()], &[]);
    assert!(
        login.code != 0 && login.err.contains("--auth-store"),
        "{}",
        login.err
    );
    assert_eq!(server.seen.lock().unwrap().tokens, 1);
}

#[test]
fn a_sign_in_that_takes_longer_than_a_call_waits_does_not_end_the_bridge() {
    let (server, folder) = (GuardedServer::start(), folder("sign-in-slow"));
    let store = folder.join("store").display().to_string();
    let mut bridge =
        mcp_rev("--color never bridge --no-browser --auth-wait 1 --loss-log off --auth-store")
            .args([&store, &server.url()])
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
    let mut to = bridge.stdin.take().unwrap();
    let mut from = BufReader::new(bridge.stdout.take().unwrap()).lines();
    let client = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}});
    let mut ask = |id| {
        writeln!(to, "{}", request(id, "initialize", client.clone())).unwrap();
        let line = from.next().unwrap().unwrap();
        serde_json::from_str::<serde_json::Value>(&line).unwrap()
    };
    let waits = ask(1);
    let url = waits["error"]["data"]["url"].as_str();
    let page = url.unwrap_or_else(|| panic!("{waits}")).to_owned();
    // The page is filled when no call waits for it any more.
    assert!(open(&page).contains("You are signed in"));
    let answer = ask(2);
    assert_eq!(
        answer["result"]["serverInfo"]["name"], "guarded",
        "{answer}"
    );
    assert_eq!(server.seen.lock().unwrap().tokens, 1);
    drop(to);
    assert!(bridge.wait().unwrap().success());
}

#[test]
fn a_person_at_another_machine_learns_the_port_and_pastes_the_address_at_which_the_browser_ended() {
    let (server, folder) = (GuardedServer::start(), folder("sign-in-pasted"));
    let store = folder.join("store").display().to_string();
    let mut login = mcp_rev("--color never login --auth-store")
        .args([&store, &server.url()])
        .env_remove("DISPLAY")
        .env_remove("WAYLAND_DISPLAY")
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(login.stderr.take().unwrap()).lines();
    let mut next = |start: &str| {
        let found = lines.find_map(|line| line.ok().filter(|line| line.starts_with(start)));
        found.unwrap_or_else(|| panic!("no line {start}"))
    };
    let page = next("http");
    let (_, port) = page.split_once("127.0.0.1%3A").unwrap();
    let port = port.split('%').next().unwrap();
    let words = next("for a browser on another machine");
    for expected in [
        format!("ssh -L {port}:127.0.0.1:{port}"),
        "--auth device".to_owned(),
    ] {
        assert!(words.contains(&expected), "{words}");
    }
    let host = server.origin.split('/').nth(2).unwrap();
    let path = page.split_once(host).unwrap().1;
    let answer = exchange(
        host.split(':').nth(1).unwrap().parse().unwrap(),
        &format!("GET {path}"),
        "",
        "",
    );
    let address = answer
        .lines()
        .find_map(|line| line.strip_prefix("Location: "));
    let mut input = login.stdin.take().unwrap();
    writeln!(input, "http://evil.example/callback?code=x").unwrap();
    assert!(next("expected").contains("127.0.0.1:PORT/callback"));
    writeln!(input, "{}", address.unwrap()).unwrap();
    let done = login.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&done.stdout);
    assert!(
        done.status.success() && said.starts_with("signed in: "),
        "{said}"
    );
}

#[test]
fn a_guarded_listener_asks_about_each_token_and_sends_its_server_only_credentials_of_its_own() {
    let server = GuardedServer::start();
    let (issuer, introspection) = (&server.origin, format!("{}/introspect", server.origin));
    let child = mcp_rev("--color never bridge --log trace --listen http://127.0.0.1:0/mcp --guard")
        .args([
            GUARDED,
            "--guard-issuer",
            issuer,
            "--guard-introspection",
            &introspection,
        ])
        .args([
            "--guard-client-id",
            "bridge",
            "--guard-client-secret-env",
            "GUARD_SECRET",
        ])
        .args([
            "--guard-scope",
            "use",
            "--header-env",
            "Authorization=UPSTREAM_TOKEN",
            &server.url(),
        ])
        .env("GUARD_SECRET", "s3cret-of-guard")
        .env("UPSTREAM_TOKEN", "Bearer s3cret-access-7")
        .stdin(Stdio::null())
        .spawn()
        .unwrap();
    let mut program = Program::of(child);
    let errors = BufReader::new(program.stderr.take().unwrap());
    let (line, lines) = channel();
    let reader = thread::spawn(move || {
        let mut all = String::new();
        for text in errors.lines().map_while(Result::ok) {
            all.push_str(&text);
            let _ = line.send(text);
        }
        all
    });
    let listens = told(&lines, "listening on http://127.0.0.1:");
    let port = listens.rsplit("127.0.0.1:").next().unwrap();
    let port: u16 = port.split('/').next().unwrap().parse().unwrap();
    let list = |token: &str| {
        let header = match token {
            "" => String::new(),
            token => format!("Authorization: Bearer {token}\r\n"),
        };
        let meta = json!({"io.modelcontextprotocol/protocolVersion": Revision::LATEST.protocol_version(),
            "io.modelcontextprotocol/clientCapabilities": {},
            "io.modelcontextprotocol/clientInfo": {"name": "c", "version": "1"}});
        post_with(
            port,
            Revision::LATEST,
            &header,
            &request(1, "tools/list", json!({"_meta": meta})),
        )
    };
    let metadata = "http://localhost:1/.well-known/oauth-protected-resource/mcp";
    let answer = list("");
    assert!(answer.starts_with("HTTP/1.1 401"), "{answer}");
    let challenge = format!("Bearer scope=\"use\", resource_metadata=\"{metadata}\"");
    assert!(answer.contains(&challenge), "{answer}");
    assert!(
        server.seen.lock().unwrap().credentials.is_empty(),
        "nobody was asked"
    );
    let document = exchange(
        port,
        "GET /.well-known/oauth-protected-resource/mcp",
        "",
        "",
    );
    assert!(
        document.starts_with("HTTP/1.1 200") && document.contains(GUARDED),
        "{document}"
    );
    for (token, status, error) in [
        ("s3cret-unknown", "401", "invalid_token"),
        ("s3cret-elsewhere", "401", "invalid_token"),
        ("s3cret-narrow", "403", "insufficient_scope"),
    ] {
        let answer = list(token);
        assert!(
            answer.starts_with(&format!("HTTP/1.1 {status}")),
            "{token}: {answer}"
        );
        assert!(answer.contains(error), "{token}: {answer}");
    }
    let basic = |it: &String| it.starts_with("basic ");
    let asked = std::mem::take(&mut server.seen.lock().unwrap().credentials);
    assert!(asked.len() == 3 && asked.iter().all(basic), "{asked:?}");
    let answer = list("s3cret-good");
    assert!(
        answer.starts_with("HTTP/1.1 200") && answer.contains("\"hello\""),
        "{answer}"
    );
    let sent = std::mem::take(&mut server.seen.lock().unwrap().credentials);
    let (questions, others): (Vec<String>, Vec<String>) = sent.into_iter().partition(basic);
    assert_eq!(questions.len(), 1);
    assert!(
        !others.is_empty() && others.iter().all(|it| it == "bearer s3cret-access-7"),
        "{others:?}"
    );
    drop(program);
    let log = reader.join().unwrap();
    assert!(!log.contains(SECRET), "{log}");
}
