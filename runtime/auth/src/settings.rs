//! The settings of a sign-in: the server, the client, and the exceptions that its user allows.

use crate::Secret;

/// The settings of a sign-in to one server.
#[derive(Debug, Clone)]
#[non_exhaustive]
#[must_use]
pub struct Settings {
    /// The URL of the MCP server.
    pub server: String,
    /// The name that a registration shows to people.
    pub client_name: String,
    /// The id of a client that is registered already.
    pub client_id: Option<String>,
    /// Its secret.
    pub client_secret: Option<Secret>,
    /// Its private key, for signed assertions in place of a secret.
    pub private_key: Option<PrivateKey>,
    /// The URL of a client id metadata document, which is the client's id where the authorization server supports it.
    pub client_metadata_url: Option<String>,
    /// The scopes to request; by default those that the server wants.
    pub scopes: Vec<String>,
    /// The only issuer to sign in with.
    pub issuer: Option<String>,
    /// The URL of the metadata of the authorization server, where its issuer does not lead to them.
    pub issuer_metadata: Option<String>,
    /// The `resource` parameter (RFC 8707).
    pub resource: ResourceParameter,
    /// The grant.
    pub grant: Grant,
    /// Set if PKCE with S256 is assumed where the metadata do not list it.
    pub assumes_pkce: bool,
    /// Set if tokens are bound to a key even if the server does not want it (RFC 9449).
    pub wants_dpop: bool,
    /// Parameters that are added to the authorization request.
    pub authorize_parameters: Vec<(String, String)>,
    /// The `scope` of refresh requests; by default they have none.
    pub refresh_scope: Option<String>,
    /// Set if authorization servers may be in private networks.
    pub allows_private_addresses: bool,
}

impl Settings {
    /// Returns the settings of a sign-in with an authorization code.
    pub fn new(server: impl Into<String>) -> Self {
        Self {
            server: server.into(),
            client_name: "MCP client".to_owned(),
            client_id: None,
            client_secret: None,
            private_key: None,
            client_metadata_url: None,
            scopes: Vec::new(),
            issuer: None,
            issuer_metadata: None,
            resource: ResourceParameter::Discovered,
            grant: Grant::Code,
            assumes_pkce: false,
            wants_dpop: false,
            authorize_parameters: Vec::new(),
            refresh_scope: None,
            allows_private_addresses: false,
        }
    }

    /// Sets the client that is registered already, with its secret if it has one.
    pub fn with_client(mut self, id: impl Into<String>, secret: Option<Secret>) -> Self {
        (self.client_id, self.client_secret) = (Some(id.into()), secret);
        self
    }

    /// Sets the scopes to request [default: those that the server wants].
    pub fn with_scopes<S: Into<String>>(mut self, scopes: impl IntoIterator<Item = S>) -> Self {
        self.scopes = scopes.into_iter().map(Into::into).collect();
        self
    }

    /// Sets the only issuer to sign in with [default: one that the server names].
    pub fn with_issuer(mut self, issuer: impl Into<String>) -> Self {
        self.issuer = Some(issuer.into());
        self
    }

    /// Sets the `resource` parameter [default: the one that the server names].
    pub fn with_resource(mut self, resource: ResourceParameter) -> Self {
        self.resource = resource;
        self
    }

    /// Sets the grant [default: an authorization code].
    pub fn with_grant(mut self, grant: Grant) -> Self {
        self.grant = grant;
        self
    }
}

/// The `resource` parameter of authorization and token requests.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum ResourceParameter {
    /// The one that the metadata of the server name.
    #[default]
    Discovered,
    /// This text.
    Fixed(String),
    /// No parameter, for authorization servers that refuse it.
    None,
}

/// The grant type of a code on another device, of RFC 8628.
pub(crate) const DEVICE_CODE: &str = "urn:ietf:params:oauth:grant-type:device_code";

/// The way to request a token.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Grant {
    /// An authorization code, with PKCE: a person signs in.
    Code,
    /// A device code (RFC 8628): a person signs in at a page, on any device.
    Device,
    /// The credentials of the client itself.
    ClientCredentials,
    /// An assertion of an issuer that the authorization server trusts (RFC 7523), such as the identity of a workload.
    JwtBearer {
        /// The assertion.
        assertion: Secret,
    },
    /// An ID token of an identity provider, exchanged there for an assertion (enterprise-managed authorization).
    Enterprise {
        /// The token endpoint of the identity provider.
        token_endpoint: String,
        /// The client's id there.
        client_id: String,
        /// The client's secret there, if it has one.
        client_secret: Option<Secret>,
        /// The ID token.
        id_token: Secret,
    },
}

impl Grant {
    /// Returns whether a person signs in.
    #[must_use]
    pub fn has_person(&self) -> bool {
        matches!(self, Self::Code | Self::Device)
    }
}

/// A private key of a client.
#[derive(Debug, Clone)]
pub struct PrivateKey {
    /// The key in PKCS#8, as PEM.
    pub pem: Secret,
    /// The algorithm of its signatures.
    pub algorithm: Algorithm,
}

/// An algorithm of signatures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Algorithm {
    /// ECDSA over P-256 with SHA-256.
    #[default]
    Es256,
    /// RSA (PKCS#1 v1.5) with SHA-256.
    Rs256,
}
