//! What is said in every world: who the ends are, what is asked, what handlers answer.

use std::sync::Arc;

use mcp_revisions::mcp_wire::Json;
use mcp_revisions::sansio::client::{Channel, Client, Options, Profile};
use mcp_revisions::sansio::server::IncomingRequest;
use mcp_revisions::{Lifecycle, Revision, RevisionSet, sansio::Server};
use serde_json::{Value, json};

/// The two ends as they are told once.
pub(crate) struct Ends {
    /// The revisions that the two applications speak.
    pub(crate) apps: (Revision, Revision),
    pub(crate) client: Arc<Client>,
    pub(crate) server: Arc<Server>,
}

/// A client and a server that are willing to speak these.
pub(crate) fn ends(
    apps: (Revision, Revision),
    channel: Channel,
    ours: RevisionSet,
    theirs: RevisionSet,
) -> Ends {
    let info = Json::from(json!({"name": "w", "version": "1"}));
    let capabilities = Json::from(json!({"roots": {}}));
    let options = Options::new(channel, Profile::new(&info, &capabilities));
    let offered = json!({"tools": {"listChanged": true}, "resources": {"subscribe": true}});
    let profile = Profile::new(&info, &Json::from(offered));
    Ends {
        apps,
        client: Arc::new(Client::new(apps.0, options.with_revisions(ours))),
        server: Arc::new(Server::new(apps.1, profile).unwrap().with_revisions(theirs)),
    }
}

/// A call, a list, a subscription.
pub(crate) fn asks(client: Revision) -> [(&'static str, Value); 3] {
    let subscription = match client.lifecycle() {
        Lifecycle::Handshake => ("resources/subscribe", json!({"uri": "file:///a"})),
        Lifecycle::PerRequest => (
            "subscriptions/listen",
            json!({"notifications": {"toolsListChanged": true, "resourceSubscriptions": ["file:///a"]}}),
        ),
    };
    [
        ("tools/call", json!({"name": "t"})),
        ("tools/list", json!({})),
        subscription,
    ]
}

/// Which of them are open for as long as somebody listens.
pub(crate) const SUBSCRIPTION: usize = 2;

/// What the handler of a call answers.
pub(crate) fn result(server: Revision, call: &IncomingRequest) -> Json {
    let mut result = match call.method {
        "tools/list" => json!({"tools": []}),
        "tools/call" => json!({"content": []}),
        _ => json!({}),
    };
    if server.lifecycle() == Lifecycle::PerRequest {
        result["resultType"] = json!("complete");
        if call.method == "tools/list" {
            result["ttlMs"] = json!(0);
            result["cacheScope"] = json!("private");
        }
    }
    Json::from(result)
}
