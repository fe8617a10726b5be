//! The certificate of a server over TLS: its names and dates, and what is wrong with it.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::CryptoProvider;
use rustls::crypto::ring::default_provider;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme,
};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

/// Number of names that are shown.
const NAMES: usize = 4;

/// Facts about a certificate.
pub(super) struct Certificate {
    pub(super) protocol: String,
    /// Its names, or `no name`.
    pub(super) names: String,
    /// The date of its end.
    pub(super) ends: String,
    /// Number of days until then.
    pub(super) days: u64,
    /// Why clients do not trust it.
    pub(super) fault: Option<String>,
}

/// Completes a TLS handshake over a connection, and returns the facts of the server's certificate, trusted or not. Returns the
/// reason why the handshake failed.
pub(super) async fn look(
    roots: Arc<RootCertStore>,
    host: &str,
    stream: TcpStream,
) -> Result<Certificate, String> {
    let provider = Arc::new(default_provider());
    let verifier = WebPkiServerVerifier::builder_with_provider(roots, Arc::clone(&provider));
    let looker = Arc::new(Looker {
        verifier: verifier.build().map_err(|why| why.to_string())?,
        provider: Arc::clone(&provider),
        seen: Mutex::default(),
    });
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|why| why.to_string())?
        .dangerous()
        .with_custom_certificate_verifier(Arc::clone(&looker) as Arc<dyn ServerCertVerifier>)
        .with_no_client_auth();
    let name = ServerName::try_from(host.to_owned()).map_err(|why| why.to_string())?;
    let connecting = TlsConnector::from(Arc::new(config)).connect(name, stream);
    let connected = connecting.await.map_err(|why| match why.to_string() {
        text if text.contains("InvalidContentType") => {
            "the server does not speak TLS at this port: try http://".to_owned()
        }
        text => text,
    })?;
    let protocol = connected.get_ref().1.protocol_version();
    let protocol_name = protocol.and_then(|it| it.as_str()).unwrap_or("TLS");
    let seen = looker.seen.lock().unwrap_or_else(PoisonError::into_inner);
    let certificate = seen.as_ref().ok_or("the server sent no certificate")?;
    Ok(Certificate {
        protocol: protocol_name.replace("v1_", " 1."),
        names: certificate.names.clone(),
        ends: certificate.ends.map_or("an unknown date".to_owned(), date),
        days: certificate.ends.map_or(u64::MAX, days_until),
        fault: certificate.fault.clone(),
    })
}

/// Describes the fault of a certificate.
fn fault(error: &Error) -> String {
    let date = |time: &UnixTime| date(time.as_secs());
    match error {
        Error::InvalidCertificate(CertificateError::ExpiredContext { not_after, .. }) => {
            format!("it has ended, at {}", date(not_after))
        }
        Error::InvalidCertificate(CertificateError::NotValidYetContext { not_before, .. }) => {
            format!("it begins at {}", date(not_before))
        }
        Error::InvalidCertificate(CertificateError::UnknownIssuer) => {
            "no trusted root certificate leads to it: it is of an authority of its own, or the server does not send the intermediate certificates".to_owned()
        }
        other => other.to_string(),
    }
}

/// Returns a time in seconds since 1970 as a date.
fn date(seconds: u64) -> String {
    httpdate::fmt_http_date(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds))
}

/// Facts that a verifier saw.
#[derive(Debug)]
struct SeenCertificate {
    names: String,
    ends: Option<u64>,
    fault: Option<String>,
}

/// Verifies a certificate as clients do, and accepts it in any case, because nothing is sent over the connection.
#[derive(Debug)]
struct Looker {
    verifier: Arc<WebPkiServerVerifier>,
    provider: Arc<CryptoProvider>,
    seen: Mutex<Option<SeenCertificate>>,
}

impl ServerCertVerifier for Looker {
    fn verify_server_cert(
        &self,
        end: &CertificateDer<'_>,
        others: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let verify = |now| {
            self.verifier
                .verify_server_cert(end, others, name, ocsp, now)
        };
        // Verified far in the future, an expired certificate gives an error with its last date.
        let future = UnixTime::since_unix_epoch(Duration::from_secs(FAR));
        let ends = match verify(future) {
            Err(Error::InvalidCertificate(CertificateError::ExpiredContext {
                not_after, ..
            })) => Some(not_after.as_secs()),
            _ => None,
        };
        let seen = SeenCertificate {
            names: names(end),
            ends,
            fault: verify(now).err().map(|why| fault(&why)),
        };
        let mut place = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        *place = Some(seen);
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let known = &self.provider.signature_verification_algorithms;
        rustls::crypto::verify_tls12_signature(message, certificate, signed, known)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let known = &self.provider.signature_verification_algorithms;
        rustls::crypto::verify_tls13_signature(message, certificate, signed, known)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.verifier.supported_verify_schemes()
    }
}

/// Seconds since 1970 of a time after every certificate: the year 9999.
const FAR: u64 = 253_402_300_799;

fn names(end: &CertificateDer<'_>) -> String {
    let parsed = webpki::EndEntityCert::try_from(end);
    let all: Vec<String> = parsed.map_or(Vec::new(), |parsed| {
        parsed.valid_dns_names().map(str::to_owned).collect()
    });
    let more = all.len().saturating_sub(NAMES);
    let mut shown = all.into_iter().take(NAMES).collect::<Vec<_>>().join(", ");
    if shown.is_empty() {
        shown.push_str("no name");
    }
    if more > 0 {
        shown.push_str(&format!(" and {more} more"));
    }
    mcp_wire::printable(&shown)
}

fn days_until(ends: u64) -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    ends.saturating_sub(since.map_or(0, |since| since.as_secs())) / 86_400
}
