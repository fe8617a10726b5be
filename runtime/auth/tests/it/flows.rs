//! From a revision, its documents and its challenge to the list of requests.

use mcp_revisions_auth::{Cause, Grant, Settings, StoredSignIn, TokenKind};

use super::{ISSUER, MCP, World, refused, unauthorized};

const RESOURCE: &str = "GET mcp.example/.well-known/oauth-protected-resource/x/mcp";
const RESOURCE_ROOT: &str = "GET mcp.example/.well-known/oauth-protected-resource";
const SERVER: &str = "GET auth.example/.well-known/oauth-authorization-server";
const OPENID: &str = "GET auth.example/.well-known/openid-configuration";
const REGISTER: &str = "POST auth.example/register";
const TOKEN: &str = "POST auth.example/token";

/// The metadata of the resource, at another place or with other members.
fn resource(members: &str) -> String {
    format!(r#"{{"resource":"{MCP}","authorization_servers":["{ISSUER}"]{members}}}"#)
}

#[test]
fn each_revision_is_discovered_by_the_requests_of_its_pages() {
    let known = "https://mcp.example/.well-known/oauth-protected-resource";
    let server = format!("{ISSUER}/.well-known/oauth-authorization-server");
    let metadata = World::latest().answers.get(&server).unwrap().1.clone();
    let tenant = metadata.replace(
        &format!(r#""issuer":"{ISSUER}""#),
        &format!(r#""issuer":"{ISSUER}/t1""#),
    );
    let of_tenant = resource("").replace(&format!("[\"{ISSUER}\"]"), &format!("[\"{ISSUER}/t1\"]"));
    let latest = World::latest();
    let old = World::new()
        .with("https://mcp.example/register", 201, r#"{"client_id":"c1"}"#)
        .with(
            "https://mcp.example/token",
            200,
            r#"{"access_token":"t","token_type":"Bearer"}"#,
        );
    let named = "Bearer resource_metadata=\"https://mcp.example/custom\"";
    for (what, world, challenge, expected) in [
        (
            "the well-known place",
            latest.clone(),
            "Bearer",
            vec![RESOURCE, SERVER, REGISTER, TOKEN],
        ),
        (
            "the place that the challenge names",
            latest
                .clone()
                .with("https://mcp.example/custom", 200, &resource("")),
            named,
            vec!["GET mcp.example/custom", SERVER, REGISTER, TOKEN],
        ),
        (
            "a named place without a document",
            latest.clone(),
            named,
            vec!["GET mcp.example/custom", RESOURCE, SERVER, REGISTER, TOKEN],
        ),
        (
            "the place without a path",
            latest
                .clone()
                .with(&format!("{known}/x/mcp"), 404, "")
                .with(known, 200, &resource("")),
            "",
            vec![RESOURCE, RESOURCE_ROOT, SERVER, REGISTER, TOKEN],
        ),
        (
            "a page in place of a document",
            latest
                .clone()
                .with(&format!("{known}/x/mcp"), 200, "<html>")
                .with(known, 200, &resource("")),
            "Bearer",
            vec![RESOURCE, RESOURCE_ROOT, SERVER, REGISTER, TOKEN],
        ),
        (
            "OpenID metadata",
            latest.clone().with(&server, 404, "").with(
                &format!("{ISSUER}/.well-known/openid-configuration"),
                200,
                &metadata,
            ),
            "Bearer",
            vec![RESOURCE, SERVER, OPENID, REGISTER, TOKEN],
        ),
        (
            "an issuer with a path, whose metadata are at the last place",
            latest
                .clone()
                .with(&format!("{known}/x/mcp"), 200, &of_tenant)
                .with(
                    &format!("{ISSUER}/t1/.well-known/openid-configuration"),
                    200,
                    &tenant,
                ),
            "Bearer",
            vec![
                RESOURCE,
                "GET auth.example/.well-known/oauth-authorization-server/t1",
                "GET auth.example/.well-known/openid-configuration/t1",
                "GET auth.example/t1/.well-known/openid-configuration",
                REGISTER,
                TOKEN,
            ],
        ),
        (
            "2025-03-26 without metadata",
            old,
            "",
            vec![
                RESOURCE,
                RESOURCE_ROOT,
                "GET mcp.example/.well-known/oauth-authorization-server",
                "POST mcp.example/register",
                "POST mcp.example/token",
            ],
        ),
    ] {
        let done = world.sign_in(challenge);
        assert_eq!(done.requests, expected, "{what}");
        assert!(done.outcome.is_ok(), "{what}: {:?}", done.outcome);
    }
}

#[test]
fn a_server_in_trouble_is_no_evidence_for_an_old_one() {
    let known = "https://mcp.example/.well-known/oauth-protected-resource";
    for (url, status) in [
        (format!("{known}/x/mcp"), 500),
        (format!("{known}/x/mcp"), 429),
        (format!("{known}/x/mcp"), 0),
        (
            format!("{ISSUER}/.well-known/oauth-authorization-server"),
            503,
        ),
    ] {
        let done = World::latest().with(&url, status, "").sign_in("Bearer");
        assert!(done.outcome.is_err(), "{url} {status}");
        let last = done.requests.last().unwrap();
        assert_eq!(
            *last,
            format!("GET {}", url.replace("https://", "")),
            "{status}"
        );
    }
    // Metadata of the resource, and no metadata of its authorization server: never the default endpoints.
    let server = format!("{ISSUER}/.well-known/oauth-authorization-server");
    let done = World::latest().with(&server, 404, "").sign_in("Bearer");
    assert_eq!(done.requests, [RESOURCE, SERVER, OPENID]);
    assert!(done.outcome.unwrap_err().contains("no metadata"));
    // The challenge names metadata that are nowhere.
    let done = World::new().sign_in("Bearer resource_metadata=\"https://mcp.example/custom\"");
    assert_eq!(
        done.requests,
        ["GET mcp.example/custom", RESOURCE, RESOURCE_ROOT]
    );
    assert!(done.outcome.is_err());
}

#[test]
fn a_token_is_refreshed_and_a_refused_refresh_is_a_sign_in_without_registration() {
    let world = World::latest();
    let kept = world.sign_in("Bearer").outcome.unwrap();
    let done = world.run(Settings::new(MCP), Some(kept.clone()), Cause::Expiring);
    assert_eq!(done.requests, [RESOURCE, SERVER, TOKEN]);
    let body = done.bodies.last().unwrap();
    assert!(
        body.starts_with("grant_type=refresh_token&refresh_token=r1&resource="),
        "{body}"
    );
    assert!(!body.contains("scope="), "{body}");
    // Without a new refresh token the old one stays.
    let token = format!("{ISSUER}/token");
    let without = world.clone().with(
        &token,
        200,
        r#"{"access_token":"t2","token_type":"Bearer"}"#,
    );
    let done = without.run(
        Settings::new(MCP),
        Some(kept.clone()),
        unauthorized("Bearer"),
    );
    let tokens = done.outcome.unwrap().tokens.unwrap();
    assert_eq!(
        (tokens.access.expose(), tokens.refresh.unwrap().expose()),
        ("t2", "r1")
    );
    for (code, registers) in [
        ("invalid_grant", false),
        ("invalid_request", false),
        ("invalid_client", true),
    ] {
        let refuses = world
            .clone()
            .with(&token, 400, &format!(r#"{{"error":"{code}"}}"#));
        let done = refuses.run(
            Settings::new(MCP),
            Some(kept.clone()),
            unauthorized("Bearer"),
        );
        let mut expected = vec![RESOURCE, SERVER, TOKEN];
        expected.extend(registers.then_some(REGISTER));
        // The exchange of the code, which this server refuses as well.
        expected.push(TOKEN);
        assert_eq!(done.requests, expected, "{code}");
    }
    // A server in trouble drops nothing.
    let down = world.clone().with(&token, 500, "");
    let done = down.run(Settings::new(MCP), Some(kept), unauthorized("Bearer"));
    assert!(done.page.is_none() && done.outcome.is_err());
}

#[test]
fn another_authorization_server_gets_neither_the_client_nor_the_tokens_of_the_first() {
    let kept = World::latest().sign_in("Bearer").outcome.unwrap();
    let mut moved = World::latest();
    for (_, body) in moved.answers.values_mut() {
        *body = body
            .replace("auth.example", "other.example")
            .replace("\"c1\"", "\"c2\"");
    }
    let answers = moved.answers.clone().into_iter();
    moved.answers = answers
        .map(|(url, it)| (url.replace("auth.example", "other.example"), it))
        .collect();
    let done = moved.run(Settings::new(MCP), Some(kept), unauthorized("Bearer"));
    let expected = [
        RESOURCE,
        "GET other.example/.well-known/oauth-authorization-server",
        "POST other.example/register",
        "POST other.example/token",
    ];
    assert_eq!(done.requests, expected);
    assert!(done.page.unwrap().contains("client_id=c2"));
    let sent = done.bodies.join(" ");
    assert!(!sent.contains("r1") && !sent.contains("c1"), "{sent}");
}

#[test]
fn a_step_up_requests_the_union_of_scopes_and_ends_when_there_is_nothing_to_add() {
    let world = World::latest();
    let kept = world.sign_in("Bearer scope=\"a b\"").outcome.unwrap();
    let more = "Bearer error=\"insufficient_scope\", scope=\"c\"";
    let done = world.run(Settings::new(MCP), Some(kept.clone()), refused(403, more));
    assert!(done.page.unwrap().contains("scope=a+b+c"));
    let same = "Bearer error=\"insufficient_scope\", scope=\"b\"";
    let done = world.run(Settings::new(MCP), Some(kept), refused(403, same));
    assert!(done.requests.is_empty());
    assert!(done.outcome.unwrap_err().contains("requested already"));
    // A server that does not say what it wants: a person has to.
    let unnamed = "Bearer error=\"insufficient_scope\"";
    let kept = world.sign_in("Bearer scope=\"a b\"").outcome.unwrap();
    let mut settings = Settings::new(MCP);
    let done = world.run(settings.clone(), Some(kept.clone()), refused(403, unnamed));
    let told = done.outcome.unwrap_err();
    assert!(
        told.contains("names no scope") && told.contains("--scope"),
        "{told}"
    );
    settings.scopes = vec!["c".to_owned()];
    let done = world.run(settings, Some(kept), refused(403, unnamed));
    assert!(done.page.unwrap().contains("scope=a+b+c"));
}

#[test]
fn scopes_of_the_settings_stand_in_place_of_those_that_the_server_wants_but_for_a_step_up() {
    let mut settings = Settings::new(MCP);
    settings.scopes = vec!["read".to_owned()];
    let done = World::latest().run(settings.clone(), None, unauthorized("Bearer scope=\"bad\""));
    let page = done.page.unwrap();
    assert!(
        page.contains("scope=read") && !page.contains("bad"),
        "{page}"
    );
    let kept = done.outcome.ok();
    let more = "Bearer error=\"insufficient_scope\", scope=\"write\"";
    let done = World::latest().run(settings, kept, refused(403, more));
    assert!(done.page.unwrap().contains("scope=read+write"));
}

#[test]
fn a_sign_in_that_a_person_abandons_costs_the_tokens_of_before_nothing() {
    let world = World::latest();
    let kept = world.sign_in("Bearer scope=\"a\"").outcome.unwrap();
    let register = format!("{ISSUER}/register");
    let mut abandoned = world.clone().with(&register, 201, r#"{"client_id":"c2"}"#);
    abandoned.returned = String::new();
    let more = "Bearer error=\"insufficient_scope\", scope=\"b\"";
    let done = abandoned.run(Settings::new(MCP), Some(kept), refused(403, more));
    assert!(done.outcome.is_err());
    let kept = StoredSignIn::from_json(&done.stored.unwrap().to_json()).unwrap();
    assert_eq!(kept.pending.as_ref().unwrap().registration.client_id, "c2");
    let done = world.run(Settings::new(MCP), Some(kept.clone()), Cause::Expiring);
    assert_eq!(done.requests, [RESOURCE, SERVER, TOKEN]);
    assert!(
        done.bodies[2].contains("client_id=c1"),
        "{}",
        done.bodies[2]
    );
    assert!(done.outcome.unwrap().pending.is_none());
    // Its client may be forgotten by the authorization server: a sign-in does not use it again.
    let mut later = world;
    later.now += 600;
    let done = later.run(Settings::new(MCP), Some(kept), refused(403, more));
    assert!(
        done.requests.contains(&REGISTER.to_owned()),
        "{:?}",
        done.requests
    );
}

#[test]
fn a_page_that_a_process_left_open_is_good_for_the_next_process_until_its_time() {
    let world = World::latest();
    let begun = world.sign_in("Bearer scope=\"mcp\"");
    let left = begun.left.unwrap();
    assert!(left.pending.is_some() && !begun.was_open);
    let next = |left: &StoredSignIn, seconds, challenge| {
        let mut later = world.clone();
        later.now += seconds;
        later.run(
            Settings::new(MCP),
            Some(left.clone()),
            unauthorized(challenge),
        )
    };
    let resumed = next(&left, 599, "Bearer scope=\"mcp\"");
    assert_eq!(resumed.page, begun.page);
    assert!(resumed.was_open && !resumed.requests.iter().any(|it| *it == REGISTER));
    let kept = resumed.outcome.unwrap();
    assert!(kept.pending.is_none() && kept.tokens.is_some());
    let [first, second] = [begun.bodies, resumed.bodies].map(|all| all.last().unwrap().clone());
    assert_eq!(first, second, "the verifier is that of the page");
    // Too late, or for another scope: it is another page.
    for (seconds, challenge) in [(600, "Bearer scope=\"mcp\""), (1, "Bearer scope=\"more\"")] {
        let other = next(&left, seconds, challenge);
        assert!(!other.was_open && other.outcome.is_ok(), "{challenge}");
        assert!(other.requests.iter().any(|it| *it == REGISTER));
    }
    // A page that was answered, or not answered in its time, is not waited for again.
    let mut silent = world.clone();
    silent.returned = String::new();
    let stored = silent.sign_in("Bearer").stored.unwrap();
    assert!(!next(&stored, 1, "Bearer").was_open);
    let mut denied = world.clone();
    denied.returned = "error=access_denied&state={state}".to_owned();
    let done = denied.sign_in("Bearer");
    assert!(done.outcome.is_err() && done.stored.unwrap().pending.is_none());
}

#[test]
fn sign_ins_are_counted_in_the_store_but_for_those_that_a_person_begins() {
    let mut world = World::latest();
    let mut kept = None;
    for _ in 0..3 {
        let done = world.run(Settings::new(MCP), kept, unauthorized("Bearer"));
        let mut signed_out = done.outcome.unwrap();
        signed_out.tokens = None;
        kept = Some(StoredSignIn::from_json(&signed_out.to_json()).unwrap());
    }
    let more = world.run(Settings::new(MCP), kept.clone(), unauthorized("Bearer"));
    assert!(more.page.is_none() && more.outcome.unwrap_err().contains("3 sign-ins"));
    assert!(
        world
            .run(Settings::new(MCP), kept.clone(), Cause::Login)
            .outcome
            .is_ok()
    );
    world.now += 600;
    assert!(
        world
            .run(Settings::new(MCP), kept, unauthorized("Bearer"))
            .outcome
            .is_ok()
    );
}

#[test]
fn a_client_is_registered_again_for_scopes_that_its_registration_lacks() {
    let world = World::latest();
    let kept = world.sign_in("Bearer scope=\"a b\"").outcome.unwrap();
    let more = "Bearer error=\"insufficient_scope\", scope=\"c\"";
    let done = world.run(Settings::new(MCP), Some(kept), refused(403, more));
    assert_eq!(done.requests, [RESOURCE, SERVER, REGISTER, TOKEN]);
    let registration = &done.bodies[2];
    assert!(
        registration.contains(r#""scope":"a b c""#),
        "{registration}"
    );
    // The registration is kept with its scopes: signing in for fewer of them needs no other one.
    let mut kept = StoredSignIn::from_json(&done.outcome.unwrap().to_json()).unwrap();
    kept.tokens = None;
    let done = world.run(
        Settings::new(MCP),
        Some(kept),
        unauthorized("Bearer scope=\"c a\""),
    );
    assert_eq!(done.requests, [RESOURCE, SERVER, TOKEN]);
}

/// Servers with a sign-in by device code; the token comes after so many waits.
fn device_world(waits: usize) -> World {
    let mut world = World::latest();
    let place = format!("{ISSUER}/.well-known/oauth-authorization-server");
    let (_, metadata) = world.answers.get_mut(&place).unwrap();
    *metadata = metadata.replacen(
        '{',
        &format!(r#"{{"device_authorization_endpoint":"{ISSUER}/device","revocation_endpoint":"{ISSUER}/revoke","#),
        1,
    );
    let token = format!("{ISSUER}/token");
    let pending = r#"{"error":"authorization_pending"}"#;
    let (_, issued) = world.answers[&token].clone();
    world
        .with(
            &format!("{ISSUER}/device"),
            200,
            &format!(
                r#"{{"device_code":"d","user_code":"AB\u001b-1","verification_uri":"{ISSUER}/g\no","expires_in":60,"interval":7}}"#
            ),
        )
        .with(&token, 400, pending)
        .with(&format!("{token} 2"), 400, r#"{"error":"slow_down"}"#)
        .with(&format!("{token} {waits}"), 200, &issued)
}

fn by_device() -> Settings {
    let mut settings = Settings::new(MCP);
    settings.grant = Grant::Device;
    settings
}

#[test]
fn a_person_without_a_browser_here_signs_in_by_a_code_at_the_pace_of_the_server() {
    const DEVICE: &str = "POST auth.example/device";
    let done = device_world(4).run(by_device(), None, unauthorized("Bearer scope=\"a\""));
    let page = |seconds| {
        let code = "AB\\u{1b}-1".to_owned();
        (format!("{ISSUER}/go"), code, seconds)
    };
    assert_eq!(done.waits, [page(7), page(7), page(12), page(12)]);
    let expected = [
        RESOURCE, SERVER, REGISTER, DEVICE, TOKEN, TOKEN, TOKEN, TOKEN,
    ];
    assert_eq!(done.requests, expected);
    let registration = &done.bodies[2];
    assert!(registration.contains("device_code"), "{registration}");
    assert!(
        !registration.contains("authorization_code"),
        "{registration}"
    );
    assert!(done.bodies[3].contains("scope=a"), "{}", done.bodies[3]);
    assert!(
        done.bodies[4].contains("&device_code=d&resource="),
        "{}",
        done.bodies[4]
    );
    assert_eq!(
        done.outcome.unwrap().tokens.unwrap().access.expose(),
        "t0ken"
    );
    // A server that is away for a moment while the person signs in.
    let token = format!("{ISSUER}/token");
    let away = device_world(4).with(&format!("{token} 1"), 503, "");
    let done = away.run(by_device(), None, unauthorized("Bearer"));
    assert!(done.outcome.is_ok(), "{:?}", done.outcome);
    assert_eq!(done.waits, [page(7), page(12), page(17), page(17)]);
    // A person that does nothing, and one that declines.
    let done = device_world(100).run(by_device(), None, unauthorized("Bearer"));
    assert!(done.waits.len() < 9, "{:?}", done.waits);
    assert!(done.outcome.unwrap_err().contains("within 60 seconds"));
    let token = format!("{ISSUER}/token 1");
    let declined = device_world(4).with(&token, 400, r#"{"error":"access_denied"}"#);
    let done = declined.run(by_device(), None, unauthorized("Bearer"));
    assert!(done.outcome.unwrap_err().contains("access_denied"));
    // The server names a page that no browser may open, or knows no sign-in by a code.
    let device = format!("{ISSUER}/device");
    let script = r#"{"device_code":"d","user_code":"A","verification_uri":"javascript:alert(1)"}"#;
    let done =
        device_world(4)
            .with(&device, 200, script)
            .run(by_device(), None, unauthorized("Bearer"));
    assert!(done.waits.is_empty() && done.outcome.is_err());
    let done = World::latest().run(by_device(), None, unauthorized("Bearer"));
    assert!(done.outcome.unwrap_err().contains("device code"));
}

#[test]
fn signing_out_revokes_both_tokens_where_the_server_has_an_endpoint_for_it() {
    const REVOKE: &str = "POST auth.example/revoke";
    let world = device_world(1).with(&format!("{ISSUER}/revoke"), 200, "");
    let kept = world.run(by_device(), None, unauthorized("Bearer"));
    let kept = kept.outcome.unwrap();
    let done = world.run(by_device(), Some(kept.clone()), Cause::Revoke);
    assert_eq!(done.requests, [RESOURCE, SERVER, REVOKE, REVOKE]);
    let form = "&token_type_hint=refresh_token&client_id=c1";
    assert_eq!(done.bodies[2], format!("token=r1{form}"));
    assert!(done.bodies[3].starts_with("token=t0ken&token_type_hint=access_token"));
    let after = done.outcome.unwrap();
    assert!(after.tokens.is_none() && after.registration == kept.registration);
    // Each token has an outcome of its own: a server may revoke only one kind.
    let refuses = world.with(
        &format!("{ISSUER}/revoke"),
        400,
        r#"{"error":"invalid_client"}"#,
    );
    let done = refuses.run(by_device(), Some(kept.clone()), Cause::Revoke);
    let outcomes = done.report.revocations.into_iter();
    let whys: Vec<String> = outcomes
        .map(|(_, it)| it.unwrap_err().to_string())
        .collect();
    let expected = [TokenKind::Refresh, TokenKind::Access]
        .map(|token| format!("{ISSUER} does not revoke the {token}: invalid_client"));
    assert_eq!(whys, expected);
    let done = World::latest().run(by_device(), Some(kept), Cause::Revoke);
    assert!(done.outcome.unwrap_err().contains("no endpoint"));
}
