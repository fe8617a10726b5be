//! The skills of a server: each is loaded, and all of its files are read, as far as they are what the entry describes.

use std::env;

use mcp_revisions::service::Client;
use mcp_revisions::service::client::skills::SkillError;

/// The scenario in which no skill is needed.
const ONLY_LISTED: &str = "sep-2640-client-no-prefetch";

/// Lists the skills, and loads them.
pub(crate) async fn load(client: &Client) -> Result<(), SkillError> {
    let entries = match client.list_all_skills().await {
        Ok(entries) => entries,
        Err(SkillError::NotDeclared(_)) => return Ok(()),
        Err(error) => return Err(error),
    };
    if env::var("MCP_CONFORMANCE_SCENARIO").is_ok_and(|it| it == ONLY_LISTED) {
        return Ok(());
    }
    for entry in entries {
        let mcp_revisions::core::extensions::skills::SkillResources::List(files) =
            entry.resources.clone()
        else {
            continue;
        };
        match client.load_skill(entry).await {
            Ok(skill) => {
                for file in files {
                    skill.read(&file.uri).await?;
                }
            }
            Err(refused) => eprintln!("{refused}"),
        }
    }
    Ok(())
}
