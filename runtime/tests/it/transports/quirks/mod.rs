//! Authorization servers and MCP servers that are in use, each with what is odd about it: a whole sign-in over HTTP, the call after
//! it, and the call after the token has ended.

mod providers;

use std::time::Duration;

use mcp_revisions::auth::{ResourceParameter, Settings};
use mcp_revisions::{Lifecycle, Revision, RevisionSet};
use serde_json::json;

use crate::transports::call;
use crate::transports::guarded::{GuardedRequests, Quirks, Rule, Servers, open};
use providers::{
    CODE, GET_METADATA, GET_RESOURCE, REFRESH, atlassian, case, cloudflare, cognito, entra,
    first_revision, github, redirecting, salesforce, slack,
};

#[tokio::test]
async fn each_server_in_use_signs_in_as_it_is_or_by_the_option_that_its_error_names() {
    let by_hand = |it: &mut Settings, _: &str| {
        it.client_id = Some("by-hand".to_owned());
        it.assumes_pkce = true;
    };
    let places = [
        GET_RESOURCE,
        "GET /.well-known/oauth-protected-resource",
        GET_METADATA,
    ];
    let signs_in = ["POST /register", "GET /authorize", CODE];
    for case in [
        case("one without quirks"),
        entra().fails(&["--assume-pkce"]),
        entra()
            .by(|it, _| it.assumes_pkce = true)
            .fails(&["--client-id"]),
        entra()
            .by(by_hand)
            .fails(&["invalid_target", "--resource none"]),
        entra()
            .by(|it, _| {
                it.client_id = Some("by-hand".to_owned());
                it.assumes_pkce = true;
                it.resource = ResourceParameter::None;
                it.refresh_scope = Some("api://app/.default".to_owned());
            })
            .without_registration(),
        case("Google")
            .with(|quirks| {
                quirks.resource = json!({"authorization_servers": ["{origin}/"]});
                quirks.rules = vec![Rule {
                    step: "GET /authorize",
                    parameter: "access_type",
                    refuses: |it| it != Some("offline"),
                    error: "invalid_request",
                }];
            })
            .by(|it, _| {
                let parameter = ("access_type".to_owned(), "offline".to_owned());
                it.authorize_parameters = vec![parameter];
            }),
        case("Auth0 and Okta")
            .with(|quirks| {
                quirks.resource = json!({"authorization_servers": ["{origin}/"]});
                quirks.metadata = json!({"issuer": "{origin}/"});
                quirks.rules = vec![Rule {
                    step: "GET /authorize",
                    parameter: "audience",
                    refuses: |it| it.is_none(),
                    error: "access_denied",
                }];
            })
            .by(|it, _| {
                let parameter = ("audience".to_owned(), "https://api.example".to_owned());
                it.authorize_parameters = vec![parameter];
            }),
        cognito().fails(&["--assume-pkce"]),
        cognito().by(by_hand).without_registration(),
        atlassian().fails(&["--issuer"]),
        atlassian().by(|it, origin| it.issuer = Some(origin.to_owned())),
        github().fails(&["--client-id"]),
        github().by(by_hand).without_registration(),
        cloudflare().fails(&["invalid_scope", "--scope"]),
        cloudflare().by(|it, _| it.scopes = vec!["mcp:read".to_owned()]),
        slack(),
        slack().on_localhost().fails(&["--callback-host"]),
        salesforce().fails(&["--callback-host localhost"]),
        salesforce().on_localhost(),
        case("Keycloak, with tokens of seconds")
            .with(|quirks| quirks.token = json!({"expires_in": 5})),
        first_revision().requests(
            &[&places[..], &signs_in].concat(),
            &[&places[..], &[REFRESH]].concat(),
        ),
        first_revision()
            .with(|quirks| quirks.metadata_places = &[])
            .requests(
                &[&places[..], &signs_in].concat(),
                &[&places[..], &[REFRESH]].concat(),
            ),
        case("one with `authorization_server`").with(|quirks| {
            quirks.resource =
                json!({"authorization_servers": null, "authorization_server": "{origin}"});
        }),
        case("one whose resource is its origin")
            .with(|quirks| quirks.resource = json!({"resource": "{origin}"})),
        case("one with a lifetime as text")
            .with(|quirks| quirks.token = json!({"expires_in": "3600", "token_type": "BEARER"})),
        case("one with a secret without a method").with(|quirks| {
            quirks.registration = json!({"client_secret": "s3cret-of-client"});
            quirks.rules = vec![
                Rule {
                    step: CODE,
                    parameter: "authorization",
                    refuses: |it| !it.is_some_and(|it| it.starts_with("Basic ")),
                    error: "invalid_client",
                },
                Rule {
                    step: CODE,
                    parameter: "client_secret",
                    refuses: |it| it.is_some(),
                    error: "invalid_request",
                },
            ];
        }),
        case("one with `invalid_request` for an old refresh token")
            .with(|quirks| {
                quirks.rules = vec![Rule {
                    step: REFRESH,
                    parameter: "",
                    refuses: |_| true,
                    error: "invalid_request",
                }];
            })
            .requests(
                &[
                    GET_RESOURCE,
                    GET_METADATA,
                    "POST /register",
                    "GET /authorize",
                    CODE,
                ],
                &[GET_RESOURCE, GET_METADATA, REFRESH, "GET /authorize", CODE],
            ),
        case("one without a refresh token")
            .with(|quirks| quirks.token = json!({"refresh_token": null}))
            .requests(
                &[
                    GET_RESOURCE,
                    GET_METADATA,
                    "POST /register",
                    "GET /authorize",
                    CODE,
                ],
                &[GET_RESOURCE, GET_METADATA, "GET /authorize", CODE],
            ),
        case("one without a challenge").with(|quirks| quirks.challenge = ""),
        case("one with an error of JSON-RPC").with(|quirks| {
            quirks.refusal = r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32001,"message":"x"}}"#;
        }),
        case("one that guards calls only").with(|quirks| quirks.guarded = GuardedRequests::Calls),
        case("HTTP+SSE")
            .with(|quirks| {
                quirks.path = "/sse";
                quirks.challenge = "Bearer";
                quirks.resource_places = &[];
            })
            .requests(
                &[
                    &["GET /.well-known/oauth-protected-resource/sse"],
                    &places[1..],
                    &signs_in,
                ]
                .concat(),
                &[
                    &["GET /.well-known/oauth-protected-resource/sse"],
                    &places[1..],
                    &[REFRESH],
                ]
                .concat(),
            ),
        case("one in trouble")
            .with(|quirks| {
                quirks.rules = vec![Rule {
                    step: GET_RESOURCE,
                    parameter: "",
                    refuses: |_| true,
                    error: "502",
                }];
            })
            .fails(&["502", "try again later"]),
        case("one of another resource")
            .with(|quirks| quirks.resource = json!({"resource": "{origin}/other"}))
            .fails(&["/other", "correct `resource`"]),
        case("one without an issuer")
            .with(|quirks| quirks.metadata = json!({"issuer": null}))
            .fails(&["issuer"]),
        case("one with plain PKCE")
            .with(|quirks| {
                quirks.metadata = json!({"code_challenge_methods_supported": ["plain"]});
            })
            .by(|it, _| it.assumes_pkce = true)
            .fails(&["S256"]),
        redirecting(CODE, "http://127.0.0.1:1/steal").fails(&["307"]),
        redirecting(
            GET_RESOURCE,
            "{origin}/.well-known/oauth-protected-resource/mcp",
        )
        .fails(&["more than 5 redirects"]),
        redirecting(GET_METADATA, "http://localhost:1/metadata")
            .fails(&["it redirects to another server"]),
        case("one whose page is of another scheme")
            .with(|quirks| {
                quirks.metadata = json!({"authorization_endpoint": "file:///etc/passwd"})
            })
            .fails(&["file:///etc/passwd"]),
    ] {
        case.run().await;
    }
}

