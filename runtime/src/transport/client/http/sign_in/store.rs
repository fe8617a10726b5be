//! The store of the kept parts of a sign-in: in memory, or in a file that several processes share.

use std::sync::Mutex;

use mcp_revisions_auth::StoredSignIn;

use super::super::authorize::AuthFuture;
use crate::transport::panics::lock;

/// Holds the lock of a store until it is dropped.
pub type StoreGuard = Box<dyn Send>;

/// Stores what is kept of the sign-in to one server.
pub trait TokenStore: Send + Sync + 'static {
    /// Returns what is stored.
    ///
    /// # Errors
    /// Returns why it cannot be read.
    fn load(&self) -> Result<Option<StoredSignIn>, String>;

    /// Stores it.
    ///
    /// # Errors
    /// Returns why it cannot be written.
    fn save(&self, kept: &StoredSignIn) -> Result<(), String>;

    /// Returns a guard for a sign-in or a refresh, or `None` while another one has it.
    ///
    /// # Errors
    /// Returns why there can be no guard.
    fn try_lock(&self) -> Result<Option<StoreGuard>, String>;
}

/// A store in memory, of one process.
#[derive(Debug, Default)]
pub struct MemoryStore(Mutex<Option<StoredSignIn>>);

impl TokenStore for MemoryStore {
    fn load(&self) -> Result<Option<StoredSignIn>, String> {
        Ok(lock(&self.0).clone())
    }

    fn save(&self, kept: &StoredSignIn) -> Result<(), String> {
        *lock(&self.0) = Some(kept.clone());
        Ok(())
    }

    fn try_lock(&self) -> Result<Option<StoreGuard>, String> {
        // One provider has one flow at a time.
        Ok(Some(Box::new(())))
    }
}

/// Waits for the guard of a store; `None` if `is_new` finds that another process has brought what is wanted.
pub(super) fn guard<'a>(
    store: &'a dyn TokenStore,
    is_new: impl Fn(&StoredSignIn) -> bool + Send + 'a,
) -> AuthFuture<'a, Result<Option<StoreGuard>, String>> {
    Box::pin(async move {
        loop {
            if let Some(guard) = store.try_lock()? {
                return Ok(Some(guard));
            }
            if store.load()?.is_some_and(|kept| is_new(&kept)) {
                return Ok(None);
            }
            tokio::time::sleep(POLL).await;
        }
    })
}

/// Time between two looks at a store while another process signs in.
const POLL: std::time::Duration = std::time::Duration::from_millis(250);
