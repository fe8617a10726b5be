//! A server with one tool, for clients of every protocol version: `cargo run -p mcp-revisions --example server`.

use mcp_revisions::{Error, Json, Router};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Deserialize, JsonSchema)]
struct City {
    /// Name of the city, such as "Paris".
    name: String,
}

#[derive(Serialize, JsonSchema)]
struct Weather {
    celsius: f64,
}

async fn weather(City { name }: City) -> Result<Json<Weather>, Error> {
    match name.as_str() {
        "Paris" => Ok(Json(Weather { celsius: 21.5 })),
        _ => Err(Error::internal(format!("no weather station in {name}"))),
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let server = Router::new()
        .tool("weather", "Returns the weather of a city.", weather)
        .build("weather", "0.1.0")?;
    Ok(server.stdio().await?)
}