#[tokio::test]
async fn a_server_that_guards_its_stream_of_events_only_is_signed_in_to_while_calls_go_on() {
    let servers = Servers::start(Quirks {
        guarded: GuardedRequests::Streams,
        ..Quirks::default()
    })
    .await;
    let mut with_streams = Revision::NEGOTIATED
        .iter()
        .filter(|one| one.lifecycle() == Lifecycle::Handshake);
    let revision = *with_streams.next_back().unwrap();
    let oauth = servers.oauth(None, Duration::from_secs(60), open());
    let http = mcp_revisions::service::client::Http::new(&servers.url).unwrap();
    let client = crate::transports::client()
        .with_revisions(RevisionSet::none().with(revision))
        .http(http.with_authorization(oauth));
    let mut streams = servers.streams.subscribe();
    assert_eq!(call(&client, "hello").await, Ok("hello".to_owned()));
    let opened = streams.wait_for(|is_open| *is_open);
    let opened = tokio::time::timeout(Duration::from_secs(30), opened).await;
    assert!(*opened.unwrap().unwrap());
    assert_eq!(call(&client, "hello").await, Ok("hello".to_owned()));
    assert_eq!(servers.counts(), [1, 1, 1, 0]);
}

const FOUND: [&str; 2] = [GET_RESOURCE, GET_METADATA];
const REGISTERED: [&str; 3] = ["POST /register", "GET /authorize", CODE];

