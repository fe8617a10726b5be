//! Calls over HTTP: whom they reach, who may make them, and how they end.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::Full;
use mcp_revisions::latest::{self as mcp, ClientHandlers};
use mcp_revisions::mcp_wire::{Json, JsonObject};
use mcp_revisions::service::client::{
    AuthFuture, AuthProvider, AuthRefusal, ClientContext, Credentials, Http, HttpRequest,
    RefusalFate,
};
use mcp_revisions::service::{Error, RequestContext, Router, Server};
use mcp_revisions::{Latest, Revision, http};
use serde_json::json;
use tower::ServiceExt;

use crate::support::Ada;
use crate::transports::{call, client};

use super::{Fault, none, quick, serve, spoken_over_http, status};

#[tokio::test]
async fn servers_of_every_revision_are_called_alike() {
    for revision in spoken_over_http() {
        let url = serve([revision], none()).await;
        let client = client().with_handlers(Ada).url(&url).unwrap();
        assert_eq!(
            call(&client, "hello").await,
            Ok("hello".to_owned()),
            "{revision}"
        );
        assert_eq!(client.server().unwrap().revision, revision);
        assert_eq!(client.verdict().map(|it| it.0), Some(revision));
        let told = Arc::new(Mutex::new(Vec::new()));
        let tell = Arc::clone(&told);
        let counting = client.on_progress(move |progress| tell.lock().unwrap().push(progress.done));
        assert_eq!(
            call(&counting, "count").await,
            Ok("counted".to_owned()),
            "{revision}"
        );
        assert_eq!(*told.lock().unwrap(), [1.0], "{revision}");
        if revision
            .methods()
            .iter()
            .any(|method| method.name == "elicitation/create")
        {
            assert_eq!(
                call(&client, "who").await,
                Ok("Ada".to_owned()),
                "{revision}"
            );
        }
        client.close().await.unwrap();
    }
}

struct Clumsy;

impl ClientHandlers<ClientContext<Latest>> for Clumsy {
    async fn elicit(
        &self,
        _: mcp::ElicitRequestParams,
        _: ClientContext<Latest>,
    ) -> Result<mcp::ElicitResult, Error> {
        panic!("it slips")
    }
}

#[tokio::test]
async fn a_client_whose_handler_panics_goes_on() {
    for revision in spoken_over_http().filter(|revision| *revision >= Revision::V2025_06_18) {
        let url = serve([revision], none()).await;
        let client = client().with_handlers(Clumsy).url(&url).unwrap();
        let who = call(&client, "who").await;
        assert!(
            matches!(who, Err(Error::Rpc(_) | Error::RequestFailed(_))),
            "{revision}: {who:?}"
        );
        assert_eq!(call(&client, "hello").await, Ok("hello".to_owned()));
        client.close().await.unwrap();
    }
}

#[tokio::test]
async fn a_server_without_room_is_asked_again() {
    let busy: Fault =
        Arc::new(|before, _| (before < 2).then(|| status(503, &[("retry-after", "0".to_owned())])));
    let url = serve(spoken_over_http(), busy).await;
    let client = client().http(quick(&url));
    assert_eq!(call(&client, "hello").await, Ok("hello".to_owned()));

    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    let never: Fault = Arc::new(move |_, _| {
        count.fetch_add(1, Ordering::Relaxed);
        Some(status(503, &[]))
    });
    let url = serve(spoken_over_http(), never).await;
    let client = crate::transports::client().http(quick(&url).with_max_attempts(2));
    assert!(matches!(
        call(&client, "hello").await,
        Err(Error::RequestFailed(_))
    ));
    assert_eq!(asked.load(Ordering::Relaxed), 2);
}

