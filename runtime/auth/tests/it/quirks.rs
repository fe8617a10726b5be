//! Authorization servers that are in use, each with what is odd about it: which of them sign in as they are, and which option
//! the others need.

use mcp_revisions_auth::{Cause, ResourceParameter, Settings};

use super::{ISSUER, MCP, World, unauthorized};

const METADATA: &str = "https://auth.example/.well-known/oauth-authorization-server";
const OPENID: &str = "https://auth.example/.well-known/openid-configuration";
const RESOURCE: &str = "https://mcp.example/.well-known/oauth-protected-resource/x/mcp";

/// Replaces a text in a document of the servers.
fn with(mut world: World, place: &str, from: &str, to: &str) -> World {
    let (_, document) = world.answers.get_mut(place).unwrap();
    assert!(document.contains(from), "{document}");
    *document = document.replace(from, to);
    world
}

fn settings(change: impl FnOnce(&mut Settings)) -> Settings {
    let mut settings = Settings::new(MCP);
    change(&mut settings);
    settings
}

/// Servers without the list of PKCE methods.
fn without_pkce() -> World {
    let list = r#""code_challenge_methods_supported":["S256"]"#;
    with(World::latest(), METADATA, list, r#""x":1"#)
}

#[test]
fn entra_signs_in_without_its_list_of_pkce_methods_and_without_the_resource() {
    let entra = without_pkce();
    let refused = entra.sign_in("Bearer");
    assert!(refused.page.is_none());
    assert!(refused.outcome.unwrap_err().contains("--assume-pkce"));
    let allowed = settings(|it| {
        it.assumes_pkce = true;
        it.resource = ResourceParameter::None;
        it.refresh_scope = Some("api://app/.default".to_owned());
        it.client_id = Some("registered-by-hand".to_owned());
    });
    let done = entra.run(allowed.clone(), None, unauthorized("Bearer"));
    let page = done.page.unwrap();
    assert!(
        page.contains("code_challenge_method=S256") && !page.contains("resource="),
        "{page}"
    );
    assert!(!done.bodies.join(" ").contains("resource="));
    let kept = done.outcome.unwrap();
    let done = entra.run(allowed, Some(kept), Cause::Expiring);
    let body = done.bodies.last().unwrap();
    assert!(body.contains("scope=api%3A%2F%2Fapp%2F.default"), "{body}");
}

#[test]
fn google_and_auth0_have_an_issuer_that_gains_or_lacks_its_slash() {
    let slash = format!("\"{ISSUER}/\"");
    let bare = format!("\"{ISSUER}\"");
    for (place, shown) in [(RESOURCE, "the resource"), (METADATA, "the metadata")] {
        let world = with(World::latest(), place, &bare, &slash);
        let wanted = settings(|it| {
            let parameters = [
                ("access_type", "offline"),
                ("audience", "https://api.example"),
            ];
            it.authorize_parameters = parameters
                .map(|(name, value)| (name.into(), value.into()))
                .into();
        });
        let done = world.run(wanted, None, unauthorized("Bearer"));
        let page = done.page.unwrap();
        assert!(
            page.contains("access_type=offline&audience=https"),
            "{page}"
        );
        assert!(done.outcome.is_ok(), "{shown}: {:?}", done.outcome);
    }
}

#[test]
fn cognito_has_the_metadata_of_openid_only() {
    let mut cognito = World::latest();
    let document = cognito.answers.remove(METADATA).unwrap();
    cognito.answers.insert(OPENID.to_owned(), document);
    assert!(cognito.sign_in("Bearer").outcome.is_ok());
}

#[test]
fn atlassian_has_metadata_of_another_issuer_which_is_named_by_an_option() {
    let other = "https://auth.example/tenant";
    let place = "https://auth.example/.well-known/oauth-authorization-server/tenant";
    let named = with(
        World::latest(),
        RESOURCE,
        &format!("\"{ISSUER}\""),
        &format!("\"{other}\""),
    );
    let document = named.answers[METADATA].1.clone();
    let atlassian = named.with(place, 200, &document);
    let refused = atlassian.sign_in("Bearer");
    assert!(refused.page.is_none() && refused.outcome.unwrap_err().contains("--issuer"));
    let pinned = settings(|it| it.issuer = Some(ISSUER.to_owned()));
    let done = atlassian.run(pinned, None, unauthorized("Bearer"));
    assert!(done.outcome.is_ok(), "{:?}", done.outcome);
}

#[test]
fn github_registers_no_clients_and_takes_one_that_is_registered_by_hand() {
    let github = with(
        World::latest(),
        METADATA,
        "registration_endpoint",
        "other_endpoint",
    );
    let refusing = World::latest().with(&format!("{ISSUER}/register"), 422, "<html>no</html>");
    for world in [github, refusing] {
        let refused = world.sign_in("Bearer");
        assert!(refused.page.is_none());
        let why = refused.outcome.unwrap_err();
        assert!(why.contains("--client-id") && !why.contains('\n'), "{why}");
        let by_hand = settings(|it| it.client_id = Some("by-hand".to_owned()));
        let done = world.run(by_hand, None, unauthorized("Bearer"));
        assert!(done.page.unwrap().contains("client_id=by-hand"));
        assert!(done.outcome.is_ok());
    }
}

#[test]
fn cloudflare_refuses_a_scope_that_it_does_not_know_and_its_reason_is_the_error() {
    let mut cloudflare = World::latest();
    cloudflare.returned =
        "error=invalid_scope&error_description=unknown+%1B%5B31mx&state={state}".to_owned();
    let why = cloudflare
        .sign_in("Bearer scope=\"x\"")
        .outcome
        .unwrap_err();
    assert!(
        why.contains("invalid_scope: unknown") && !why.contains('\u{1b}'),
        "{why}"
    );
}

#[test]
fn keycloak_rotates_its_refresh_tokens_and_gives_out_tokens_of_seconds() {
    let token = format!("{ISSUER}/token");
    let short =
        r#"{"access_token":"t1","token_type":"Bearer","expires_in":5,"refresh_token":"r2"}"#;
    let keycloak = World::latest().with(&token, 200, short);
    let kept = keycloak.sign_in("Bearer").outcome.unwrap();
    let tokens = kept.tokens.clone().unwrap();
    let end = tokens.expires_at.unwrap();
    assert!(
        !tokens.is_due(end - 4) && tokens.is_due(end - 2),
        "half of its life, and not at once"
    );
    let next = short.replace("r2", "r3").replace("t1", "t2");
    let done = keycloak.clone().with(&token, 200, &next).run(
        Settings::new(MCP),
        Some(kept),
        Cause::Expiring,
    );
    let refreshed = done.outcome.unwrap().tokens.unwrap();
    assert_eq!(refreshed.refresh.unwrap().expose(), "r3");
    assert!(done.bodies.last().unwrap().contains("refresh_token=r2"));
}

#[test]
fn servers_that_write_one_authorization_server_texts_for_numbers_or_secrets_without_a_method_are_read()
 {
    let singular = with(
        World::latest(),
        RESOURCE,
        &format!(r#""authorization_servers":["{ISSUER}"]"#),
        &format!(r#""authorization_server":"{ISSUER}""#),
    );
    assert!(singular.sign_in("Bearer").outcome.is_ok());
    let register = format!("{ISSUER}/register");
    let secret = World::latest().with(&register, 201, r#"{"client_id":"c1","client_secret":"s"}"#);
    let done = secret.sign_in("Bearer");
    assert!(
        !done.bodies.join(" ").contains("client_secret=s"),
        "it is Basic without a method"
    );
    let tokens = done.outcome.unwrap().tokens.unwrap();
    assert_eq!(
        tokens.expires_at,
        Some(tokens.obtained_at + 3600),
        "the lifetime is a text"
    );
}

#[test]
fn a_401_without_a_challenge_is_one_and_a_refused_code_ends_the_sign_in() {
    let world = World::latest();
    let bare = Cause::Refused(mcp_revisions_auth::RefusedRequest {
        status: 401,
        ..Default::default()
    });
    assert!(world.run(Settings::new(MCP), None, bare).outcome.is_ok());
    let refuses = world.with(
        &format!("{ISSUER}/token"),
        400,
        r#"{"error":"invalid_grant"}"#,
    );
    let why = refuses.sign_in("Bearer").outcome.unwrap_err();
    assert!(why.contains("invalid_grant"), "{why}");
}

#[test]
fn answers_of_a_token_endpoint_in_other_spellings_give_the_token_or_the_words_of_the_provider() {
    let token = format!("{ISSUER}/token");
    let answered = |status, body: &str| {
        let done = World::latest().with(&token, status, body).sign_in("Bearer");
        done.outcome.map(|kept| kept.tokens.unwrap())
    };
    for (status, body) in [
        (201, r#"{"access_token":"t","token_type":"Bearer"}"#),
        (200, r#"{"ok":true,"access_token":"t","token_type":"user"}"#),
        (
            200,
            r#"{"ok":true,"scope":"","authed_user":{"id":"U1","access_token":"t","token_type":"user"}}"#,
        ),
        (200, r#"{"access_token":"t"}"#),
        (
            200,
            r#"{"access_token":"t","token_type":"Bearer ","error":null,"expires_in":3600.0}"#,
        ),
    ] {
        let tokens = answered(status, body).unwrap_or_else(|why| panic!("{body}: {why}"));
        assert!(tokens.access.expose() == "t" && !tokens.is_dpop, "{body}");
    }
    let rows = r#"
200 | {"ok":false,"error":"invalid_team"} | invalid_team
200 | {"error":"bad_code","error_description":"it is wrong"} | bad_code: it is wrong
401 | {"error":{"code":"E77","message":"no such app"}} | E77: no such app
400 | {"errors":[{"message":"first"}]} | first
403 | {"message":"IP not on the list 3"} | HTTP status 403: IP not on the list 3
400 | disabled by policy 9 | HTTP status 400: disabled by policy 9
400 | <html><title>Gone</title></html> | HTTP status 400: Gone
500 | {"error":"server_error","error_description":"boom 5"} | HTTP status 500: server_error: boom 5; try again
"#;
    for row in rows.trim().lines() {
        let [status, body, words] = row.split(" | ").collect::<Vec<_>>().try_into().unwrap();
        let status = status.parse().unwrap();
        // A text has a line end, as an error page has.
        let body = &format!("{body}\n");
        let why = answered(status, body).unwrap_err();
        assert!(why.contains(words), "{body}: {why}");
    }
}

#[test]
fn a_resource_that_lists_no_usable_authorization_server_beside_a_good_one_leads_to_the_good_one() {
    let list = format!(r#""authorization_servers":["{ISSUER}"]"#);
    let bad = "http://sso.internal.example/realms/x";
    for lists in [
        format!(r#""authorization_servers":["{ISSUER}","{bad}"]"#),
        format!(r#""authorization_servers":["{bad}","sso",7,"{ISSUER}"]"#),
        format!(r#""authorization_servers":["{ISSUER}/none","{ISSUER}"]"#),
        format!(r#""authorization_servers":"{ISSUER}""#),
        format!(r#""authorization_servers":[{{"issuer":"{ISSUER}"}}]"#),
    ] {
        let done = with(World::latest(), RESOURCE, &list, &lists).sign_in("Bearer");
        assert!(done.outcome.is_ok(), "{lists}: {:?}", done.outcome);
    }
    // None is named: it is the server itself, as for other clients.
    for lists in [
        r#""x":1"#,
        r#""authorization_servers":null"#,
        r#""authorization_servers":[]"#,
    ] {
        let mut own = with(World::latest(), RESOURCE, &list, lists);
        let document = own.answers[METADATA]
            .1
            .replace(ISSUER, "https://mcp.example");
        let place = METADATA.replace(ISSUER, "https://mcp.example");
        for name in ["register", "token"] {
            let answer = own.answers[&format!("{ISSUER}/{name}")].clone();
            (own.answers).insert(format!("https://mcp.example/{name}"), answer);
        }
        let done = own.with(&place, 200, &document).sign_in("Bearer");
        assert_eq!(
            done.outcome.unwrap().issuer,
            "https://mcp.example",
            "{lists}"
        );
    }
    let none = with(
        World::latest(),
        RESOURCE,
        &list,
        &format!(r#""authorization_servers":["{bad}"]"#),
    );
    assert!(none.sign_in("Bearer").outcome.unwrap_err().contains(bad));
    // A named issuer needs no list, and no document.
    let pinned = || settings(|it| it.issuer = Some(ISSUER.to_owned()));
    let challenge = "Bearer resource_metadata=\"http://10.0.0.1/x\"";
    assert!(
        none.run(pinned(), None, unauthorized(challenge))
            .outcome
            .is_ok()
    );
}

#[test]
fn a_client_that_may_not_name_its_scope_or_its_grant_registers_without() {
    for (refused, requests) in [
        (vec!["\"scope\""], 2),
        (vec!["\"scope\"", "refresh_token"], 3),
    ] {
        let mut world = World::latest();
        world.refused = refused;
        let challenge = "Bearer scope=\"mcp\"";
        let done = world.sign_in(challenge);
        let kept = done.outcome.unwrap();
        let is_registration = |it: &&String| it.ends_with("/register");
        assert_eq!(
            done.requests.iter().filter(is_registration).count(),
            requests
        );
        assert!(done.page.unwrap().contains("scope=mcp"));
        let again = world.run(Settings::new(MCP), Some(kept), Cause::Login);
        assert!(
            !again.requests.iter().any(|it| it.ends_with("/register")),
            "it is registered"
        );
    }
    let mut world = World::latest();
    world.refused = vec!["client_name"];
    let why = world.sign_in("Bearer").outcome.unwrap_err();
    assert!(
        why.contains("invalid_client_metadata: no client_name") && why.contains("--client-id"),
        "{why}"
    );
}

#[test]
fn s256_counts_wherever_it_is_listed_and_metadata_at_other_places_have_an_option() {
    let mut second = without_pkce();
    assert!(second.sign_in("Bearer").outcome.is_err());
    let document = World::latest().answers[METADATA].1.clone();
    (second.answers).insert(OPENID.to_owned(), (200, document.clone()));
    assert!(second.sign_in("Bearer").outcome.is_ok());
    let plain = with(World::latest(), METADATA, "S256", "plain");
    let assumed = settings(|it| it.assumes_pkce = true);
    let why = plain.run(assumed, None, unauthorized("Bearer")).outcome;
    let why = why.unwrap_err();
    assert!(
        why.contains("without S256") && !why.contains("--assume-pkce"),
        "{why}"
    );
    let place = "https://auth.example/deep/.well-known/oauth-authorization-server";
    let mut deep = World::latest();
    deep.answers.remove(METADATA);
    let deep = deep.with(place, 200, &document);
    let why = deep.sign_in("Bearer").outcome.unwrap_err();
    assert!(why.contains("--issuer-metadata"), "{why}");
    let named = settings(|it| it.issuer_metadata = Some(place.to_owned()));
    assert!(
        deep.run(named, None, unauthorized("Bearer"))
            .outcome
            .is_ok()
    );
}

#[test]
fn a_refresh_token_is_wanted_with_the_consent_that_it_needs() {
    let lists = r#""scopes_supported":["mcp","offline_access"],"x":"#;
    let world = with(
        World::latest(),
        METADATA,
        r#""code_challenge"#,
        &format!(r#"{lists}1,"code_challenge"#),
    );
    let page = world.sign_in("Bearer scope=\"mcp\"").page.unwrap();
    assert!(
        page.contains("scope=mcp+offline_access&prompt=consent"),
        "{page}"
    );
    let chosen = settings(|it| it.authorize_parameters = vec![("prompt".into(), "login".into())]);
    let page = world
        .run(chosen, None, unauthorized("Bearer scope=\"mcp\""))
        .page
        .unwrap();
    assert!(
        page.ends_with("prompt=login") && !page.contains("consent"),
        "{page}"
    );
}

#[test]
fn a_check_foresees_the_client_the_scopes_and_pkce() {
    let lists = r#""scopes_supported":["mcp"],"code_challenge"#;
    let world = with(World::latest(), METADATA, r#""code_challenge"#, lists);
    let check = |world: &World, settings| {
        let refused = mcp_revisions_auth::RefusedRequest {
            challenges: mcp_revisions_auth::Challenge::read(["Bearer scope=\"mcp admin\""]),
            ..Default::default()
        };
        world.run(settings, None, Cause::Check(refused))
    };
    let done = check(&world, Settings::new(MCP));
    let forecast = done.report.forecast.unwrap();
    assert!(done.page.is_none() && forecast.lists_pkce);
    assert!(forecast.client.contains("registers itself"), "{forecast:?}");
    let scopes = [
        ("mcp".to_owned(), Some(true)),
        ("admin".to_owned(), Some(false)),
    ];
    assert_eq!(forecast.scopes, scopes);
    let closed = with(world, METADATA, "registration_endpoint", "other");
    let why = check(&closed, Settings::new(MCP)).outcome.unwrap_err();
    assert!(why.contains("does not register clients"), "{why}");
    let by_hand = check(&closed, Settings::new(MCP).with_client("by-hand", None));
    assert_eq!(by_hand.report.forecast.unwrap().client, "by-hand");
}