#[tokio::test]
async fn a_client_that_a_refresh_shows_to_be_forgotten_is_registered_again() {
    let servers = Servers::start(Quirks::default()).await;
    let oauth = servers.oauth(None, Duration::from_secs(60), open());
    let client = servers.client(&oauth);
    assert_eq!(call(&client, "hello").await, Ok("hello".to_owned()));
    {
        let mut seen = servers.seen.lock().unwrap();
        (seen.forgotten, seen.withdrawn) = (1, 1);
    }
    servers.steps();
    assert_eq!(call(&client, "hello").await, Ok("hello".to_owned()));
    let expected = [&FOUND[..], &[REFRESH], &REGISTERED].concat();
    assert_eq!(servers.steps(), expected);
}

/// Supabase shows an error page for a client that it does not know any more: the browser never comes back.
#[tokio::test]
async fn a_client_that_only_the_page_shows_to_be_forgotten_is_registered_by_the_next_call() {
    let servers = Servers::start(Quirks::default()).await;
    let builder = servers.builder(Settings::new(&servers.url), open());
    let oauth = builder
        .with_person_timeout(Duration::from_millis(500))
        .build();
    let client = servers.client(&oauth);
    assert_eq!(call(&client, "hello").await, Ok("hello".to_owned()));
    oauth.sign_out().await.unwrap();
    servers.seen.lock().unwrap().forgotten = 1;
    servers.steps();
    let why = call(&client, "hello").await.unwrap_err().to_string();
    assert!(why.contains("no sign-in came back"), "{why}");
    let expected = [&FOUND[..], &["GET /authorize"]].concat();
    assert_eq!(servers.steps(), expected);
    assert_eq!(call(&client, "hello").await, Ok("hello".to_owned()));
    let expected = [&FOUND[..], &REGISTERED].concat();
    assert_eq!(servers.steps(), expected);
}

/// Keycloak ends all tokens of a sign-in once a refresh token is used twice.
#[tokio::test]
async fn a_refresh_token_that_another_program_used_is_followed_by_one_page_and_no_loop() {
    let servers = Servers::start(Quirks::default()).await;
    let oauth = servers.oauth(None, Duration::from_secs(60), open());
    let client = servers.client(&oauth);
    assert_eq!(call(&client, "hello").await, Ok("hello".to_owned()));
    {
        let mut seen = servers.seen.lock().unwrap();
        seen.refreshes += 1;
        seen.withdrawn = 2;
    }
    assert_eq!(call(&client, "hello").await, Ok("hello".to_owned()));
    assert_eq!(servers.counts(), [1, 2, 2, 1]);
}