#[tokio::test(start_paused = true)]
async fn a_server_without_room_is_left_alone_for_twice_as_long_each_time() {
    let served = crate::transports::router().build("example", "1").unwrap();
    let served = served.into_http_service(http::Options::default());
    let asked = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&asked);
    let service = tower::service_fn(move |request: axum::http::Request<Full<Bytes>>| {
        let mut seen = seen.lock().unwrap();
        seen.push(tokio::time::Instant::now());
        let (is_busy, served) = (seen.len() < 4, served.clone());
        async move {
            if is_busy {
                let mut busy = axum::http::Response::new(http::Body::from(String::new()));
                *busy.status_mut() = axum::http::StatusCode::SERVICE_UNAVAILABLE;
                return Ok(busy);
            }
            served.oneshot(request).await
        }
    });
    let pause = Duration::from_millis(100);
    let client = client().http(Http::in_process(service).with_pause(pause));
    assert_eq!(call(&client, "hello").await, Ok("hello".to_owned()));
    let asked = asked.lock().unwrap();
    for (tries, pair) in (0..3).zip(asked.windows(2)) {
        let (waited, least) = (pair[1] - pair[0], pause * (1 << tries));
        // Up to half of it more is by chance, and timers count milliseconds.
        let most = least * 3 / 2 + Duration::from_millis(1);
        assert!((least..=most).contains(&waited), "{waited:?}, {least:?}");
    }
}

#[derive(Clone, Default)]
struct Tokens {
    challenges: Arc<Mutex<Vec<String>>>,
}

impl AuthProvider for Tokens {
    fn credentials<'a>(
        &'a self,
        request: &'a HttpRequest<'a>,
    ) -> AuthFuture<'a, Result<Credentials, String>> {
        assert_eq!(request.url.path(), "/mcp");
        let known = self.challenges.lock().unwrap().len();
        let credentials = match known {
            0 => Credentials::default(),
            known => Credentials::bearer(&format!("good-{known}")),
        };
        Box::pin(std::future::ready(Ok(credentials)))
    }

    fn refused<'a>(&'a self, refusal: AuthRefusal<'a>) -> AuthFuture<'a, RefusalFate> {
        let challenges: Vec<&str> = refusal.challenges().collect();
        let seen = format!("{} {}", refusal.status.as_u16(), challenges.join(" | "));
        self.challenges.lock().unwrap().push(seen);
        Box::pin(std::future::ready(RefusalFate::Retry))
    }
}

#[tokio::test]
async fn a_request_is_sent_again_for_a_token_and_then_for_a_scope_with_all_challenges_seen() {
    let guard: Fault = Arc::new(|_, request| {
        let sent = request.headers().get("authorization");
        match sent.and_then(|it| it.to_str().ok()) {
            Some("Bearer good-2") => None,
            Some("Bearer good-1") => {
                let more = "Bearer error=\"insufficient_scope\"".to_owned();
                Some(status(403, &[("www-authenticate", more)]))
            }
            _ => {
                let (one, two) = ("Bearer realm=\"x\"", "DPoP algs=\"ES256\"");
                let headers = [
                    ("www-authenticate", one.to_owned()),
                    ("www-authenticate", two.to_owned()),
                ];
                Some(status(401, &headers))
            }
        }
    });
    let url = serve(spoken_over_http(), guard).await;
    let tokens = Tokens::default();
    let client = client().http(quick(&url).with_authorization(tokens.clone()));
    assert_eq!(call(&client, "hello").await, Ok("hello".to_owned()));
    assert_eq!(
        *tokens.challenges.lock().unwrap(),
        [
            "401 Bearer realm=\"x\" | DPoP algs=\"ES256\"",
            "403 Bearer error=\"insufficient_scope\"",
        ]
    );
}

/// Refuses to go on, with a reason.
struct Closed;

impl AuthProvider for Closed {
    fn credentials<'a>(
        &'a self,
        _: &'a HttpRequest<'a>,
    ) -> AuthFuture<'a, Result<Credentials, String>> {
        Box::pin(std::future::ready(Ok(Credentials::default())))
    }

    fn refused<'a>(&'a self, _: AuthRefusal<'a>) -> AuthFuture<'a, RefusalFate> {
        let why = RefusalFate::give_up("sign in at the moon");
        Box::pin(std::future::ready(why))
    }
}

