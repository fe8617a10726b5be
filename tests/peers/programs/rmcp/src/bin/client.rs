use rmcp::ServiceExt;
use rmcp::transport::TokioChildProcess;
use tokio::process::Command;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let mut server = Command::new(arguments.next().ok_or("name the server to start")?);
    server.args(arguments);
    let client = ().serve(TokioChildProcess::new(server)?).await?;
    for tool in client.list_all_tools().await? {
        println!("{}", tool.name);
    }
    client.cancel().await?;
    Ok(())
}
