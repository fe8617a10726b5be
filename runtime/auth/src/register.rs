//! The client that signs in: registered before, by a metadata document, or by dynamic registration (RFC 7591).

use serde_json::{Value, json};

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
    let registering = ClientRegistration {
        desk,
        settings,
        server,
        endpoint,
        redirect,
        scope,
    };
    let mut refusals: Vec<String> = Vec::new();
    for members in [
        OptionalMembers::All,
        OptionalMembers::Grants,
        OptionalMembers::None,
    ] {
        if members == OptionalMembers::Grants && scope.is_none() {
            continue;
        }
        match registering.register(members).await? {
            Ok(registration) => return Ok(registration),
            Err(why) if refusals.contains(&why) => {}
            Err(why) => refusals.push(why),
        }
    }
    Err(none(refusals.join("; ")))
}

/// Returns the client that a sign-in would use, as a text for people.
pub(crate) fn foresee_client(
    settings: &Settings,
    server: &ServerMetadata,
) -> Result<String, AuthError> {
    let document =
        (settings.client_metadata_url.as_ref()).filter(|_| server.supports_metadata_documents);
    if let Some(id) = settings.client_id.as_ref().or(document) {
        return Ok(id.clone());
    }
    match &server.registration_endpoint {
        _ if !settings.grant.has_person() => Ok("none".to_owned()),
        Some(endpoint) => Ok(format!("one that registers itself at {endpoint}")),
        None => Err(AuthError::NoClient {
            issuer: server.issuer.clone(),
            why: String::new(),
        }),
    }
}

/// Returns whether a registration names each requested scope: an authorization server may refuse the others.
fn has_scopes(registration: &Registration, requested: Option<&str>) -> bool {
    let registered = registration.scope.as_deref().unwrap_or_default();
    let mut needed = requested.unwrap_or_default().split_whitespace();
    needed.all(|scope| registered.split_whitespace().any(|one| one == scope))
}

/// The members of a registration that an authorization server may refuse, though it registers clients without them.
#[derive(Clone, Copy, PartialEq, Eq)]
enum OptionalMembers {
    /// The scope, and the grant of refresh tokens.
    All,
    /// The grant of refresh tokens.
    Grants,
    /// None.
    None,
}

/// The registration of a client with an authorization server.
struct ClientRegistration<'a> {
    desk: &'a Desk,
    settings: &'a Settings,
    server: &'a ServerMetadata,
    endpoint: &'a str,
    redirect: Option<&'a str>,
    scope: Option<&'a str>,
}

impl ClientRegistration<'_> {
    /// Returns the body of the request.
    fn body(&self, members: OptionalMembers) -> Value {
        let listed = self.server.auth_methods.as_ref();
        let methods = ["none", "client_secret_post", "client_secret_basic"];
        let mut supported = methods
            .into_iter()
            .filter(|method| listed.is_some_and(|all| all.iter().any(|one| one == method)));
        let (grant_type, response_types) = match self.redirect {
            Some(_) => ("authorization_code", &["code"][..]),
            None => (DEVICE_CODE, &[][..]),
        };
        let grant_types = match members {
            OptionalMembers::None => vec![grant_type],
            _ => vec![grant_type, "refresh_token"],
        };
        let mut body = json!({
            "client_name": self.settings.client_name,
            "redirect_uris": self.redirect.as_slice(),
            "application_type": "native",
            "grant_types": grant_types,
            "response_types": response_types,
            "token_endpoint_auth_method": supported.next().unwrap_or("none"),
        });
        if let Some(scope) = self.scope.filter(|_| members == OptionalMembers::All) {
            body["scope"] = json!(scope);
        }
        body
    }

    /// Registers the client; the second level of the result is the refusal, in the words of the server.
    async fn register(
        &self,
        members: OptionalMembers,
    ) -> Result<Result<Registration, String>, AuthError> {
        let request = FlowRequest {
            purpose: FlowPurpose::Registration,
            method: FlowMethod::Post,
            url: self.endpoint.to_owned(),
            headers: vec![
                ("Content-Type", "application/json".to_owned()),
                ("Accept", "application/json".to_owned()),
            ],
            body: Some(self.body(members).to_string()),
        };
        let answer = self.desk.send(request).await?;
        let body = object(&answer).unwrap_or_default();
        let client_id = text(&body, "client_id");
        let Some(client_id) = client_id.filter(|_| (200..300).contains(&answer.status)) else {
            let (code, description) = oauth_error(&answer);
            return match (&*code, answer.status) {
                ("invalid_redirect_uri", _) => Err(AuthError::Denied {
                    issuer: self.server.issuer.clone(),
                    code,
                    description,
                }),
                (_, 200..=299) if !body.contains_key("error") => {
                    Ok(Err("its response has no `client_id`".to_owned()))
                }
                _ => Ok(Err(code + &description)),
            };
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
        redirect_uris.extend(self.redirect.map(str::to_owned));
        redirect_uris.dedup();
        let ends = body.get("client_secret_expires_at");
        Ok(Ok(Registration {
            issuer: self.server.issuer.clone(),
            client_id,
            client_secret,
            auth_method,
            redirect_uris,
            // A scope that the server does not register is not registered again.
            scope: self.scope.map(str::to_owned),
            expires_at: ends.and_then(Value::as_u64).unwrap_or_default(),
            is_dynamic: true,
        }))
    }
}
