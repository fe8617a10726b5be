//! The grant with an authorization code: a person signs in, in a browser that comes back.

use url::Url;

use super::{IssuerSignIn, check_pkce};
use crate::error::harmless;
use crate::sign::digest;
use crate::{AuthError, PendingSignIn, Registration, StoredSignIn, Tokens, form};

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
        let known = registered
            .map(|it| it.redirect_uris.clone())
            .unwrap_or_default();
        let redirect = self.desk.listen(known).await?;
        let client = self.client(kept, Some(&redirect)).await?;
        // The tokens of before belong to the client of before, until there are new ones.
        kept.pending = Some(PendingSignIn {
            registration: client.clone(),
            state: self.state.clone(),
            verifier: self.verifier.clone(),
            issuer,
            redirect_uri: redirect.clone(),
            scope: self.scope.clone(),
            started_at: self.desk.now(),
        });
        self.desk.keep(kept).await;
        let page = self.page(&page, kept, &client, &redirect)?;
        let query = self.desk.open(page).await?;
        let code = self.code_of(&query)?;
        let mut parameters = vec![
            ("grant_type", "authorization_code".to_owned()),
            ("code", code),
            ("redirect_uri", redirect),
            ("code_verifier", self.verifier.expose().to_owned()),
        ];
        parameters.extend(kept.resource.iter().map(|it| ("resource", it.clone())));
        let answer = self.request(&client, &parameters).await?;
        match answer {
            Ok(mut tokens) => {
                tokens.requested.clone_from(&self.scope);
                kept.registration = Some(client);
                Ok(tokens)
            }
            Err((code, denied)) => {
                kept.pending = None;
                if code == "invalid_client" {
                    kept.forget(&client);
                }
                self.desk.keep(kept).await;
                Err(denied)
            }
        }
    }

    /// Returns the URL of the authorization page.
    fn page(
        &self,
        endpoint: &str,
        kept: &StoredSignIn,
        client: &Registration,
        redirect: &str,
    ) -> Result<String, AuthError> {
        let mut page = Url::parse(endpoint).map_err(|_| AuthError::Address {
            whose: "authorization_endpoint".to_owned(),
            url: harmless(endpoint),
            why: "it is not a valid URL",
        })?;
        let mut query = page.query_pairs_mut();
        query.append_pair("response_type", "code");
        query.append_pair("client_id", &client.client_id);
        query.append_pair("redirect_uri", redirect);
        query.append_pair("state", self.state.expose());
        query.append_pair("code_challenge", &digest(self.verifier.expose()));
        query.append_pair("code_challenge_method", "S256");
        if let Some(resource) = &kept.resource {
            query.append_pair("resource", resource);
        }
        if let Some(scope) = &self.scope {
            query.append_pair("scope", scope);
        }
        for (name, value) in &self.settings.authorize_parameters {
            query.append_pair(name, value);
        }
        drop(query);
        Ok(page.into())
    }

    /// Returns the code in the query of the redirect, once it is known to be the answer to this sign-in.
    fn code_of(&self, query: &str) -> Result<String, AuthError> {
        if form::only(query, "state").as_deref() != Some(self.state.expose()) {
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
