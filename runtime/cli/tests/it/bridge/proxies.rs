//! The way to servers in a company: a proxy for `https`, and certificates of an authority of its own.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use rustls::pki_types::PrivateKeyDer;
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use serde_json::json;

use super::guarded::{GuardedServer, folder, request, run_in};

/// The host of the servers, which no resolver knows.
const ORIGIN: &str = "https://mcp.test";

/// A proxy that opens tunnels, at the other end of which it is the server itself.
struct TunnelProxy {
    port: u16,
    /// The targets of the tunnels, and the credentials that they were opened with.
    tunnels: Arc<Mutex<Vec<String>>>,
}

impl TunnelProxy {
    fn start(server: &GuardedServer, tls: ServerConfig) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let tunnels = Arc::new(Mutex::new(Vec::new()));
        let (server, tls, seen) = (server.clone(), Arc::new(tls), Arc::clone(&tunnels));
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (server, tls, seen) = (server.clone(), Arc::clone(&tls), Arc::clone(&seen));
                thread::spawn(move || tunnel(&server, tls, &seen, stream));
            }
        });
        Self { port, tunnels }
    }
}

fn tunnel(
    server: &GuardedServer,
    tls: Arc<ServerConfig>,
    tunnels: &Mutex<Vec<String>>,
    stream: TcpStream,
) {
    let mut reader = BufReader::new(stream);
    let (mut head, mut line) = (String::new(), String::new());
    while reader.read_line(&mut line).is_ok_and(|read| read > 2) {
        head.push_str(&std::mem::take(&mut line));
    }
    let target = head
        .strip_prefix("CONNECT ")
        .and_then(|it| it.split(' ').next());
    let mut lines = head.lines();
    let credentials = lines.find_map(|line| {
        let (name, value) = line.split_once(": ")?;
        name.eq_ignore_ascii_case("proxy-authorization")
            .then_some(value)
    });
    let opened = format!(
        "{} {}",
        target.unwrap_or("no tunnel"),
        credentials.unwrap_or("-")
    );
    tunnels.lock().unwrap().push(opened);
    let mut stream = reader.into_inner();
    let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n");
    let connection = ServerConnection::new(tls).unwrap();
    let mut secured = StreamOwned::new(connection, stream);
    // A client that does not trust the certificate leaves here.
    if secured.flush().is_ok() && secured.conn.complete_io(&mut secured.sock).is_ok() {
        server.answer(&mut secured);
        secured.conn.send_close_notify();
        let _ = secured.flush();
    }
}

/// Returns the certificate of an authority as PEM, and a server's end of TLS with one that it has issued.
fn authority() -> (String, ServerConfig) {
    let mut parameters = CertificateParams::new(Vec::new()).unwrap();
    parameters.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let key = KeyPair::generate().unwrap();
    let pem = parameters.self_signed(&key).unwrap().pem();
    let issuer = Issuer::new(parameters, key);
    let own_key = KeyPair::generate().unwrap();
    let own = CertificateParams::new(vec!["mcp.test".to_owned()]).unwrap();
    let own = own.signed_by(&own_key, &issuer).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(
            vec![own.der().clone()],
            PrivateKeyDer::Pkcs8(own_key.serialize_der().into()),
        )
        .unwrap();
    (pem, config)
}

#[test]
fn a_server_and_its_sign_in_are_reached_through_the_proxy_by_who_trusts_the_authority() {
    let (pem, tls) = authority();
    let server = GuardedServer::named(Some(ORIGIN));
    let folder = folder("proxies");
    let file = &*folder.join("authority.pem").display().to_string();
    std::fs::write(file, pem).unwrap();
    let client = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}});
    let opening = &[
        request(1, "initialize", client),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        request(2, "tools/call", json!({"name": "hello", "arguments": {}})),
    ];
    let (through, dead) = ("PROXY", "http://127.0.0.1:9");
    let trusted = &["--ca-file", file][..];
    let hello = "\"hello\"";
    type Case<'a> = (&'a [(&'a str, &'a str)], &'a [&'a str], &'a str, bool);
    let cases: [Case<'_>; 7] = [
        (
            &[("https_proxy", through), ("SSL_CERT_FILE", file)],
            &[],
            hello,
            true,
        ),
        (&[("HTTPS_PROXY", through)], trusted, hello, true),
        (&[("HTTPS_PROXY", through)], &[], "UnknownIssuer", true),
        (
            &[("HTTPS_PROXY", through), ("NO_PROXY", "mcp.test")],
            trusted,
            "cannot connect",
            false,
        ),
        (
            &[
                ("HTTPS_PROXY", through),
                ("NO_PROXY", "other.test,.example"),
            ],
            trusted,
            hello,
            true,
        ),
        (&[("HTTP_PROXY", through)], trusted, "cannot connect", false),
        (
            &[("HTTPS_PROXY", dead)],
            trusted,
            "the proxy at 127.0.0.1",
            false,
        ),
    ];
    // The bridge tries for seconds to connect: the cases run side by side, each with its own proxy.
    thread::scope(|scope| {
        for (index, (variables, options, expected, tunnels)) in cases.into_iter().enumerate() {
            let proxy = TunnelProxy::start(&server, tls.clone());
            let (server, store) = (&server, folder.join(index.to_string()));
            scope.spawn(move || {
                let through = format!("http://ada:s3cret-of-proxy@127.0.0.1:{}", proxy.port);
                let variables: Vec<_> = (variables.iter())
                    .map(|(name, value)| (*name, if *value == "PROXY" { &*through } else { value }))
                    .collect();
                let (url, store) = (server.url(), store.display().to_string());
                let bridge = [
                    "bridge",
                    "--no-browser",
                    "--loss-log",
                    "off",
                    "--auth-store",
                    &store,
                ];
                let arguments = [&bridge[..], options, &[&url]].concat();
                let (done, _) = run_in(&variables, Some(server), &arguments, opening);
                let shown = format!("{} {}", done.out, done.err);
                assert!(shown.contains(expected), "{index}: {shown}");
                assert!(!shown.contains("s3cret"), "{index}: {shown}");
                let opened = proxy.tunnels.lock().unwrap();
                assert_eq!(!opened.is_empty(), tunnels, "{index}: {opened:?}");
                let credentials = "mcp.test:443 Basic YWRhOnMzY3JldC1vZi1wcm94eQ==";
                let are_sent = opened.iter().all(|it| it == credentials);
                assert!(are_sent, "{index}: {opened:?}");
                let mut signed_in = std::fs::read_dir(&store).into_iter().flatten();
                assert_eq!(signed_in.next().is_some(), expected == hello, "{index}");
            });
        }
    });
}
