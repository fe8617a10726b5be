//! Revocation of tokens (RFC 7009), when a person signs out.

use super::IssuerSignIn;
use crate::document::oauth_error;
use crate::step::FlowPurpose;
use crate::{AuthError, StoredSignIn, TokenKind};

impl IssuerSignIn {
    /// Revokes the refresh token, with which its access tokens end, and the access token; the report says for each whether it was
    /// revoked.
    pub(super) async fn revoke(&mut self, kept: &StoredSignIn) -> Result<(), AuthError> {
        let (Some(tokens), Some(client)) = (&kept.tokens, &kept.registration) else {
            return Ok(());
        };
        let issuer = self.server().issuer.clone();
        let Some(url) = self.server().revocation_endpoint.clone() else {
            return Err(AuthError::Document {
                url: issuer,
                why: "the authorization server has no endpoint to revoke tokens".to_owned(),
            });
        };
        let refresh = tokens.refresh.iter().map(|it| (it, TokenKind::Refresh));
        for (secret, token) in refresh.chain([(&tokens.access, TokenKind::Access)]) {
            let hint = match token {
                TokenKind::Refresh => "refresh_token",
                TokenKind::Access => "access_token",
            };
            let parameters = [("token", secret.expose()), ("token_type_hint", hint)];
            let purpose = FlowPurpose::Revocation;
            let response = self.post(client, &url, purpose, &parameters).await;
            let outcome = response.and_then(|response| match response.status {
                200..=299 => Ok(()),
                _ => {
                    let (code, words) = oauth_error(&response);
                    let (issuer, why) = (issuer.clone(), code + &words);
                    Err(AuthError::NotRevoked { issuer, token, why })
                }
            });
            let mut papers = self.desk.papers();
            papers.report.revocations.push((token, outcome));
        }
        Ok(())
    }
}
