//! The first words with a server: which revision it speaks, and what it is.

use mcp_revisions::RevisionSet;
use mcp_revisions::client_transport::{Application, Handle, drive};
use mcp_revisions::sansio::client::{Client, Failure, Options, ServerFacts};
use mcp_revisions::sansio::server::Caller;
use mcp_revisions_core::errors::shortened as excerpt;

use crate::Error;
use crate::identity;
use crate::settings::BridgeSettings;
use crate::sign_in;

/// Returns the options of a connection to a server, on behalf of a client.
pub(crate) fn options(
    settings: &BridgeSettings,
    caller: &Caller,
    revisions: RevisionSet,
) -> Options {
    let profile = identity::profile(caller, settings.client_info.as_ref());
    Options::new(settings.upstream.channel(), profile)
        .with_unknown_fields(settings.clients.policy)
        .with_revisions(revisions)
        .with_own_revision(caller.revision)
        .with_likely_revisions(settings.upstream.likely)
        .with_start_timeout(settings.start_timeout)
        .with_other_methods()
        .with_tasks_on_request()
}

/// Connects to the server, and asks it which revision it speaks.
pub(crate) async fn connect<A: Application>(
    settings: &BridgeSettings,
    client: Client,
    app: A,
) -> Result<(Handle<A::Call>, ServerFacts), Error> {
    let transport = settings
        .upstream
        .connect()
        .await
        .map_err(|why| settings.unusable(&why))?;
    let handle = drive(client, transport, app);
    match handle.connect().await {
        Ok(facts) => Ok((handle, facts)),
        Err(failure) => {
            let _ = handle.close().await;
            let advice = settings.sign_in_advice.as_deref();
            Err(match sign_in::needed(&failure, advice) {
                Some(needed) => Error::SignIn {
                    name: settings.server_name().to_owned(),
                    needed: Box::new(needed),
                },
                None => settings.unusable(&cause(&failure)),
            })
        }
    }
}

/// Describes, for people, why the server cannot be used.
fn cause(failure: &Failure) -> String {
    let why = match failure.reason() {
        Failure::NotStarted(why) => format!("it {why}"),
        Failure::NoCommonRevision(versions) if !versions.is_empty() => {
            let spoken = excerpt(&versions.join(", "));
            format!(
                "it speaks {spoken}, and none of that is wanted: choose another revision for the server"
            )
        }
        Failure::StartRefused(method, error) => {
            let (code, message) = (&error.code, excerpt(&error.message));
            let versions = (error.data.as_ref()).and_then(|data| data.read_member("supported"));
            let spoken = versions.map_or(String::new(), |versions: Vec<String>| {
                format!("; it speaks {}", excerpt(&versions.join(", ")))
            });
            format!("it refused `{method}` with error {code}: {message:?}{spoken}")
        }
        Failure::Http(status, body) => no_message(*status, body),
        Failure::Transport(why) => why.clone(),
        failure => failure.to_string(),
    };
    format!("{why}{}", failure.tried())
}

/// Describes an HTTP response without a JSON-RPC message, by its status and the beginning of its body.
fn no_message(status: u16, body: &str) -> String {
    let hint = match status {
        403 => ": pass credentials in a header",
        404 | 405 => ": check the path of the URL",
        _ => "",
    };
    let body = if body.is_empty() {
        String::new()
    } else {
        format!("; the body is not a message of MCP: {:?}", excerpt(body))
    };
    format!("it answered with HTTP status {status}{hint}{body}")
}