#[tokio::test]
async fn the_reason_why_a_sign_in_failed_is_the_error_of_the_call() {
    let guard: Fault = Arc::new(|_, _| Some(status(401, &[])));
    let url = serve(spoken_over_http(), guard).await;
    let client = client().http(quick(&url).with_authorization(Closed));
    let failed = call(&client, "hello").await.unwrap_err().to_string();
    assert!(failed.contains("sign in at the moon"), "{failed}");
}

#[tokio::test]
async fn who_may_use_the_server_is_asked_for_and_told_of_challenges() {
    let guard = || -> Fault {
        Arc::new(|_, request| {
            let good = request
                .headers()
                .get("authorization")
                .is_some_and(|it| it == "Bearer good-1");
            (!good).then(|| {
                status(
                    401,
                    &[("www-authenticate", "Bearer realm=\"x\"".to_owned())],
                )
            })
        })
    };
    let url = serve(spoken_over_http(), guard()).await;
    let tokens = Tokens::default();
    let client = client().http(quick(&url).with_authorization(tokens.clone()));
    assert_eq!(call(&client, "hello").await, Ok("hello".to_owned()));
    assert_eq!(
        *tokens.challenges.lock().unwrap(),
        ["401 Bearer realm=\"x\""]
    );

    let client =
        crate::transports::client().http(quick(&url).with_authorization("good-1".to_owned()));
    assert_eq!(call(&client, "hello").await, Ok("hello".to_owned()));
    // Nobody to ask: the answer is that there is none, and not a wait.
    let client = crate::transports::client().http(quick(&url));
    let refused = tokio::time::timeout(Duration::from_secs(20), call(&client, "hello"))
        .await
        .unwrap();
    assert!(
        matches!(refused, Err(Error::RequestFailed(_))),
        "{refused:?}"
    );
}

#[tokio::test]
async fn a_request_is_sent_on_within_the_server_and_nowhere_else() {
    let there = serve(spoken_over_http(), none()).await;
    let within: Fault = Arc::new(|_, request| {
        (request.uri().query() != Some("moved"))
            .then(|| status(307, &[("location", "/mcp?moved".to_owned())]))
    });
    let url = serve(spoken_over_http(), within).await;
    assert_eq!(
        call(&client().http(quick(&url)), "hello").await,
        Ok("hello".to_owned())
    );
    // As many times in a row as it may be.
    let steps = |most: usize| -> Fault {
        Arc::new(move |_, request| {
            let query = request.uri().query().unwrap_or_default();
            let step: usize = query.parse().unwrap_or_default();
            (step < most).then(|| status(307, &[("location", format!("/mcp?{}", step + 1))]))
        })
    };
    let url = serve(spoken_over_http(), steps(3)).await;
    assert_eq!(
        call(&client().http(quick(&url)), "hello").await,
        Ok("hello".to_owned())
    );
    let url = serve(spoken_over_http(), steps(4)).await;
    assert!(matches!(
        call(&client().http(quick(&url)), "hello").await,
        Err(Error::RequestFailed(_))
    ));
    let away: Fault = Arc::new(move |_, _| Some(status(307, &[("location", there.clone())])));
    let url = serve(spoken_over_http(), away).await;
    assert!(matches!(
        call(&client().http(quick(&url)), "hello").await,
        Err(Error::RequestFailed(_))
    ));
    let round: Fault = Arc::new(|_, _| Some(status(307, &[("location", "/mcp".to_owned())])));
    let url = serve(spoken_over_http(), round).await;
    assert!(matches!(
        call(&client().http(quick(&url)), "hello").await,
        Err(Error::RequestFailed(_))
    ));
}

