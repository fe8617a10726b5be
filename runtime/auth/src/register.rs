//! The client that signs in: registered before, by a metadata document, or by dynamic registration (RFC 7591).

use serde_json::json;

use crate::address::is_same_issuer;
use crate::document::{ServerMetadata, oauth_error, object, text, texts};
use crate::settings::DEVICE_CODE;
use crate::step::{Desk, FlowMethod, FlowPurpose, FlowRequest};
use crate::{AuthError, Registration, Secret, Settings, StoredSignIn};

/// Returns the client to use with an issuer, in the order of the specification. `redirect` is where the browser comes back to;
/// grants without a person have none.
pub(crate) async fn client(
    desk: &Desk,
    settings: &Settings,
    kept: &StoredSignIn,
    server: &ServerMetadata,
    redirect: Option<&str>,
    scope: Option<&str>,
) -> Result<Registration, AuthError> {
    let redirect_uris: Vec<String> = redirect.into_iter().map(str::to_owned).collect();
    let before = kept.registration.as_ref();
    if let Some(id) = &settings.client_id {
        // The client is bound to the issuer that it was used with first.
        if let Some(before) = before.filter(|it| it.client_id == *id)
            && settings.issuer.is_none()
            && !is_same_issuer(&before.issuer, &server.issuer)
        {
            return Err(AuthError::Bound {
                expected: before.issuer.clone(),
                found: server.issuer.clone(),
            });
        }
        return Ok(Registration {
            issuer: server.issuer.clone(),
            client_id: id.clone(),
            client_secret: settings.client_secret.clone(),
            redirect_uris,
            ..Registration::default()
        });
    }
    if let Some(url) = &settings.client_metadata_url
        && server.supports_metadata_documents
    {
        return Ok(Registration {
            issuer: server.issuer.clone(),
            client_id: url.clone(),
            auth_method: Some("none".to_owned()),
            redirect_uris,
            ..Registration::default()
        });
    }
    let is_usable = |it: &&Registration| {
        it.is_dynamic
            && it.issuer == server.issuer
            && (it.expires_at == 0 || it.expires_at > desk.now())
            && redirect.is_none_or(|redirect| it.redirect_uris.iter().any(|one| one == redirect))
            && has_scopes(it, scope)
    };
    if let Some(before) = before.filter(is_usable) {
        return Ok(before.clone());
    }
    let none = |why: String| AuthError::NoClient {
        issuer: server.issuer.clone(),
        why,
    };
    let has_person = settings.grant.has_person();
    let Some(endpoint) = server.registration_endpoint.as_ref().filter(|_| has_person) else {
        return Err(none(String::new()));
    };
    register(desk, settings, server, endpoint, redirect, scope)
        .await?
        .map_err(none)
}

/// Returns whether a registration names each requested scope: an authorization server may refuse the others.
fn has_scopes(registration: &Registration, requested: Option<&str>) -> bool {
    let registered = registration.scope.as_deref().unwrap_or_default();
    let mut needed = requested.unwrap_or_default().split_whitespace();
    needed.all(|scope| registered.split_whitespace().any(|one| one == scope))
}

async fn register(
    desk: &Desk,
    settings: &Settings,
    server: &ServerMetadata,
    endpoint: &str,
    redirect: Option<&str>,
    scope: Option<&str>,
) -> Result<Result<Registration, String>, AuthError> {
    let supports = |method: &str| {
        let methods = server.auth_methods.as_ref();
        methods.is_some_and(|all| all.iter().any(|one| one == method))
    };
    let methods = ["none", "client_secret_post", "client_secret_basic"];
    let method = match &server.auth_methods {
        None => "none",
        Some(_) => methods
            .into_iter()
            .find(|it| supports(it))
            .unwrap_or("none"),
    };
    let (grant_type, response_types) = match redirect {
        Some(_) => ("authorization_code", &["code"][..]),
        None => (DEVICE_CODE, &[][..]),
    };
    let mut body = json!({
        "client_name": settings.client_name,
        "redirect_uris": redirect.as_slice(),
        "application_type": "native",
        "grant_types": [grant_type, "refresh_token"],
        "response_types": response_types,
        "token_endpoint_auth_method": method,
    });
    if let Some(scope) = scope {
        body["scope"] = json!(scope);
    }
    let request = FlowRequest {
        purpose: FlowPurpose::Registration,
        method: FlowMethod::Post,
        url: endpoint.to_owned(),
        headers: vec![
            ("Content-Type", "application/json".to_owned()),
            ("Accept", "application/json".to_owned()),
        ],
        body: Some(body.to_string()),
    };
    let answer = desk.send(request).await?;
    if !matches!(answer.status, 200 | 201) {
        let (code, description) = oauth_error(&answer);
        if code == "invalid_redirect_uri" {
            let issuer = server.issuer.clone();
            return Err(AuthError::Denied {
                issuer,
                code,
                description,
            });
        }
        return Ok(Err(format!(" ({code}{description})")));
    }
    let body = object(&answer).unwrap_or_default();
    let Some(client_id) = text(&body, "client_id") else {
        return Ok(Err(" (its response has no `client_id`)".to_owned()));
    };
    let client_secret = text(&body, "client_secret").map(Secret::from);
    let named = text(&body, "token_endpoint_auth_method");
    let auth_method = named.or_else(|| {
        // RFC 7591, section 2: without the member it is Basic.
        let method = match client_secret {
            Some(_) => "client_secret_basic",
            None => "none",
        };
        Some(method.to_owned())
    });
    let mut redirect_uris = texts(&body, "redirect_uris").unwrap_or_default();
    redirect_uris.extend(redirect.map(str::to_owned));
    redirect_uris.dedup();
    let ends = body.get("client_secret_expires_at");
    Ok(Ok(Registration {
        issuer: server.issuer.clone(),
        client_id,
        client_secret,
        auth_method,
        redirect_uris,
        scope: scope.map(str::to_owned),
        expires_at: ends.and_then(serde_json::Value::as_u64).unwrap_or_default(),
        is_dynamic: true,
    }))
}
