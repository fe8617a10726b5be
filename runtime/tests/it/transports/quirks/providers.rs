//! The providers of the table, and how each is tried.

use mcp_revisions::auth::Settings;
use serde_json::json;

use crate::transports::call;
use crate::transports::guarded::{METADATA, Quirks, Rule, Servers, open};

/// One user of one server.
pub(super) struct QuirkCase {
    server: &'static str,
    quirks: Quirks,
    settings: fn(&mut Settings, &str),
    /// Set if the browser comes back to `localhost`.
    is_localhost: bool,
    /// The requests of the sign-in, or words of its error.
    signs_in: Result<Vec<&'static str>, Vec<&'static str>>,
    /// The requests once the token has ended.
    again: Vec<&'static str>,
}

const OPENID: &str = "/.well-known/openid-configuration";
pub(super) const GET_RESOURCE: &str = "GET /.well-known/oauth-protected-resource/mcp";
pub(super) const GET_METADATA: &str = "GET /.well-known/oauth-authorization-server";
const GET_OPENID: &str = "GET /.well-known/openid-configuration";
pub(super) const CODE: &str = "POST /token authorization_code";
pub(super) const REFRESH: &str = "POST /token refresh_token";

/// A server without quirks, whose sign-in has these requests.
pub(super) fn case(server: &'static str) -> QuirkCase {
    QuirkCase {
        server,
        quirks: Quirks::default(),
        settings: |_, _| {},
        is_localhost: false,
        signs_in: Ok(vec![
            GET_RESOURCE,
            GET_METADATA,
            "POST /register",
            "GET /authorize",
            CODE,
        ]),
        again: vec![GET_RESOURCE, GET_METADATA, REFRESH],
    }
}

impl QuirkCase {
    pub(super) fn with(mut self, change: impl FnOnce(&mut Quirks)) -> Self {
        change(&mut self.quirks);
        self
    }

    pub(super) fn by(self, settings: fn(&mut Settings, &str)) -> Self {
        Self { settings, ..self }
    }

    pub(super) fn on_localhost(self) -> Self {
        Self {
            is_localhost: true,
            ..self
        }
    }

    pub(super) fn requests(self, signs_in: &[&'static str], again: &[&'static str]) -> Self {
        Self {
            signs_in: Ok(signs_in.into()),
            again: again.into(),
            ..self
        }
    }

    /// The sign-in of a client that is registered by hand.
    pub(super) fn without_registration(self) -> Self {
        let metadata = if self.quirks.metadata_places == [OPENID] {
            vec![GET_METADATA, GET_OPENID]
        } else {
            vec![GET_METADATA]
        };
        let found = [vec![GET_RESOURCE], metadata].concat();
        let signs_in = [found.clone(), vec!["GET /authorize", CODE]].concat();
        let again = [found, vec![REFRESH]].concat();
        self.requests(&signs_in, &again)
    }