/// It would be missing, and nobody would know why the server refuses.
#[tokio::test]
async fn a_header_that_cannot_be_sent_is_an_error_that_keeps_its_value_to_itself() {
    let url = serve([Revision::LATEST], none()).await;
    let token = "hush\n".to_owned();
    for (http, name) in [
        (quick(&url).with_header("X-Token", token.clone()), "x-token"),
        (
            quick(&url).with_authorization(token.clone()),
            "authorization",
        ),
        (quick(&url).with_header("X Token", "1"), "X Token"),
    ] {
        let failed = call(&client().http(http), "hello").await;
        let why = failed.unwrap_err().to_string();
        assert!(why.contains(name) && !why.contains("hush"), "{why}");
    }
}

/// What is printed into a log says where it goes, and keeps what headers hold to itself.
#[test]
fn a_client_over_http_prints_its_url_and_no_secret() {
    let http = quick("http://127.0.0.1:1/mcp").with_header("Authorization", "Bearer hush");
    let printed = format!("{http:?}");
    assert!(printed.contains("127.0.0.1:1/mcp"), "{printed}");
    assert!(!printed.contains("hush"), "{printed}");
}

#[tokio::test]
async fn parameters_that_headers_repeat_are_repeated() {
    let schema = json!({"type": "object", "properties": {"region": {"type": "string", "x-mcp-header": "Region"}}});
    let schema = JsonObject::try_from(Json::from(schema)).unwrap();
    let tool = mcp::Tool::new("where", schema);
    let service = Router::new()
        .tool_of(tool, |arguments: serde_json::Value| async move {
            arguments["region"].to_string()
        })
        .build("example", "1")
        .unwrap()
        .into_http_service(http::Options::default());
    let app = axum::Router::new().route_service("/mcp", service);
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", 0))
        .await
        .unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    crate::support::spawn(async move { axum::serve(listener, app).await.unwrap() });
    let client = client().url(&url).unwrap();
    // The server refuses a call without the header: the client learns of it, and calls again.
    for region in ["north", "Süd"] {
        use mcp::CallServer;
        let arguments = Json::from(json!({"region": region}));
        let arguments = JsonObject::try_from(arguments).unwrap();
        let params = mcp::CallToolRequestParams::new("where").with_arguments(arguments);
        let result = client.call_tool(params).await.unwrap();
        assert_eq!(result.content.len(), 1);
    }
}

#[tokio::test]
async fn a_service_in_this_process_sees_the_host_of_its_url() {
    let served = crate::transports::router().build("example", "1").unwrap();
    let served = served.into_http_service(http::Options::default());
    let hosts = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&hosts);
    let service = tower::service_fn(move |request: axum::http::Request<Full<Bytes>>| {
        seen.lock()
            .unwrap()
            .push(request.headers().get("host").cloned());
        served.clone().oneshot(request)
    });
    let client = client().http(Http::in_process(service));
    assert_eq!(call(&client, "hello").await, Ok("hello".to_owned()));
    let hosts = hosts.lock().unwrap();
    assert!(!hosts.is_empty());
    assert!(
        hosts.iter().flatten().all(|host| host == "localhost"),
        "{hosts:?}"
    );
    assert!(hosts.iter().all(Option::is_some), "{hosts:?}");
}

#[tokio::test]
async fn a_page_that_is_not_there_is_told_at_once() {
    for code in [400, 404, 405, 500] {
        let nowhere: Fault = Arc::new(move |_, _| Some(status(code, &[])));
        let url = serve(spoken_over_http(), nowhere).await;
        let client = client().http(quick(&url).with_max_attempts(2));
        let patience = Duration::from_secs(20);
        let answer = tokio::time::timeout(patience, call(&client, "hello")).await;
        let answer = answer.unwrap();
        assert!(
            matches!(answer, Err(Error::RequestFailed(_))),
            "{code}: {answer:?}"
        );
    }
}

/// Says when it is dropped.
struct Dropped(Arc<tokio::sync::Notify>);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.notify_one();
    }
}

