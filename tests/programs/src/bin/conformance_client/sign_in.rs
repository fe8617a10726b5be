//! The sign-in of the client in the suite's scenarios of authorization: what each of them hands out, and a browser without a
//! person.

use std::env;
use std::error::Error;

use mcp_revisions::auth::{Algorithm, Grant, PrivateKey, Secret, Settings};
use mcp_revisions::service::client::{Http, OAuth};
use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// The client id metadata document that the suite knows.
const METADATA_DOCUMENT: &str = "https://conformance-test.local/client-metadata.json";

/// What signs in to the server of a scenario.
pub(crate) fn provider(http: &Http) -> Result<OAuth, Box<dyn Error>> {
    let scenario = env::var("MCP_CONFORMANCE_SCENARIO").unwrap_or_default();
    let context = env::var("MCP_CONFORMANCE_CONTEXT").unwrap_or_default();
    let context: Value = serde_json::from_str(&context).unwrap_or_default();
    let text = |name: &str| context[name].as_str().map(str::to_owned);
    let secret = |name: &str| text(name).map(Secret::from);
    let mut settings = Settings::new(http.url().to_string());
    settings.client_name = "conformance client of mcp-revisions".to_owned();
    settings.client_id = text("client_id");
    settings.client_secret = secret("client_secret");
    settings.client_metadata_url = Some(METADATA_DOCUMENT.to_owned());
    if let Some(pem) = secret("private_key_pem") {
        let algorithm = match text("signing_algorithm").as_deref() {
            Some("RS256") => Algorithm::Rs256,
            _ => Algorithm::Es256,
        };
        settings.private_key = Some(PrivateKey { pem, algorithm });
    }
    if scenario.contains("client-credentials") {
        settings.grant = Grant::ClientCredentials;
    } else if let Some(assertion) = secret("valid_jwt") {
        settings.grant = Grant::JwtBearer { assertion };
    } else if let Some(id_token) = secret("idp_id_token") {
        settings.grant = Grant::Enterprise {
            token_endpoint: text("idp_token_endpoint").ok_or("no endpoint of the provider")?,
            client_id: text("idp_client_id").ok_or("no client id at the provider")?,
            client_secret: None,
            id_token,
        };
    }
    let oauth = OAuth::builder(http, settings, |page| {
        let page = page.to_owned();
        tokio::spawn(async move {
            if let Err(error) = browse(&page).await {
                eprintln!("the browser failed: {error}");
            }
        });
    });
    let log = env::var_os("MCP_CONFORMANCE_LOG").is_some();
    let oauth = oauth.on_request(move |request, answer| {
        if log {
            eprintln!("{request:?} {answer:?}");
        }
    });
    Ok(oauth.build())
}

/// Opens a page that redirects at once, and goes where it leads.
async fn browse(page: &str) -> Result<(), Box<dyn Error + Send + Sync>> {
    let answer = get(page).await?;
    let mut lines = answer.lines().map(|line| line.split_once(": "));
    let location =
        lines.find_map(|line| line.filter(|(name, _)| name.eq_ignore_ascii_case("location")));
    let (_, location) = location.ok_or("the page does not redirect")?;
    get(location).await.map(drop)
}

/// The response to a GET over plain HTTP.
async fn get(url: &str) -> Result<String, Box<dyn Error + Send + Sync>> {
    let uri: http::Uri = url.parse()?;
    let authority = uri.authority().ok_or("no host")?.as_str();
    let path = uri.path_and_query().map_or("/", |it| it.as_str());
    let mut stream = TcpStream::connect(authority).await?;
    let request = format!("GET {path} HTTP/1.1\r\nHost: {authority}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await?;
    Ok(String::from_utf8_lossy(&answer).into_owned())
}
