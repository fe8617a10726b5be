//! What a flow refuses, and what it sends.

use mcp_revisions_auth::{Grant, InvalidToken, KeySet, Secret, Settings};

use super::{ISSUER, MCP, World, unauthorized};

#[test]
fn the_iss_of_a_response_is_compared_as_it_is() {
    let plain = World::latest();
    let mut promised = World::latest();
    let server = format!("{ISSUER}/.well-known/oauth-authorization-server");
    let (_, metadata) = promised.answers.get_mut(&server).unwrap();
    *metadata = metadata.replacen(
        '{',
        r#"{"authorization_response_iss_parameter_supported":true,"#,
        1,
    );
    let encoded = "https%3A%2F%2Fauth.example";
    for (world, returned, is_fine) in [
        (&plain, "code=c&state={state}".to_owned(), true),
        (
            &plain,
            format!("code=c&state={{state}}&iss={encoded}"),
            true,
        ),
        (
            &plain,
            format!("code=c&state={{state}}&iss={encoded}%2F"),
            false,
        ),
        (
            &plain,
            "code=c&state={state}&iss=https://evil.example".to_owned(),
            false,
        ),
        (
            &plain,
            format!("code=c&state={{state}}&iss={encoded}&iss={encoded}"),
            false,
        ),
        (
            &promised,
            format!("code=c&state={{state}}&iss={encoded}"),
            true,
        ),
        (&promised, "code=c&state={state}".to_owned(), false),
        (&plain, "code=c&state=other".to_owned(), false),
        (&plain, "code=c".to_owned(), false),
        (&plain, "state={state}".to_owned(), false),
    ] {
        let world = World {
            returned: returned.clone(),
            ..world.clone()
        };
        let done = world.sign_in("Bearer");
        assert_eq!(
            done.outcome.is_ok(),
            is_fine,
            "{returned}: {:?}",
            done.outcome
        );
        assert!(done.page.is_some(), "{returned}");
        let asks = done.requests.iter().any(|it| it.ends_with("/token"));
        assert_eq!(asks, is_fine, "{returned}");
    }
    // The text of an error from elsewhere is not shown; that of the server is, without what acts on a terminal.
    let evil = "error=access_denied&error_description=EVIL&state={state}&iss=https://evil.example";
    let world = World {
        returned: evil.to_owned(),
        ..plain.clone()
    };
    assert!(
        !world
            .sign_in("Bearer")
            .outcome
            .unwrap_err()
            .contains("EVIL")
    );
    let denied = "error=access_denied&error_description=no%1b[2Jway&state={state}";
    let world = World {
        returned: denied.to_owned(),
        ..plain
    };
    let error = world.sign_in("Bearer").outcome.unwrap_err();
    assert!(
        error.contains("access_denied") && !error.contains('\u{1b}'),
        "{error}"
    );
}

#[test]
fn metadata_of_another_resource_or_issuer_or_without_pkce_end_the_sign_in() {
    let resource = "https://mcp.example/.well-known/oauth-protected-resource/x/mcp";
    let server = format!("{ISSUER}/.well-known/oauth-authorization-server");
    for (url, old, new, expected) in [
        (resource, MCP, "https://evil.example/mcp", "resource"),
        (
            server.as_str(),
            "\"issuer\":\"https://auth.example\"",
            "\"issuer\":\"https://honest.example\"",
            "--issuer",
        ),
        (
            server.as_str(),
            "[\"S256\"]",
            "[\"plain\"]",
            "PKCE without S256",
        ),
        (
            server.as_str(),
            "\"code_challenge_methods_supported\"",
            "\"x\"",
            "--assume-pkce",
        ),
        (
            server.as_str(),
            "https://auth.example/token",
            "http://auth.example/token",
            "https",
        ),
        (
            server.as_str(),
            "https://auth.example/authorize",
            "file:///etc/passwd",
            "https",
        ),
        (
            server.as_str(),
            "https://auth.example/token",
            "https://169.254.169.254/",
            "private",
        ),
        (
            resource,
            "https://auth.example",
            "https://10.0.0.1",
            "private",
        ),
    ] {
        let mut world = World::latest();
        let (_, body) = world.answers.get_mut(url).unwrap();
        assert!(body.contains(old), "{body}");
        *body = body.replace(old, new);
        let done = world.sign_in("Bearer");
        let error = done.outcome.unwrap_err();
        assert!(error.contains(expected), "{new}: {error}");
        assert!(done.page.is_none(), "{new}");
    }
    let mut world = World::latest();
    let (_, body) = world.answers.get_mut(&server).unwrap();
    *body = body.replace("\"code_challenge_methods_supported\"", "\"x\"");
    let mut settings = Settings::new(MCP);
    settings.assumes_pkce = true;
    assert!(
        world
            .run(settings, None, unauthorized("Bearer"))
            .outcome
            .is_ok()
    );
}

#[test]
fn the_resource_is_sent_exactly_as_it_is_named_in_both_requests() {
    let named = "https://MCP.example:443/x";
    let mut world = World::latest();
    let place = "https://mcp.example/.well-known/oauth-protected-resource/x/mcp";
    let (_, body) = world.answers.get_mut(place).unwrap();
    *body = body.replace(MCP, named);
    let done = world.sign_in("Bearer");
    let expected = "resource=https%3A%2F%2FMCP.example%3A443%2Fx";
    assert!(done.page.unwrap().contains(expected));
    assert!(done.bodies.last().unwrap().contains(expected));
}

