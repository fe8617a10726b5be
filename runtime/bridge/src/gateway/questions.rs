//! The questions of a server to its client: several servers share a client, so each question says which one asks.

use mcp_revisions::core::methods;
use mcp_revisions::layer::LayerMessage;
use mcp_wire::{Direction, ErrorObject, Json, Kind, Map, meta};

use super::items::members;
use super::links::within;

/// The key in `_meta` of a question that names the server.
const ASKS: &str = "io.github.mcp-revisions/server";

/// Passes a message on: the name of the server is added to its questions, those in results included.
pub(crate) async fn name_questions(
    server: &str,
    mut message: LayerMessage,
) -> Result<Json, ErrorObject> {
    if message.direction() == Direction::ServerToClient {
        if message.is_request() {
            let named = named(server, message.method(), message.params());
            message = message.with_params(named);
        }
        return message.forward().await;
    }
    let result = message.forward().await?;
    if result.read_member::<String>("resultType").as_deref() != Some("input_required") {
        return Ok(result);
    }
    let changed = within(&result, "inputRequests", |requests| {
        let mut requests: Map<Json> = members(requests)?;
        for (_, request) in requests.iter_mut() {
            let method = request.read_member::<String>("method").unwrap_or_default();
            *request = within(request, "params", |params| {
                Ok(named(server, &method, params))
            })?;
        }
        Ok(Json::of(&requests))
    });
    changed.map_err(|why| {
        let why = format!("the question of the server {server} cannot be read: {why}");
        mcp_revisions::sansio::errors::internal(&why).error
    })
}

/// Returns the params of a question that say which server asks: to people in the text, to programs in `_meta`.
fn named(server: &str, method: &str, params: &Json) -> Json {
    if params.kind() != Kind::Object {
        return params.clone();
    }
    let text = match method {
        methods::ELICITATION_CREATE => Some("message"),
        methods::SAMPLING_CREATE_MESSAGE => Some("systemPrompt"),
        _ => None,
    };
    let mut params = meta::with(params, ASKS, &Json::of(server));
    if let Some(member) = text {
        let said = params.read_member::<String>(member);
        let said = match said {
            Some(said) => format!("[{server}] {said}"),
            None => format!("[{server}]"),
        };
        if let Ok(mut object) = members(&params) {
            object.insert(member, Json::of(&said));
            params = Json::of(&object);
        }
    }
    params
}
