//! One sign-in from beginning to end: discovery, refresh, and the grant.

mod assertion;
mod code;
mod device;
mod revoke;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use crate::address::is_same_issuer;
use crate::discover::{DiscoveredServer, discover};
use crate::document::{ServerMetadata, is_scope};
use crate::dpop::DpopKey;
use crate::error::harmless;
use crate::register::{client, foresee_client};
use crate::sign::Signer;
use crate::step::{Cause, Desk, Entropy, FlowPurpose, RefusedRequest};
use crate::token::{Ids, TokenEndpoint};
use crate::{
    AuthError, Challenge, FlowResponse, Grant, Registration, ResourceParameter, Secret, Settings,
    SignInForecast, StoredSignIn, Tokens,
};

/// The scope that stands for a refresh token.
const OFFLINE: &str = "offline_access";

/// Signs in, steps up or refreshes.
pub(crate) async fn run(
    desk: Desk,
    settings: Settings,
    mut kept: StoredSignIn,
    cause: Cause,
    entropy: Entropy,
) -> Result<StoredSignIn, AuthError> {
    let is_expiring = cause == Cause::Expiring;
    let is_revocation = cause == Cause::Revoke;
    let is_check = matches!(cause, Cause::Check(_));
    let is_login = cause == Cause::Login;
    let refused = match cause {
        Cause::Refused(refused) | Cause::Check(refused) => refused,
        Cause::Expiring | Cause::Login | Cause::Revoke => RefusedRequest {
            status: 401,
            is_fresh: !is_expiring,
            ..RefusedRequest::default()
        },
    };
    let challenge = Challenge::choose(&refused.challenges);
    let steps_up = refused.status == 403;
    let wanted = challenge.and_then(|it| it.get("scope")).map(scopes_of);
    let requested = kept.tokens.as_ref().and_then(|it| it.requested.clone());
    let before = requested.as_deref().map(scopes_of).unwrap_or_default();
    if steps_up {
        let scopes = wanted.clone().unwrap_or_default();
        let mut all = scopes.iter().chain(&settings.scopes);
        if all.all(|scope| before.contains(scope)) {
            let scope = harmless(&scopes.join(" "));
            return Err(match scopes.as_slice() {
                [] => AuthError::UnnamedScope,
                _ => AuthError::Scope { scope },
            });
        }
    }
    let version = refused.protocol_version.as_deref();
    let registered = kept.registration.as_ref().map(|it| it.issuer.clone());
    let found = discover(&desk, &settings, challenge, version, registered.as_deref()).await?;
    let is_same = fit(&mut kept, &settings, &found);
    let wants_dpop = settings.wants_dpop
        || found.wants_dpop
        || challenge.is_some_and(|challenge| challenge.scheme == "dpop");
    if wants_dpop && kept.dpop_key.is_none() {
        kept.dpop_key = Some(Signer::generate()?);
    }
    let [state, verifier, seed] = parts(&entropy);
    let mut sign_in = IssuerSignIn {
        dpop: kept.dpop_key.as_ref().map(DpopKey::read).transpose()?,
        scope: scope(
            &settings,
            &found,
            // What a person names stands in place of what the server wants, but where a token lacks that.
            wanted.filter(|_| steps_up || settings.scopes.is_empty()),
            if is_same { before } else { Vec::new() },
        ),
        desk,
        settings,
        found,
        ids: Ids::new(seed),
        state: Secret::from(URL_SAFE_NO_PAD.encode(state)),
        verifier: Secret::from(URL_SAFE_NO_PAD.encode(verifier)),
        is_login,
    };
    if is_check {
        let forecast = sign_in.forecast(&kept)?;
        sign_in.desk.papers().report.forecast = Some(forecast);
        return Ok(kept);
    }
    if is_revocation {
        sign_in.revoke(&kept).await?;
        (kept.tokens, kept.dpop_key, kept.pending) = (None, None, None);
        return Ok(kept);
    }
    if !steps_up
        && !refused.is_fresh
        && let Some(tokens) = kept.tokens.clone()
    {
        match sign_in.refresh(&mut kept, &tokens).await {
            Ok(Some(tokens)) => {
                kept.tokens = Some(tokens);
                kept.pending = None;
                return Ok(kept);
            }
            Ok(None) => {}
            Err(error) => return Err(error),
        }
    }
    if is_expiring {
        sign_in.desk.keep(&kept).await;
        return Err(AuthError::Unfinished(
            "the token cannot be refreshed".to_owned(),
        ));
    }
    let tokens = sign_in.obtain_tokens(&mut kept).await?;
    kept.tokens = Some(tokens);
    kept.pending = None;
    Ok(kept)
}