#[test]
fn a_workload_sends_its_assertion_once_and_nothing_else_after_a_refusal() {
    let assertion = Secret::from("j.w.t");
    let grant = Grant::JwtBearer { assertion };
    let settings = || {
        let settings = Settings::new(MCP).with_client("workload", None);
        settings.with_grant(grant.clone())
    };
    let token = format!("{ISSUER}/token");
    let refuses = World::latest().with(&token, 400, r#"{"error":"invalid_grant"}"#);
    let done = refuses.run(settings(), None, unauthorized("Bearer"));
    assert_eq!(
        done.requests
            .iter()
            .filter(|it| it.ends_with("/token"))
            .count(),
        1
    );
    assert!(done.outcome.unwrap_err().contains("invalid_grant"));
    let done = World::latest().run(settings(), None, unauthorized("Bearer"));
    assert!(done.bodies.last().unwrap().contains("assertion=j.w.t"));
    assert!(done.page.is_none() && done.outcome.is_ok());
}

#[test]
fn documents_of_any_kind_end_a_flow_in_bounded_steps() {
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let many = format!(
        r#"{{"resource":"{MCP}","authorization_servers":[{}]}}"#,
        vec!["\"https://a.example\""; 10_000].join(",")
    );
    let bodies = [
        "",
        "null",
        "[]",
        "{}",
        "{\"resource\":5}",
        "\u{feff}{}",
        "<html>",
        deep.as_str(),
        many.as_str(),
    ];
    let urls: Vec<String> = World::latest().answers.into_keys().collect();
    for url in urls {
        for body in bodies {
            for status in [200, 201, 204, 301, 400, 401, 404, 422, 500] {
                let done = World::latest().with(&url, status, body).sign_in("Bearer");
                assert!(done.requests.len() <= 24, "{url} {status}");
            }
        }
    }
}

/// Returns the scopes that the authorization page is asked for.
fn requested(page: Option<String>) -> Vec<String> {
    let page = page.unwrap();
    let (_, rest) = page.split_once("scope=").unwrap();
    let scopes = rest.split('&').next().unwrap();
    scopes.split('+').map(str::to_owned).collect()
}

#[test]
fn of_ten_thousand_scopes_two_hundred_are_requested_and_what_is_no_scope_is_not() {
    let all: Vec<String> = (0..10_000).map(|at| format!("s{at}")).collect();
    let challenge = format!("Bearer scope=\"{}\"", all.join(" "));
    let done = World::latest().sign_in(&challenge);
    assert!(done.outcome.is_ok(), "{:?}", done.outcome);
    assert_eq!(requested(done.page), all[..200]);
    let resource = "https://mcp.example/.well-known/oauth-protected-resource/x/mcp";
    let listing = |scopes: &str| {
        let body = format!(
            r#"{{"resource":"{MCP}","authorization_servers":["{ISSUER}"],"scopes_supported":{scopes}}}"#
        );
        let done = World::latest().with(resource, 200, &body).sign_in("Bearer");
        assert!(done.outcome.is_ok(), "{:?}", done.outcome);
        requested(done.page)
    };
    let many = serde_json::to_string(&all).unwrap();
    assert_eq!(listing(&many), all[..200]);
    let odd = r#"["read","two words","line\r\nbreak","qu\"ote","",5,"write"]"#;
    assert_eq!(listing(odd), ["read", "write"]);
}

#[test]
fn a_token_that_would_end_its_header_is_no_token() {
    for token in [
        "t\\r\\nX-Other: 1",
        "two words",
        "",
        "tab\\there",
        "\\u00e9",
    ] {
        let body = format!(r#"{{"access_token":"{token}","token_type":"bearer"}}"#);
        let world = World::latest().with(&format!("{ISSUER}/token"), 200, &body);
        let error = world.sign_in("Bearer").outcome.unwrap_err();
        assert!(error.contains("access_token"), "{token}: {error}");
    }
    // A refresh token of that kind is left out, and the sign-in holds until its end.
    let body = r#"{"access_token":"t","token_type":"bearer","refresh_token":"r\r\nX: 1"}"#;
    let world = World::latest().with(&format!("{ISSUER}/token"), 200, body);
    let kept = world.sign_in("Bearer").outcome.unwrap();
    assert!(kept.tokens.unwrap().refresh.is_none());
}

#[test]
fn tokens_that_another_library_signed_are_verified_with_its_keys_of_each_kind() {
    let lines: Vec<&str> = include_str!("jwts.txt").lines().collect();
    let [rsa, rs256, ps256, p384, es384, p256, es256] = lines[..] else {
        panic!("expected three keys with their tokens");
    };
    let set = format!(r#"{{"keys":[{rsa},{p384},{p256}]}}"#);
    let keys = KeySet::from_json(set.as_bytes()).unwrap();
    for token in [rs256, ps256, es384, es256] {
        let claims = keys.verify(token, "https://auth.example").unwrap();
        assert!(claims.contains(r#""sub":"ada""#), "{claims}");
        let (message, signature) = token.rsplit_once('.').unwrap();
        let (head, tail) = signature.split_at(20);
        let other = if tail.starts_with('A') { "B" } else { "A" };
        let changed = format!("{message}.{head}{other}{}", &tail[1..]);
        let refused = keys.verify(&changed, "https://auth.example");
        assert_eq!(refused, Err(InvalidToken::Signature));
    }
}
