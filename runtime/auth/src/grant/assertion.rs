//! Grants with an assertion: the identity of a workload, and the ID token of an enterprise.

use super::IssuerSignIn;
use crate::document::ServerMetadata;
use crate::token::TokenEndpoint;
use crate::{AuthError, Registration, Secret, StoredSignIn, Tokens};

/// The grant type of RFC 7523.
const JWT_BEARER: &str = "urn:ietf:params:oauth:grant-type:jwt-bearer";

impl IssuerSignIn {
    /// Requests a token with an assertion.
    pub(super) async fn assert(
        &mut self,
        kept: &mut StoredSignIn,
        assertion: &Secret,
    ) -> Result<Tokens, AuthError> {
        let client = match &self.settings.client_id {
            Some(_) => self.client(kept, None).await?,
            // The assertion may say it all.
            None => Registration {
                issuer: self.server().issuer.clone(),
                ..Registration::default()
            },
        };
        let parameters = vec![
            ("grant_type", JWT_BEARER.to_owned()),
            ("assertion", assertion.expose().to_owned()),
        ];
        let parameters = self.with_common(kept, parameters);
        self.token(kept, client, &parameters).await
    }

    /// Exchanges an ID token for an assertion, at its identity provider (RFC 8693).
    pub(super) async fn exchange(
        &mut self,
        kept: &StoredSignIn,
        token_endpoint: &str,
        provider: &Registration,
        id_token: &Secret,
    ) -> Result<Secret, AuthError> {
        let metadata = ServerMetadata {
            issuer: token_endpoint.to_owned(),
            token_endpoint: token_endpoint.to_owned(),
            ..ServerMetadata::default()
        };
        let endpoint = TokenEndpoint {
            desk: &self.desk,
            server: &metadata,
            client: provider,
            private_key: None,
            dpop: None,
        };
        let kind = "urn:ietf:params:oauth:grant-type:token-exchange";
        let parameters = vec![
            ("grant_type", kind.to_owned()),
            (
                "requested_token_type",
                "urn:ietf:params:oauth:token-type:id-jag".to_owned(),
            ),
            ("audience", self.found.server.issuer.clone()),
            ("subject_token", id_token.expose().to_owned()),
            (
                "subject_token_type",
                "urn:ietf:params:oauth:token-type:id_token".to_owned(),
            ),
        ];
        let mut parameters = self.with_common(kept, parameters);
        if kept.resource.is_none() {
            parameters.push(("resource", self.settings.server.clone()));
        }
        let parameters: Vec<(&str, &str)> = parameters
            .iter()
            .map(|(name, it)| (*name, it.as_str()))
            .collect();
        let answer = endpoint.request(&parameters, &mut self.ids).await?;
        answer
            .map(|tokens| tokens.access)
            .map_err(|(_, denied)| denied)
    }
}
