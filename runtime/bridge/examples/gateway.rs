//! A gateway: the tools of several servers, each of which speaks a revision of its own, under one address.
//!
//! `cargo run -p mcp-bridge --example gateway -- weather=http://127.0.0.1:8001/mcp notes=http://127.0.0.1:8002/mcp`
//! offers the tools of both at `http://127.0.0.1:8000/mcp`, as `weather_forecast` or `notes_search`.

use mcp_bridge::{Bridge, Proxy, Upstream};
use mcp_revisions::mcp_wire::{ErrorObject, Json};
use mcp_revisions::sansio::server::{IncomingRequest, Notification, Profile, Server};
use mcp_revisions::serve::{Handler, Peer, Session};
use mcp_revisions::service::client::Http;
use mcp_revisions::{Revision, errors, http};
use serde_json::{Value, json};

/// How many pages of tools a server may have.
const PAGES: usize = 100;

/// The servers, each with the prefix of its tools.
struct Gateway(Vec<(String, Proxy)>);

impl Gateway {
    /// Lists the tools of one server, all pages of them, under the names that clients see.
    async fn tools(
        &self,
        (prefix, proxy): &(String, Proxy),
        list: &IncomingRequest,
        peer: &Peer,
    ) -> Result<Vec<Value>, ErrorObject> {
        let (mut tools, mut cursor) = (Vec::new(), Value::Null);
        for _ in 0..PAGES {
            let mut params = value(&list.params);
            params["cursor"] = cursor;
            if params["cursor"].is_null() {
                params.as_object_mut().map(|it| it.remove("cursor"));
            }
            let mut page = list.clone();
            page.params = Json::from(params);
            let mut listed = value(&proxy.call(page, peer.clone()).await?);
            for tool in listed["tools"].as_array_mut().into_iter().flatten() {
                tool["name"] =
                    format!("{prefix}_{}", tool["name"].as_str().unwrap_or_default()).into();
                tools.push(tool.take());
            }
            cursor = listed["nextCursor"].take();
            if cursor.is_null() {
                break;
            }
        }
        Ok(tools)
    }
}

impl Handler for Gateway {
    async fn call(&self, mut call: IncomingRequest, peer: Peer) -> Result<Json, ErrorObject> {
        match call.method {
            "tools/list" => {
                let mut tools = Vec::new();
                for server in &self.0 {
                    tools.extend(self.tools(server, &call, &peer).await?);
                }
                let result = json!({ "resultType": "complete", "tools": tools, "ttlMs": 0, "cacheScope": "private" });
                Ok(Json::from(result))
            }
            "tools/call" => {
                let mut params = value(&call.params);
                let name = params["name"].as_str().unwrap_or_default().to_owned();
                let of =
                    |prefix: &str| Some(name.strip_prefix(prefix)?.strip_prefix('_')?.to_owned());
                let mut servers = self.0.iter();
                let found = servers.find_map(|(prefix, proxy)| Some((of(prefix)?, proxy)));
                let Some((tool, proxy)) = found else {
                    return Err(
                        errors::invalid_params(&format!("no tool is called `{name}`")).error,
                    );
                };
                params["name"] = tool.into();
                call.params = Json::from(params);
                proxy.call(call, peer).await
            }
            method => Err(errors::method_not_found(method, call.peer.lifecycle()).error),
        }
    }

    fn notice(&self, notice: Notification, session: Session) {
        for (_, proxy) in &self.0 {
            proxy.notice(notice.clone(), session.clone());
        }
    }

    fn on_initialized(&self, session: Session) {
        for (_, proxy) in &self.0 {
            proxy.on_initialized(session.clone());
        }
    }
}

fn value(json: &Json) -> Value {
    json.parse().unwrap_or_default()
}

/// The gateway as a service, to servers with the prefixes of their tools.
pub(crate) fn gateway(
    servers: impl IntoIterator<Item = (String, Upstream)>,
) -> Result<http::Service, Box<dyn std::error::Error>> {
    let latest = Revision::LATEST;
    let proxy = |(prefix, upstream)| (prefix, Bridge::new(upstream).into_proxy(latest));
    let gateway = Gateway(servers.into_iter().map(proxy).collect());
    let info = Json::from(json!({ "name": "gateway", "version": "1" }));
    let capabilities = Json::from(json!({ "tools": { "listChanged": true } }));
    let server = Server::new(latest, Profile::new(&info, &capabilities))?;
    Ok(http::Service::new(server, gateway))
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut servers = Vec::new();
    for argument in std::env::args().skip(1) {
        let (prefix, url) = argument
            .split_once('=')
            .ok_or("name each server: PREFIX=URL")?;
        servers.push((prefix.to_owned(), Upstream::url(Http::new(url)?)));
    }
    let listener = http::bind(("127.0.0.1", 8000)).await?;
    http::serve(listener, gateway(servers)?).await;
    Ok(())
}
