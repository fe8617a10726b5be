//! Revocation of tokens (RFC 7009), when a person signs out.

use super::IssuerSignIn;
use crate::document::oauth_error;
use crate::step::FlowPurpose;
use crate::{AuthError, StoredSignIn};

impl IssuerSignIn {
    /// Revokes the refresh token, with which its access tokens end, and the access token.
    pub(super) async fn revoke(&mut self, kept: &StoredSignIn) -> Result<(), AuthError> {
        let (Some(tokens), Some(client)) = (&kept.tokens, &kept.registration) else {
            return Ok(());
        };
        let Some(url) = self.server().revocation_endpoint.clone() else {
            return Err(AuthError::Document {
                url: self.server().issuer.clone(),
                why: "the authorization server has no endpoint to revoke tokens".to_owned(),
            });
        };
        let refresh = tokens.refresh.iter().map(|token| (token, "refresh_token"));
        for (token, hint) in refresh.chain([(&tokens.access, "access_token")]) {
            let parameters = [("token", token.expose()), ("token_type_hint", hint)];
            let purpose = FlowPurpose::Revocation;
            let response = self.post(client, &url, purpose, &parameters).await?;
            if response.status != 200 {
                let (code, description) = oauth_error(&response);
                return Err(AuthError::Denied {
                    issuer: self.server().issuer.clone(),
                    code,
                    description,
                });
            }
        }
        Ok(())
    }
}
