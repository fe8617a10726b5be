//! The sign-in that a server wants: its rules, and the faults of its metadata. No page is opened.

use std::ops::ControlFlow;

use mcp_revisions_core::Revision;

use super::link::{ProbeLink, ServerReply, shown};
use super::state::{Probe, WantedSignIn};
use crate::sign_in::{forecast_lines, inspect};

/// Checks the sign-in of a server that has answered with status 401 or 403. Nothing else of it can be checked.
pub(super) async fn run(probe: &mut Probe, refused: &ServerReply) -> ControlFlow<()> {
    let status = refused.status.unwrap_or_default();
    let url = match &probe.link {
        ProbeLink::Http(http) => http.url.clone(),
        ProbeLink::Stdio(_) => String::new(),
    };
    let challenge = refused.header("www-authenticate").map(shown);
    if status != 401 && challenge.is_none() {
        probe.report("answer", None, url, refused.line());
        return ControlFlow::Break(());
    }
    let found = match &challenge {
        Some(challenge) => format!("status {status}, {challenge}"),
        None => format!("status {status}, without `WWW-Authenticate`"),
    };
    probe.report("sign-in", None, url.clone(), found);
    let mut wanted = WantedSignIn {
        challenge,
        ..WantedSignIn::default()
    };
    if let Some(arguments) = &probe.sign_in_arguments {
        match inspect(arguments, &url).await {
            Ok(inspection) => {
                wanted.requests = inspection.requests;
                match inspection.outcome {
                    Some(Ok(forecast)) => {
                        let named = wanted.challenge.as_deref().unwrap_or_default();
                        let is_named = named.contains("resource_metadata");
                        if forecast.resource.is_some() && !is_named {
                            let found = "the metadata are found by their well-known place only";
                            for &revision in Revision::NEGOTIATED {
                                probe.report("challenge", revision, url.clone(), found);
                            }
                        }
                        wanted.forecast = forecast_lines(&forecast);
                    }
                    Some(Err(why)) => {
                        let latest = Revision::LATEST;
                        probe.report("sign-in-metadata", latest, url, why);
                    }
                    None => {}
                }
            }
            Err(why) => wanted.forecast.push(format!("{why:#}")),
        }
    }
    probe.sign_in = Some(wanted);
    ControlFlow::Break(())
}
