//! The grant with a device code (RFC 8628): a person signs in at a page, on any device.

use url::Url;

use super::{IssuerSignIn, Parameters};
use crate::address::check;
use crate::document::{oauth_error, object, text};
use crate::settings::DEVICE_CODE;
use crate::step::FlowPurpose;
use crate::{AuthError, DevicePage, StoredSignIn, Tokens};

/// Seconds between two requests, unless the server names another time.
const INTERVAL: u64 = 5;
/// The longest time between two requests, in seconds.
const LONGEST_INTERVAL: u64 = 60;
/// The longest time that a person has, in seconds.
const LONGEST_TIME: u64 = 1800;

impl IssuerSignIn {
    /// Returns the token that a person allows at the page of the authorization server.
    pub(super) async fn device(&mut self, kept: &mut StoredSignIn) -> Result<Tokens, AuthError> {
        let issuer = self.server().issuer.clone();
        let wrong = |why: &str| AuthError::Document {
            url: issuer.clone(),
            why: why.to_owned(),
        };
        let Some(endpoint) = self.server().device_authorization_endpoint.clone() else {
            return Err(wrong(
                "the authorization server has no sign-in by device code",
            ));
        };
        let client = self.client(kept, None).await?;
        if kept.tokens.is_none() {
            // Tokens of before belong to the client of before, until there are new ones.
            kept.registration = Some(client.clone());
            self.desk.keep(kept).await;
        }
        let parameters = self.with_common(kept, Parameters::new());
        let borrowed: Vec<(&str, &str)> = parameters
            .iter()
            .map(|(name, value)| (*name, value.as_str()))
            .collect();
        let purpose = FlowPurpose::DeviceCode;
        let response = self.post(&client, &endpoint, purpose, &borrowed).await?;
        if !(200..300).contains(&response.status) {
            let (code, description) = oauth_error(&response);
            if code == "invalid_client" {
                kept.forget(&client);
                self.desk.keep(kept).await;
            }
            return Err(AuthError::Denied {
                issuer,
                code,
                description,
            });
        }
        let body =
            object(&response).ok_or_else(|| wrong("expected a JSON object with `device_code`"))?;
        let number = |name: &str| body.get(name).and_then(serde_json::Value::as_u64);
        let device_code =
            text(&body, "device_code").ok_or_else(|| wrong("expected `device_code`"))?;
        let code = text(&body, "user_code").ok_or_else(|| wrong("expected `user_code`"))?;
        let complete = text(&body, "verification_uri_complete");
        let url = complete
            .or_else(|| text(&body, "verification_uri"))
            .ok_or_else(|| wrong("expected `verification_uri`"))?;
        let server = Url::parse(&self.settings.server)
            .map_err(|_| wrong("the MCP server has no valid URL"))?;
        let checked = check("verification_uri", &url, &server)?;
        let page = DevicePage::new(checked.to_string(), &code);
        let time = number("expires_in")
            .unwrap_or(LONGEST_TIME)
            .min(LONGEST_TIME);
        let end = self.desk.now().saturating_add(time);
        let mut interval = number("interval").unwrap_or(INTERVAL);
        let mut parameters: Parameters = vec![
            ("grant_type", DEVICE_CODE.to_owned()),
            ("device_code", device_code),
        ];
        parameters.extend(kept.resource.iter().map(|it| ("resource", it.clone())));
        while self.desk.now() < end {
            interval = interval.clamp(1, LONGEST_INTERVAL);
            self.desk.wait(page.clone(), interval).await?;
            let response = match self.request(&client, &parameters).await {
                // RFC 8628, section 3.5: what passes by itself is waited for, at a slower pace.
                Err(AuthError::Unreached { .. }) => {
                    interval += INTERVAL;
                    continue;
                }
                response => response?,
            };
            match response {
                Ok(mut tokens) => {
                    tokens.requested.clone_from(&self.scope);
                    kept.registration = Some(client);
                    return Ok(tokens);
                }
                Err((code, denied)) => match code.as_str() {
                    "authorization_pending" => {}
                    "slow_down" => interval += INTERVAL,
                    _ => return Err(denied),
                },
            }
        }
        Err(AuthError::Unfinished(format!(
            "no person allowed it within {time} seconds"
        )))
    }
}