/// Fits what is kept to the authorization server that was found; returns whether that is the one of before.
fn fit(kept: &mut StoredSignIn, settings: &Settings, found: &DiscoveredServer) -> bool {
    let issuer = found.server.issuer.clone();
    let is_same = is_same_issuer(&kept.issuer, &issuer);
    if !is_same {
        // Tokens of another authorization server are never sent to this one, nor kept as if they were of it.
        (kept.tokens, kept.dpop_key) = (None, None);
    }
    kept.server.clone_from(&settings.server);
    kept.issuer = issuer;
    kept.resource = match &settings.resource {
        ResourceParameter::Discovered => found.resource.clone(),
        ResourceParameter::Fixed(resource) => Some(resource.clone()),
        ResourceParameter::None => None,
    };
    is_same
}

/// Returns the parts of the random bytes.
fn parts(Entropy(all): &Entropy) -> [[u8; 32]; 3] {
    let part = |from: usize| {
        let mut part = [0; 32];
        for (to, from) in part.iter_mut().zip(all.iter().skip(from)) {
            *to = *from;
        }
        part
    };
    [part(0), part(32), part(64)]
}

fn scopes_of(text: &str) -> Vec<String> {
    let all = text.split(' ').filter(|scope| is_scope(scope));
    all.take(200).map(str::to_owned).collect()
}

/// Returns the scopes to request: those that were requested before, those of the settings, and those that the server wants,
/// else all that the resource lists if these are none.
fn scope(
    settings: &Settings,
    found: &DiscoveredServer,
    wanted: Option<Vec<String>>,
    before: Vec<String>,
) -> Option<String> {
    let mut all: Vec<String> = before;
    all.extend(settings.scopes.iter().cloned());
    match wanted {
        Some(wanted) => all.extend(wanted),
        None if all.is_empty() => all.extend(found.scopes.iter().cloned()),
        None => {}
    }
    let lists_offline = found.server.scopes.iter().any(|scope| scope == OFFLINE);
    if settings.grant.has_person() && lists_offline && !all.is_empty() {
        all.push(OFFLINE.to_owned());
    }
    let mut united: Vec<String> = Vec::new();
    for scope in all {
        if !united.contains(&scope) {
            united.push(scope);
        }
    }
    (!united.is_empty()).then(|| united.join(" "))
}

/// Checks that the authorization server supports PKCE with S256, as far as its revision has to say so.
fn check_pkce(settings: &Settings, found: &DiscoveredServer) -> Result<(), AuthError> {
    let lists_others = found.server.pkce_methods.is_some();
    // 2025-03-26 did not ask for the list, and its servers have no metadata of a resource.
    let is_assumed = !lists_others && (found.resource.is_none() || settings.assumes_pkce);
    if found.server.lists_s256() || is_assumed {
        Ok(())
    } else {
        Err(AuthError::Pkce {
            issuer: found.server.issuer.clone(),
            lists_others,
        })
    }
}