#[tokio::test]
async fn a_call_that_is_dropped_is_cancelled_at_the_server() {
    for revision in spoken_over_http() {
        let (begun, ended) = (Arc::<tokio::sync::Notify>::default(), Arc::default());
        let (begin, end) = (Arc::clone(&begun), Arc::clone(&ended));
        let sleep = move || {
            begin.notify_one();
            let dropped = Dropped(Arc::clone(&end));
            async move {
                let _dropped = dropped;
                std::future::pending::<()>().await;
            }
        };
        let info = mcp::Implementation::new("example", mcp_revisions::args::Version("1"));
        let server = Server::new(&info).with_revisions([revision].into_iter().collect());
        let service = Router::new()
            .tool("sleep", "Sleeps.", sleep)
            .build_with(server)
            .unwrap()
            .into_http_service(http::Options::default());
        let listener = http::bind(("127.0.0.1", 0)).await.unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        crate::support::spawn(http::serve(listener, service));
        let client = client().url(&url).unwrap();
        let patience = Duration::from_secs(20);
        let kept = client.clone();
        let waits = crate::support::spawn(async move { call(&kept, "sleep").await.map(|_| ()) });
        tokio::time::timeout(patience, begun.notified())
            .await
            .unwrap();
        // The client stays: only what waits for the call is gone.
        waits.abort();
        tokio::time::timeout(patience, ended.notified())
            .await
            .unwrap();
        client.close().await.unwrap();
    }
}

#[tokio::test]
async fn connections_that_a_client_does_not_need_are_closed() {
    const CALLS: usize = 60;
    let open = Arc::new(Mutex::new(Vec::new()));
    let together = Arc::new(tokio::sync::Barrier::new(CALLS));
    let keep = Arc::clone(&open);
    let meet = move |cx: RequestContext<Latest>| {
        let (keep, together) = (Arc::clone(&keep), Arc::clone(&together));
        async move {
            let connection = cx.peer().unwrap().extension::<http::PeerConnection>();
            keep.lock().unwrap().extend(connection.cloned());
            together.wait().await;
            "met"
        }
    };
    let router = Router::new().tool("meet", "Waits for the others.", meet);
    let service = router.build("example", "1").unwrap();
    // The server closes none of them.
    let hour = Duration::from_secs(3600);
    let service = service.into_http_service(http::Options::new().with_read_timeouts(hour, hour));
    let listener = http::bind(("127.0.0.1", 0)).await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let serving = crate::support::spawn(http::serve(listener, service));
    let client = client().http(quick(&url));
    let calls: Vec<_> = (0..CALLS)
        .map(|_| {
            let client = client.clone();
            crate::support::spawn(async move { call(&client, "meet").await })
        })
        .collect();
    for call in calls {
        assert_eq!(call.await.unwrap(), Ok("met".to_owned()));
    }
    let count = || {
        let open = open.lock().unwrap();
        assert_eq!(open.len(), CALLS);
        let is_open = |it: &&http::PeerConnection| !it.is_closed();
        open.iter().filter(is_open).count()
    };
    let at_most = async |most: usize| {
        for _ in 0..400 {
            if count() <= most {
                return;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        panic!("{} connections are open", count());
    };
    at_most(CALLS / 2).await;
    tokio::time::pause();
    tokio::time::advance(Duration::from_secs(60)).await;
    tokio::time::resume();
    at_most(0).await;
    serving.abort();
}

#[tokio::test]
async fn a_body_in_a_coding_that_was_not_asked_for_is_named_with_what_to_do() {
    let packed: Fault = Arc::new(|_, request| {
        let accepted = request.headers().get("accept-encoding");
        assert_eq!(accepted.unwrap(), "identity");
        let coding = ("content-encoding", "gzip".to_owned());
        Some(status(
            200,
            &[("content-type", "application/json".to_owned()), coding],
        ))
    });
    let url = serve(spoken_over_http(), packed).await;
    let client = client().http(quick(&url));
    let failed = call(&client, "hello").await.unwrap_err().to_string();
    assert!(
        failed.contains("Content-Encoding: gzip") && failed.contains("turn off compression"),
        "{failed}"
    );
}
