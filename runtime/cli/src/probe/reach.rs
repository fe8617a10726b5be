//! Reaches a server over HTTP step by step, and measures each step: name, connection, TLS, redirects.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::{Duration, Instant};

use mcp_revisions::service::client::Http;
use mcp_revisions_core::{Revision, methods};
use serde_json::json;
use tokio::net::{TcpStream, lookup_host};
use tokio::time::timeout;

use super::certificate::{self, Certificate};
use super::link::ProbeLink;
use super::state::{Conversation, Probe, ProbeMessage};

/// Time of a step.
const STEP: Duration = Duration::from_secs(10);
/// Number of redirects that are followed.
const REDIRECTS: usize = 3;
/// Number of days before the end of a certificate from which on the report has it.
const DAYS: u64 = 14;

/// Takes the steps to a server. Breaks at a step that fails.
pub(super) async fn run(probe: &mut Probe, http: &Http) -> ControlFlow<()> {
    let url = http.url().clone();
    let host = url.host().unwrap_or_default();
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    let is_tls = url.scheme_str() == Some("https");
    let port = url.port_u16().unwrap_or(if is_tls { 443 } else { 80 });
    if let Some(socket) = http.socket() {
        probe.step("socket", Duration::ZERO, socket.display().to_string());
        return redirects(probe).await;
    }
    match http.proxy() {
        Ok(None) => {}
        // The proxy resolves the name and connects: the next steps go through it.
        Ok(Some(proxy)) => {
            probe.step("proxy", Duration::ZERO, format!("through {proxy}"));
            return redirects(probe).await;
        }
        Err(why) => {
            probe.report("proxy", None, "environment", why);
            return ControlFlow::Break(());
        }
    }
    let begun = Instant::now();
    let found = timeout(STEP, lookup_host((bare, port))).await;
    let took = begun.elapsed();
    let addresses: Vec<_> = match found {
        Ok(Ok(addresses)) => addresses.collect(),
        Ok(Err(why)) => {
            probe.report("name", None, bare, why.to_string());
            return ControlFlow::Break(());
        }
        Err(_) => {
            probe.report("name", None, bare, "no answer of the name service");
            return ControlFlow::Break(());
        }
    };
    let shown: Vec<String> = addresses.iter().map(|it| it.ip().to_string()).collect();
    probe.step("name", took, format!("{bare} is {}", shown.join(", ")));
    let (mut connected, mut failures) = (None, Vec::new());
    for address in addresses {
        let begun = Instant::now();
        match timeout(STEP, TcpStream::connect(address)).await {
            Ok(Ok(stream)) => {
                probe.step("connection", begun.elapsed(), address.to_string());
                connected = Some(stream);
                break;
            }
            Ok(Err(why)) => failures.push(format!("{address}: {why}")),
            Err(_) => failures.push(format!("{address}: no answer")),
        }
    }
    let Some(stream) = connected else {
        let place = format!("{bare}:{port}");
        probe.report("connection", None, place, failures.join("; "));
        return ControlFlow::Break(());
    };
    if is_tls {
        tls(probe, http, bare, stream).await?;
    } else {
        // A server that serves one connection after the other would wait for this one.
        drop(stream);
    }
    redirects(probe).await
}

/// Looks at the certificate of a server.
async fn tls(probe: &mut Probe, http: &Http, host: &str, stream: TcpStream) -> ControlFlow<()> {
    let begun = Instant::now();
    let roots = Arc::new(http.trusted_roots());
    let looked = match timeout(STEP, certificate::look(roots, host, stream)).await {
        Ok(looked) => looked,
        Err(_) => Err("no answer to the TLS handshake".to_owned()),
    };
    match looked {
        Ok(Certificate {
            protocol,
            names,
            ends,
            days,
            fault,
        }) => {
            let detail = format!("{protocol}, certificate for {names}, valid until {ends}");
            probe.step("TLS", begun.elapsed(), detail);
            if let Some(why) = fault {
                probe.report("certificate", None, host, why);
                return ControlFlow::Break(());
            }
            if days < DAYS {
                let found = format!("it ends in {days} days, at {ends}");
                probe.report("certificate-ends", None, host, found);
            }
            ControlFlow::Continue(())
        }
        Err(why) => {
            probe.report("certificate", None, host, why);
            ControlFlow::Break(())
        }
    }
}

/// Sends a first message, and follows redirects of it within the server.
async fn redirects(probe: &mut Probe) -> ControlFlow<()> {
    let latest = Revision::LATEST;
    let conversation = Conversation {
        revision: latest,
        session: None,
    };
    for _ in 0..=REDIRECTS {
        let first = ProbeMessage::new(latest, methods::SERVER_DISCOVER, json!({})).faulty();
        let reply = probe.send(&conversation, first).await;
        if let (None, Some(why)) = (reply.status, &reply.failure) {
            let place = "first request";
            // A fault behind a proxy shows in the error only.
            if why.contains("invalid peer certificate") {
                probe.report("certificate", None, place, why.clone());
            } else if why.contains("opens no tunnel") {
                probe.report("proxy", None, place, why.clone());
            } else {
                probe.report("connection", None, place, why.clone());
            }
            return ControlFlow::Break(());
        }
        let status = reply.status.unwrap_or_default();
        probe.is_discovered = reply.result().is_some();
        probe.step("first answer", reply.took, reply.line());
        let Some(to) = reply
            .header("location")
            .filter(|_| (300..400).contains(&status))
        else {
            return ControlFlow::Continue(());
        };
        let ProbeLink::Http(http) = &mut probe.link else {
            return ControlFlow::Continue(());
        };
        let from = std::mem::take(&mut http.url);
        let place = http.raw.place(to);
        let found = format!("status {status} leads to {}", super::link::shown(to));
        http.url = place.clone().unwrap_or_default();
        probe.report("redirect", None, from, found);
        if place.is_none() {
            return ControlFlow::Break(());
        }
    }
    ControlFlow::Break(())
}