/// Parameters of a token request.
type Parameters = Vec<(&'static str, String)>;

/// A sign-in whose authorization server is found.
struct IssuerSignIn {
    desk: Desk,
    settings: Settings,
    found: DiscoveredServer,
    dpop: Option<DpopKey>,
    scope: Option<String>,
    ids: Ids,
    state: Secret,
    verifier: Secret,
    /// Set if a person wants to sign in, however often.
    is_login: bool,
}

impl IssuerSignIn {
    fn server(&self) -> &ServerMetadata {
        &self.found.server
    }

    /// Parameters with the resource and the scope.
    fn with_common(&self, kept: &StoredSignIn, mut parameters: Parameters) -> Parameters {
        parameters.extend(kept.resource.iter().map(|it| ("resource", it.clone())));
        parameters.extend(self.scope.iter().map(|it| ("scope", it.clone())));
        parameters
    }

    fn forecast(&self, kept: &StoredSignIn) -> Result<SignInForecast, AuthError> {
        if matches!(self.settings.grant, Grant::Code) {
            check_pkce(&self.settings, &self.found)?;
        }
        let server = self.server();
        let scopes = self.scope.as_deref().map(scopes_of).unwrap_or_default();
        let lists = |scope: &String| server.scopes.contains(scope);
        let is_listed = |scope: &String| (!server.scopes.is_empty()).then(|| lists(scope));
        Ok(SignInForecast {
            issuer: server.issuer.clone(),
            resource: kept.resource.clone(),
            lists_pkce: server.lists_s256(),
            client: foresee_client(&self.settings, server)?,
            scopes: (scopes.into_iter())
                .map(|scope| (scope.clone(), is_listed(&scope)))
                .collect(),
        })
    }

    /// Counts a sign-in that is not a person's own wish.
    fn count(&self, kept: &mut StoredSignIn) -> Result<(), AuthError> {
        if self.is_login {
            return Ok(());
        }
        kept.count_sign_in(self.desk.now())
    }

    /// Obtains tokens by the grant of the settings.
    async fn obtain_tokens(&mut self, kept: &mut StoredSignIn) -> Result<Tokens, AuthError> {
        if !matches!(self.settings.grant, Grant::Code) {
            self.count(kept)?;
        }
        match self.settings.grant.clone() {
            Grant::Code => self.code(kept).await,
            Grant::Device => self.device(kept).await,
            Grant::ClientCredentials => {
                let client = self.client(kept, None).await?;
                let asked =
                    self.with_common(kept, vec![("grant_type", "client_credentials".into())]);
                self.token(kept, client, &asked).await
            }
            Grant::JwtBearer { assertion } => self.assert(kept, &assertion).await,
            Grant::Enterprise {
                token_endpoint,
                client_id,
                client_secret,
                id_token,
            } => {
                let provider = Registration {
                    issuer: token_endpoint.clone(),
                    client_id,
                    client_secret,
                    auth_method: Some("client_secret_post".to_owned()),
                    ..Registration::default()
                };
                let assertion = self
                    .exchange(kept, &token_endpoint, &provider, &id_token)
                    .await?;
                self.assert(kept, &assertion).await
            }
        }
    }

    async fn client(
        &self,
        kept: &StoredSignIn,
        redirect: Option<&str>,
    ) -> Result<Registration, AuthError> {
        let scope = self.scope.as_deref();
        client(
            &self.desk,
            &self.settings,
            kept,
            self.server(),
            redirect,
            scope,
        )
        .await
    }

    /// Requests a token as this client, and keeps the registration.
    async fn token(
        &mut self,
        kept: &mut StoredSignIn,
        client: Registration,
        parameters: &Parameters,
    ) -> Result<Tokens, AuthError> {
        let answer = self.request(&client, parameters).await?;
        match answer {
            Ok(mut tokens) => {
                tokens.requested.clone_from(&self.scope);
                kept.registration = Some(client);
                Ok(tokens)
            }
            Err((_, denied)) => Err(denied),
        }
    }

    async fn request(
        &mut self,
        client: &Registration,
        parameters: &Parameters,
    ) -> Result<Result<Tokens, (String, AuthError)>, AuthError> {
        let endpoint = TokenEndpoint {
            desk: &self.desk,
            server: &self.found.server,
            client,
            private_key: self.settings.private_key.as_ref(),
            dpop: self.dpop.as_ref(),
        };
        let parameters: Vec<(&str, &str)> = parameters
            .iter()
            .map(|(name, it)| (*name, it.as_str()))
            .collect();
        endpoint.request(&parameters, &mut self.ids).await
    }

    /// Posts parameters to an endpoint besides that of tokens, as this client.
    async fn post(
        &mut self,
        client: &Registration,
        url: &str,
        purpose: FlowPurpose,
        parameters: &[(&str, &str)],
    ) -> Result<FlowResponse, AuthError> {
        let endpoint = TokenEndpoint {
            desk: &self.desk,
            server: &self.found.server,
            client,
            private_key: self.settings.private_key.as_ref(),
            dpop: None,
        };
        let posted = endpoint.post(url, purpose, parameters, Vec::new(), &mut self.ids);
        posted.await
    }

    /// Refreshes; `None` if a sign-in is needed, and then what is of no use any more is dropped.
    async fn refresh(
        &mut self,
        kept: &mut StoredSignIn,
        tokens: &Tokens,
    ) -> Result<Option<Tokens>, AuthError> {
        let (Some(refresh), Some(client)) = (&tokens.refresh, kept.registration.clone()) else {
            return Ok(None);
        };
        let mut parameters = vec![
            ("grant_type", "refresh_token".to_owned()),
            ("refresh_token", refresh.expose().to_owned()),
        ];
        parameters.extend(kept.resource.iter().map(|it| ("resource", it.clone())));
        let scope = self.settings.refresh_scope.iter();
        parameters.extend(scope.map(|it| ("scope", it.clone())));
        match self.request(&client, &parameters).await? {
            Ok(mut new) => {
                new.refresh = new.refresh.or_else(|| tokens.refresh.clone());
                new.requested.clone_from(&tokens.requested);
                new.signed_in_at = tokens.signed_in_at;
                Ok(Some(new))
            }
            Err((code, denied)) => {
                match code.as_str() {
                    "invalid_grant"
                    | "invalid_request"
                    | "unauthorized_client"
                    | "invalid_scope" => {}
                    "invalid_client" => kept.registration = None,
                    _ => return Err(denied),
                }
                if let Some(tokens) = &mut kept.tokens {
                    tokens.refresh = None;
                }
                Ok(None)
            }
        }
    }
}
