//! Skills through the bridge: in every pair of revisions a client gets the entries, directories and errors that the server has
//! sent, and can verify the files that it reads.

use mcp_bridge::{Bridge, Upstream};
use mcp_revisions::mcp_wire::Json;
use mcp_revisions::mcp_wire::service::Caller as _;
use mcp_revisions::service::client::Http;
use mcp_revisions::service::{Error, Router};
use mcp_revisions::{Revision, RevisionSet};
use serde_json::{Value, json};

use crate::client;
use crate::mistakes::Sends;

const SKILLS: &str = "io.modelcontextprotocol/skills";

/// What a server sends, with members that the extension does not name.
fn results() -> Vec<(&'static str, Value)> {
    let file = |name: &str| {
        let digest = format!("sha256:{}", "0".repeat(64));
        json!({ "uri": format!("skill://acme/pdf/{name}"), "digest": digest, "size": 12, "vendor": true })
    };
    let entry = json!({
        "uri": "skill://acme/pdf/SKILL.md",
        "frontmatter": { "name": "pdf", "description": "Fills forms", "metadata": { "rank": 1.50 }, "allowed-tools": null },
        "resources": [file("SKILL.md"), file("FORMS.md")],
        "_meta": { "com.example/reviewed": "2026-11-01" },
    });
    let dynamic = json!({
        "uri": "skill://daily/SKILL.md",
        "frontmatter": { "name": "daily", "description": "Reports" },
        "resources": "dynamic",
    });
    let child = json!({ "uri": "skill://acme/pdf/templates", "name": "templates", "mimeType": "inode/directory" });
    vec![
        (
            "skills/list",
            json!({
                "resultType": "complete", "ttlMs": 300_000, "cacheScope": "public", "nextCursor": "2",
                "skills": [entry, dynamic],
            }),
        ),
        (
            "skills/get",
            json!({ "resultType": "complete", "ttlMs": 0, "cacheScope": "private", "skill": entry }),
        ),
        (
            "resources/directory/read",
            json!({ "resultType": "complete", "resources": [child], "nextCursor": "2" }),
        ),
    ]
}

#[tokio::test]
async fn a_host_gets_all_of_the_entries_from_a_server_of_any_revision() {
    for upstream in Revision::NEGOTIATED {
        let mut sends = Sends::new(*upstream, results());
        sends.capabilities =
            json!({ "resources": {}, "extensions": { SKILLS: { "directoryRead": true } } });
        for revision in Revision::NEGOTIATED {
            let pair = format!("client {revision}, server {upstream}");
            let service = Bridge::new(sends.upstream()).into_service();
            let client = client(*revision).with_custom_methods();
            let client = client.http(Http::in_process(service.clone()));
            for (method, sent) in results() {
                let params = json!({ "uri": "skill://acme/pdf/SKILL.md" });
                let result = client.request(method, Some(Json::from(params))).await;
                let result = result.unwrap_or_else(|error| panic!("{pair}, {method}: {error}"));
                let mut result: Value = result.parse().unwrap();
                // A result of 2026-07-28 says who the server is, which others say in the handshake.
                if let Some(meta) = result.as_object_mut().unwrap().remove("_meta") {
                    let info = &meta["io.modelcontextprotocol/serverInfo"];
                    assert_eq!(
                        meta,
                        json!({ "io.modelcontextprotocol/serverInfo": info }),
                        "{pair}"
                    );
                }
                assert_eq!(result, sent, "{pair}, {method}");
            }
            let server = client.server().unwrap().capabilities.unwrap();
            let server: Value = server.parse().unwrap();
            assert_eq!(
                server["extensions"][SKILLS],
                json!({ "directoryRead": true }),
                "{pair}"
            );
            client.close().await.unwrap();
            service.shutdown().await;
        }
    }
}

#[tokio::test]
async fn a_client_of_any_revision_verifies_a_skill_behind_the_bridge() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/programs/skills");
    for upstream in Revision::NEGOTIATED {
        let server = Upstream::streams("skills", move || {
            let (ours, theirs) = (tokio::io::duplex(1 << 16), tokio::io::duplex(1 << 16));
            let server = mcp_revisions::service::Server::new(&mcp_revisions::program!());
            let server = server.with_revisions(RevisionSet::none().with(*upstream));
            let server = Router::new().skills(folder).build_with(server).unwrap();
            tokio::spawn(server.lines(ours.0, theirs.0));
            std::future::ready(Ok((theirs.1, ours.1)))
        });
        let service = Bridge::new(server).into_service();
        for revision in Revision::NEGOTIATED {
            let pair = format!("client {revision}, server {upstream}");
            let client = client(*revision).with_custom_methods();
            let client = client.http(Http::in_process(service.clone()));
            let entries = client.list_all_skills().await.unwrap();
            let names: Vec<&str> = entries
                .iter()
                .map(|entry| &*entry.frontmatter.name)
                .collect();
            assert_eq!(names, ["refunds", "git-workflow"], "{pair}");
            let skill = client.load_skill(entries[0].clone()).await.unwrap();
            let letter = skill.read("examples/letter.md").await.unwrap();
            assert!(letter.starts_with(b"Dear customer"), "{pair}");
            let children = client
                .list_directory("skill://acme/billing/refunds")
                .await
                .unwrap();
            assert_eq!(children.len(), 2, "{pair}");
            let unknown = Json::from(json!({ "uri": "skill://nothing/SKILL.md" }));
            match client.request("skills/get", Some(unknown)).await {
                Err(Error::Rpc(error)) => assert_eq!(error.code.as_i64(), Some(-32602), "{pair}"),
                other => panic!("{pair}: {other:?}"),
            }
            client.close().await.unwrap();
        }
        service.shutdown().await;
    }
}
