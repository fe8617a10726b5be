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
