//! The options of a server over `https`. Feature `client-tls`.

use super::options::Http;
use crate::service::Error;

impl Http {
    /// Trusts the certificates of a file in PEM, besides the root certificates of web browsers. It does nothing where
    /// [`with_tls`](Self::with_tls) is used.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read, or has no certificate.
    pub fn with_ca_file(mut self, path: &std::path::Path) -> Result<Self, Error> {
        self.trust.add_file(path)?;
        Ok(self)
    }

    /// Sets the TLS configuration for `https`, such as other root certificates; by default those of web browsers.
    #[must_use]
    pub fn with_tls(mut self, config: rustls::ClientConfig) -> Self {
        self.trust.config = Some(config);
        self
    }
}
