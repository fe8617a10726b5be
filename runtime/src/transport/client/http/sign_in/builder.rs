//! The options of a sign-in over HTTP.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use mcp_revisions_auth::{DevicePage, FlowRequest, FlowResponse, Settings};

use super::drive::FlowDriver;
use super::store::{LastingStore, StoreError, StoreFailureHook, TokenStore};
use super::{OAuth, SignInLog, SignInShared};

/// Makes an [`OAuth`].
#[must_use]
pub struct OAuthBuilder {
    pub(super) settings: Settings,
    pub(super) driver: FlowDriver,
    pub(super) store: Box<dyn TokenStore>,
    pub(super) on_store_failure: StoreFailureHook,
    pub(super) wait: Duration,
    pub(super) log: Option<SignInLog>,
}

impl OAuthBuilder {
    /// Sets where tokens are kept; in memory by default.
    pub fn with_store(mut self, store: impl TokenStore) -> Self {
        self.store = Box::new(store);
        self
    }

    /// Sets how long a call waits for a sign-in, 45 seconds by default. After that it fails with the address of the page, and
    /// the sign-in goes on.
    pub fn with_call_timeout(mut self, time: Duration) -> Self {
        self.wait = time;
        self
    }

    /// Sets how long a person has to sign in, 10 minutes by default.
    pub fn with_person_timeout(mut self, time: Duration) -> Self {
        self.driver.person_time = time;
        self
    }

    /// Sets the port that the browser comes back to; by default one of 8 that belong to the server's URL.
    pub fn with_callback_port(mut self, port: u16) -> Self {
        self.driver.callback.port = Some(port);
        self
    }

    /// Names the callback by `localhost` in place of `127.0.0.1`.
    pub fn with_callback_localhost(mut self) -> Self {
        self.driver.callback.is_localhost = true;
        self
    }

    /// Sets the function that shows a person the page and the code of a sign-in by device code; by default the browser opens the
    /// page.
    pub fn on_device_code(mut self, show: impl Fn(&DevicePage) + Send + Sync + 'static) -> Self {
        self.driver.screen = Some(Arc::new(show));
        self
    }

    /// Sets the function that shows a person a page which is open already, such as one that another process waits for. By default
    /// only the errors of calls have it.
    pub fn on_open_page(mut self, show: impl Fn(&str) + Send + Sync + 'static) -> Self {
        self.driver.open_page = Some(Arc::new(show));
        self
    }

    /// Sets a hook that learns why tokens cannot be stored, which are in memory then. By default it is an event for operators.
    pub fn on_store_failure(mut self, tell: impl Fn(&StoreError) + Send + Sync + 'static) -> Self {
        self.on_store_failure = Arc::new(tell);
        self
    }

    /// Sets a hook that sees each request of a sign-in, and its response. Their `Debug` shows no secret.
    pub fn on_request(
        mut self,
        log: impl Fn(&FlowRequest, &Result<FlowResponse, String>) + Send + Sync + 'static,
    ) -> Self {
        self.log = Some(Arc::new(log));
        self
    }

    /// Returns the provider.
    #[must_use]
    pub fn build(self) -> OAuth {
        OAuth(Arc::new(SignInShared {
            settings: self.settings,
            driver: self.driver,
            store: LastingStore::new(self.store, self.on_store_failure),
            wait: self.wait,
            log: self.log,
            state: Mutex::default(),
        }))
    }
}

mcp_wire::debug_struct!([] OAuthBuilder, "OAuthBuilder", self);