    pub(super) fn fails(self, words: &[&'static str]) -> Self {
        Self {
            signs_in: Err(words.into()),
            ..self
        }
    }

    pub(super) async fn run(self) {
        let servers = Servers::start(self.quirks.clone()).await;
        let mut settings = Settings::new(&servers.url);
        (self.settings)(&mut settings, &servers.origin);
        let builder = servers.builder(settings, open());
        let oauth = if self.is_localhost {
            builder.with_callback_localhost().build()
        } else {
            builder.build()
        };
        let client = servers.client(&oauth);
        let called = call(&client, "hello").await;
        let steps = servers.steps();
        match &self.signs_in {
            Ok(expected) => {
                assert_eq!(called, Ok("hello".to_owned()), "{}: {steps:?}", self.server);
                assert_eq!(steps, *expected, "{}", self.server);
                servers.seen.lock().unwrap().withdrawn = 1;
                let called = call(&client, "hello").await;
                assert_eq!(called, Ok("hello".to_owned()), "{}", self.server);
                assert_eq!(servers.steps(), self.again, "{}", self.server);
            }
            Err(words) => {
                let why = called.unwrap_err().to_string();
                let has_all = words.iter().all(|word| why.contains(word));
                assert!(has_all, "{}: {words:?} in {why}", self.server);
                assert!(!why.contains(['\n', '\u{1b}']), "{}: {why}", self.server);
                let codes = servers.counts()[2];
                assert_eq!(codes, 0, "{}: {why}", self.server);
            }
        }
    }
}

/// Refuses a value that has a part.
macro_rules! has {
    ($part:literal) => {
        |value| value.is_some_and(|value| value.contains($part))
    };
}

/// Microsoft Entra: no list of PKCE methods, no registration, no `resource`, and a refresh with `scope`.
pub(super) fn entra() -> QuirkCase {
    case("Entra").with(|quirks| {
        quirks.metadata =
            json!({"code_challenge_methods_supported": null, "registration_endpoint": null});
        quirks.rules = vec![
            Rule {
                step: "GET /authorize",
                parameter: "resource",
                refuses: |it| it.is_some(),
                error: "invalid_target",
            },
            Rule {
                step: REFRESH,
                parameter: "scope",
                refuses: |it| it != Some("api://app/.default"),
                error: "invalid_request",
            },
        ];
    })
}

/// Amazon Cognito: metadata of OpenID only, without PKCE methods and registration.
pub(super) fn cognito() -> QuirkCase {
    case("Cognito").with(|quirks| {
        quirks.metadata_places = &[OPENID];
        quirks.metadata =
            json!({"code_challenge_methods_supported": null, "registration_endpoint": null});
    })
}

/// Atlassian: metadata of another issuer than the resource names.
pub(super) fn atlassian() -> QuirkCase {
    case("Atlassian").with(|quirks| {
        quirks.resource = json!({"authorization_servers": ["{origin}/tenant"]});
        quirks.metadata_places = &[METADATA, "/.well-known/oauth-authorization-server/tenant"];
    })
}

/// GitHub: an endpoint that refuses registration with a page, and a resource with a final slash.
pub(super) fn github() -> QuirkCase {
    case("GitHub").with(|quirks| {
        quirks.resource = json!({"resource": "{origin}/mcp/"});
        quirks.rules = vec![Rule {
            step: "POST /register",
            parameter: "",
            refuses: |_| true,
            error: "422",
        }];
    })
}

/// Cloudflare: lists a scope that its authorization server does not know.
pub(super) fn cloudflare() -> QuirkCase {
    case("Cloudflare").with(|quirks| {
        quirks.resource = json!({"scopes_supported": ["mcp:read", "mcp:unknown"]});
        quirks.rules = vec![Rule {
            step: "GET /authorize",
            parameter: "scope",
            refuses: has!("unknown"),
            error: "invalid_scope",
        }];
    })
}

/// Slack and Datadog: redirects to the address of this machine only.
pub(super) fn slack() -> QuirkCase {
    case("Slack").with(|quirks| {
        quirks.rules = vec![Rule {
            step: "POST /register",
            parameter: "redirect_uris",
            refuses: has!("localhost"),
            error: "invalid_redirect_uri",
        }];
    })
}

/// Salesforce: redirects to the name of this machine only.
pub(super) fn salesforce() -> QuirkCase {
    case("Salesforce").with(|quirks| {
        quirks.rules = vec![Rule {
            step: "POST /register",
            parameter: "redirect_uris",
            refuses: has!("127.0.0.1"),
            error: "invalid_redirect_uri",
        }];
    })
}

/// A server of 2025-03-26: no metadata of the resource, and no `resource` parameter.
pub(super) fn first_revision() -> QuirkCase {
    case("2025-03-26").with(|quirks| {
        quirks.challenge = "Bearer";
        quirks.resource_places = &[];
        quirks.metadata = json!({"code_challenge_methods_supported": null});
        quirks.rules = vec![Rule {
            step: "GET /authorize",
            parameter: "resource",
            refuses: |it| it.is_some(),
            error: "invalid_target",
        }];
    })
}

/// A server that sends a request on.
pub(super) fn redirecting(step: &'static str, to: &'static str) -> QuirkCase {
    let rule = Rule {
        step,
        parameter: "",
        refuses: |_| true,
        error: to,
    };
    case("one that redirects").with(|quirks| quirks.rules = vec![rule])
}
