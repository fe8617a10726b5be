//! Programs that authors read first, called in this process by clients of every revision.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use mcp_revisions::latest::{self as mcp, CallServer as _, ClientHandlers};
use mcp_revisions::service::client::{ClientContext, Http, ResultText as _, StructuredResult as _};
use mcp_revisions::{Client, Error, Revision, RevisionSet};
use serde_json::{Value, json};

#[path = "../../examples/database.rs"]
#[allow(dead_code, reason = "a test calls the server without its `main`")]
mod database;
#[path = "../../examples/gateway.rs"]
#[allow(dead_code, reason = "a test calls the service without its `main`")]
mod gateway;

/// A user who agrees to everything.
struct Agreeing;

impl ClientHandlers<ClientContext> for Agreeing {
    async fn elicit(
        &self,
        _: mcp::ElicitRequestParams,
        _: ClientContext,
    ) -> Result<mcp::ElicitResult, Error> {
        Ok(mcp::ElicitResult::new(mcp::ElicitAction::Accept))
    }
}

#[tokio::test]
async fn a_database_is_written_read_watched_and_asks_before_a_table_is_dropped() {
    for revision in Revision::NEGOTIATED {
        let client = Client::builder(&mcp_revisions::program!())
            .with_revisions(RevisionSet::none().with(*revision))
            .with_handlers(Agreeing);
        let client = database::server().unwrap().client(client);
        for (name, job) in [("Ada", "engineer"), ("Alan", "engineer"), ("Eve", "spy")] {
            let row = json!({ "table": "people", "row": { "name": name, "job": job } });
            client.call("insert", &row).await.unwrap();
        }
        let engineers = json!({ "table": "people", "matching": { "job": "engineer" } });
        let found = client.call("query", &engineers).await.unwrap();
        match found.structured::<Value>() {
            Ok(found) => assert_eq!(found["rows"][1]["name"], "Alan", "{revision}"),
            // The oldest revisions have the text only.
            Err(_) => assert!(found.text().contains("Alan"), "{revision}: {found:?}"),
        }
        let listed = client.list_all_resources().await.unwrap();
        assert_eq!(listed[0].uri, "table://people", "{revision}");
        let table = mcp::ReadResourceRequestParams::new("table://people");
        let table = client.read_resource(table).await.unwrap();
        assert_eq!(
            table.text(),
            "engineer,Ada\nengineer,Alan\nspy,Eve",
            "{revision}"
        );
        let steps = Arc::<AtomicUsize>::default();
        let counted = Arc::clone(&steps);
        let exporting = client.on_progress(move |_| _ = counted.fetch_add(1, Ordering::Relaxed));
        let people = json!({ "table": "people" });
        let exported = exporting.call("export", &people).await.unwrap();
        assert_eq!(
            (exported.text(), steps.load(Ordering::Relaxed)),
            (table.text(), 3),
            "{revision}"
        );
        let dropped = client.call("drop_table", &people).await;
        if *revision >= Revision::V2025_06_18 {
            assert_eq!(
                dropped.unwrap().text(),
                "people is dropped by the user",
                "{revision}"
            );
            assert!(
                client.list_all_resources().await.unwrap().is_empty(),
                "{revision}"
            );
        } else {
            assert!(
                matches!(dropped, Err(Error::Rpc(_))),
                "{revision}: {dropped:?}"
            );
        }
    }
}

#[tokio::test]
async fn a_gateway_of_the_thin_core_serves_clients_of_every_revision() {
    for revision in Revision::NEGOTIATED {
        let client = Client::builder(&mcp_revisions::program!())
            .with_revisions(RevisionSet::none().with(*revision))
            .http(Http::in_process(gateway::service()));
        let tools = client.list_all_tools().await.unwrap();
        assert_eq!(tools[0].name, "shout", "{revision}");
        let shouted = client.call("shout", &json!({ "text": "hello" })).await;
        assert_eq!(shouted.unwrap().text(), "HELLO", "{revision}");
        client.close().await.unwrap();
    }
}
