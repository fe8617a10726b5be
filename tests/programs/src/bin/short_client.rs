//! Lists the tools of any server, as short as it can be: one of the programs that `tests/peers/programs` compares.
use mcp_revisions::latest::CallServer;
use mcp_revisions::{Client, Error};
#[tokio::main]
async fn main() -> Result<(), Error> {
    let client = Client::builder(&mcp_revisions::program!()).command(std::env::args().skip(1))?;
    for tool in client.list_tools(None).await?.tools {
        println!("{}", tool.name);
    }
    client.close().await
}
