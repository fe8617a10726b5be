//! The grant with an authorization code: a person signs in, in a browser that comes back.

use url::Url;

use super::{IssuerSignIn, OFFLINE, check_pkce};
use crate::error::harmless;
use crate::sign::digest;
use crate::{AuthError, AuthorizationPage, PendingSignIn, StoredSignIn, Tokens, form};

impl IssuerSignIn {
    /// Returns the grant with an authorization code: a person signs in, in a browser.
    pub(super) async fn code(&mut self, kept: &mut StoredSignIn) -> Result<Tokens, AuthError> {
        check_pkce(&self.settings, &self.found)?;
        let issuer = self.server().issuer.clone();
        let Some(page) = self.server().authorization_endpoint.clone() else {
            return Err(AuthError::Document {
                url: issuer,
                why: "expected `authorization_endpoint` in the metadata".to_owned(),
            });
        };
        let registered = kept
            .registration
            .as_ref()
            .filter(|it| it.is_dynamic && it.issuer == issuer);
        let before = kept.pending.take();
        // A process that was ended may have left a page open, whose answer is good here as well.
        let left = before.clone().filter(|it| {
            let again = self.page(&page, kept, it);
            it.is_open(self.desk.now()) && again.is_ok_and(|again| again == it.page)
        });
        let mut known: Vec<String> = left.iter().map(|it| it.redirect_uri.clone()).collect();
        known.extend(registered.iter().flat_map(|it| it.redirect_uris.clone()));
        let redirect = self.desk.listen(known).await?;
        let open = left.filter(|it| it.redirect_uri == redirect);
        let is_open = open.is_some();
        let pending = match open {
            Some(open) => open,
            None => self.begin(kept, before, &page, redirect).await?,
        };
        kept.pending = Some(pending.clone());
        if !is_open {
            self.desk.keep(kept).await;
        }
        let page = AuthorizationPage {
            url: pending.page.clone(),
            state: pending.state.clone(),
            is_open,
        };
        let query = match self.desk.open(page).await {
            Ok(query) => query,
            Err(error) => {
                // Its time is over, or the page of an error led nowhere: the next sign-in has a page of its own.
                if let Some(pending) = &mut kept.pending {
                    pending.page.clear();
                }
                self.desk.keep(kept).await;
                return Err(error);
            }
        };
        // The page has been answered, and is not waited for again.
        kept.pending = None;
        let answer = match self.code_of(&query, &pending) {
            Ok(code) => {
                let mut parameters = vec![
                    ("grant_type", "authorization_code".to_owned()),
                    ("code", code),
                    ("redirect_uri", pending.redirect_uri),
                    ("code_verifier", pending.verifier.expose().to_owned()),
                ];
                parameters.extend(kept.resource.iter().map(|it| ("resource", it.clone())));
                self.request(&pending.registration, &parameters).await
            }
            Err(error) => Err(error),
        };
        let error = match answer {
            Ok(Ok(mut tokens)) => {
                tokens.requested.clone_from(&self.scope);
                kept.registration = Some(pending.registration);
                return Ok(tokens);
            }
            Ok(Err((code, denied))) => {
                if code == "invalid_client" {
                    kept.forget(&pending.registration);
                }
                denied
            }
            Err(error) => error,
        };
        self.desk.keep(kept).await;
        Err(error)
    }

    /// Returns a new sign-in of a person. `before` is one that was not finished.
    async fn begin(
        &self,
        kept: &mut StoredSignIn,
        before: Option<PendingSignIn>,
        page: &str,
        redirect_uri: String,
    ) -> Result<PendingSignIn, AuthError> {
        self.count(kept)?;
        if let Some(before) = before.filter(|it| it.registration.is_dynamic) {
            // The authorization server may not know the client of a sign-in that never came back any more.
            kept.forget(&before.registration);
        }
        // The tokens of before belong to the client of before, until there are new ones.
        let mut pending = PendingSignIn {
            registration: self.client(kept, Some(&redirect_uri)).await?,
            state: self.state.clone(),
            verifier: self.verifier.clone(),
            issuer: self.server().issuer.clone(),
            redirect_uri,
            page: String::new(),
            started_at: self.desk.now(),
        };
        pending.page = self.page(page, kept, &pending)?;
        Ok(pending)
    }

    /// Returns the URL of the authorization page.
    fn page(
        &self,
        endpoint: &str,
        kept: &StoredSignIn,
        pending: &PendingSignIn,
    ) -> Result<String, AuthError> {
        let mut page = Url::parse(endpoint).map_err(|_| AuthError::Address {
            whose: "authorization_endpoint".to_owned(),
            url: harmless(endpoint),
            why: "it is not a valid URL",
        })?;
        let mut query = page.query_pairs_mut();
        query.append_pair("response_type", "code");
        query.append_pair("client_id", &pending.registration.client_id);
        query.append_pair("redirect_uri", &pending.redirect_uri);
        query.append_pair("state", pending.state.expose());
        query.append_pair("code_challenge", &digest(pending.verifier.expose()));
        query.append_pair("code_challenge_method", "S256");
        if let Some(resource) = &kept.resource {
            query.append_pair("resource", resource);
        }
        if let Some(scope) = &self.scope {
            query.append_pair("scope", scope);
            let mut parameters = self.settings.authorize_parameters.iter();
            if scope.split(' ').any(|it| it == OFFLINE)
                && parameters.all(|(name, _)| name != "prompt")
            {
                // OpenID Connect Core, section 11: without it the scope is ignored.
                query.append_pair("prompt", "consent");
            }
        }
        for (name, value) in &self.settings.authorize_parameters {
            query.append_pair(name, value);
        }
        drop(query);
        Ok(page.into())
    }

    /// Returns the code in the query of the redirect, once it is known to be the answer to this sign-in.
    fn code_of(&self, query: &str, pending: &PendingSignIn) -> Result<String, AuthError> {
        if form::only(query, "state").as_deref() != Some(pending.state.expose()) {
            return Err(AuthError::Returned(
                "its `state` is not the one that was sent",
            ));
        }
        match form::only(query, "iss") {
            // RFC 9207: compared as they are, in responses with errors as well.
            Some(issuer) if issuer != self.server().issuer => {
                return Err(AuthError::Returned(
                    "its `iss` is another authorization server",
                ));
            }
            Some(_) => {}
            None if form::has(query, "iss") => {
                return Err(AuthError::Returned("it has `iss` more than once"));
            }
            None if self.server().names_issuer => {
                return Err(AuthError::Returned(
                    "it has no `iss`, which the metadata promise",
                ));
            }
            None => {}
        }
        if let Some(code) = form::only(query, "error") {
            let description = form::only(query, "error_description");
            let description =
                description.map_or_else(String::new, |it| format!(": {}", harmless(&it)));
            return Err(AuthError::Denied {
                issuer: self.server().issuer.clone(),
                code: harmless(&code),
                description,
            });
        }
        form::only(query, "code").ok_or(AuthError::Returned("it has no `code`"))
    }
}
