//! What HTTP alone costs: a hyper service that reads the same bodies and answers them with the same ones, and knows nothing of
//! the protocol: `floor PORT sessions|stateless`.

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::header::{CONTENT_TYPE, HeaderName};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;

const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");

/// Returns the number after the first place of these bytes; 0 if there is none.
fn number_after(body: &[u8], name: &[u8]) -> u64 {
    let after = body
        .windows(name.len())
        .position(|window| window == name)
        .map_or(&[][..], |at| &body[at + name.len()..]);
    let digits = after.iter().take_while(|byte| byte.is_ascii_digit());
    digits.fold(0, |number, digit| number * 10 + u64::from(digit - b'0'))
}

fn answer(body: &[u8]) -> Response<Full<Bytes>> {
    let id = number_after(body, b"\"id\":");
    let response = Response::builder().header(CONTENT_TYPE, "application/json");
    let is_of = |method: &[u8]| body.windows(method.len()).any(|window| window == method);
    let built = if is_of(b"\"tools/call\"") {
        let sum = number_after(body, b"\"a\":") + number_after(body, b"\"b\":");
        let result_type = if is_of(b"/protocolVersion\"") {
            r#","resultType":"complete""#
        } else {
            ""
        };
        let text = format!(
            r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[{{"type":"text","text":"{sum}"}}]{result_type}}}}}"#
        );
        response.body(Full::from(text))
    } else if is_of(b"\"initialize\"") {
        let text = format!(
            r#"{{"jsonrpc":"2.0","id":{id},"result":{{"capabilities":{{"tools":{{}}}},"protocolVersion":"2025-11-25","serverInfo":{{"name":"example","version":"1.0.0"}}}}}}"#
        );
        response
            .header(SESSION, "0123456789abcdef")
            .body(Full::from(text))
    } else {
        response.status(StatusCode::ACCEPTED).body(Full::default())
    };
    built.unwrap_or_default()
}

async fn serve(request: Request<Incoming>) -> Result<Response<Full<Bytes>>, hyper::Error> {
    let body = request.into_body().collect().await?.to_bytes();
    Ok(answer(&body))
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let [port, _mode] = peers_http::arguments()?;
    let listener = TcpListener::bind(("127.0.0.1", port.parse::<u16>()?)).await?;
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service_fn(serve)));
    }
}
