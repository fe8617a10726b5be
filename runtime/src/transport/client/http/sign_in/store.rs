//! The stores of a sign-in: in memory, or in a file that several processes share.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use mcp_revisions_auth::{InvalidStore, StoredSignIn};

use super::super::authorize::AuthFuture;
use crate::transport::panics::lock;

/// Holds the lock of a store until it is dropped.
pub type StoreGuard = Box<dyn Send>;

/// Why a store cannot be used.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// A file or a folder cannot be read or written.
    #[error("{}: {error}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The error of the system.
        #[source]
        error: Arc<std::io::Error>,
    },
    /// A file or a folder is not one that only its owner can read.
    #[error("{}: {why}", path.display())]
    Unsafe {
        /// The file or folder.
        path: PathBuf,
        /// The fault, and its cure.
        why: String,
    },
    /// The content of a file is not a sign-in.
    #[error("{}: {error}; remove it", path.display())]
    Invalid {
        /// The file.
        path: PathBuf,
        /// The fault.
        #[source]
        error: InvalidStore,
    },
    /// There is no store, or another one than a file cannot be used.
    #[error("{0}")]
    Missing(String),
}

impl StoreError {
    pub(super) fn io(path: impl Into<PathBuf>, error: std::io::Error) -> Self {
        let (path, error) = (path.into(), Arc::new(error));
        Self::Io { path, error }
    }

    /// Returns whether the store is only out of reach or full, so that tokens in memory stand in for it.
    fn is_out_of_reach(&self) -> bool {
        matches!(self, Self::Io { .. } | Self::Missing(_))
    }
}

/// A store for the sign-in to one server. It holds the client, the tokens and their scopes.
///
/// If it cannot be written, the provider keeps tokens in memory.
pub trait TokenStore: Send + Sync + 'static {
    /// Returns the stored sign-in, if there is one.
    ///
    /// # Errors
    /// Returns an error if it cannot be read.
    fn load(&self) -> Result<Option<StoredSignIn>, StoreError>;

    /// Stores a sign-in.
    ///
    /// # Errors
    /// Returns an error if it cannot be written.
    fn save(&self, kept: &StoredSignIn) -> Result<(), StoreError>;

    /// Returns a guard for a sign-in or a refresh, or `None` while another one has it.
    ///
    /// # Errors
    /// Returns an error if there can be no guard.
    fn try_lock(&self) -> Result<Option<StoreGuard>, StoreError>;
}

/// A store in memory, of one process.
#[derive(Debug, Default)]
pub struct MemoryStore(Mutex<Option<StoredSignIn>>);

impl TokenStore for MemoryStore {
    fn load(&self) -> Result<Option<StoredSignIn>, StoreError> {
        Ok(lock(&self.0).clone())
    }

    fn save(&self, kept: &StoredSignIn) -> Result<(), StoreError> {
        *lock(&self.0) = Some(kept.clone());
        Ok(())
    }

    fn try_lock(&self) -> Result<Option<StoreGuard>, StoreError> {
        // One provider has one flow at a time.
        Ok(Some(Box::new(())))
    }
}

/// A function that gets the reason why a store cannot be used.
pub(super) type StoreFailureHook = Arc<dyn Fn(&StoreError) + Send + Sync>;

/// A store, and the memory for what it cannot take: a token is used even if it cannot be stored.
pub(super) struct LastingStore {
    store: Box<dyn TokenStore>,
    unsaved: Mutex<Option<StoredSignIn>>,
    /// The failure that was reported last.
    reported: Mutex<String>,
    on_failure: StoreFailureHook,
}

impl LastingStore {
    pub(super) fn new(store: Box<dyn TokenStore>, on_failure: StoreFailureHook) -> Self {
        Self {
            store,
            unsaved: Mutex::default(),
            reported: Mutex::default(),
            on_failure,
        }
    }

    /// Returns the newer sign-in of store and memory. A store out of reach has none.
    pub(super) fn load(&self) -> Result<Option<StoredSignIn>, StoreError> {
        let stored = match self.store.load() {
            Err(error) if error.is_out_of_reach() => None,
            other => other?,
        };
        let age = |kept: &StoredSignIn| kept.tokens.as_ref().map(|it| it.obtained_at);
        let mut unsaved = lock(&self.unsaved);
        unsaved.take_if(|it| stored.as_ref().is_some_and(|stored| age(stored) > age(it)));
        Ok(unsaved.clone().or(stored))
    }

    pub(super) fn save(&self, kept: &StoredSignIn) {
        let unsaved = match self.store.save(kept) {
            Ok(()) => None,
            Err(error) => {
                self.report(&error);
                Some(kept.clone())
            }
        };
        if unsaved.is_none() {
            lock(&self.reported).clear();
        }
        *lock(&self.unsaved) = unsaved;
    }

    /// Returns the guard of the store. A store out of reach is shared with no other process, and needs none.
    pub(super) fn try_lock(&self) -> Result<Option<StoreGuard>, StoreError> {
        match self.store.try_lock() {
            Err(error) if error.is_out_of_reach() => {
                self.report(&error);
                Ok(Some(Box::new(())))
            }
            other => other,
        }
    }

    /// Reports a failure, once until it changes.
    fn report(&self, error: &StoreError) {
        let text = error.to_string();
        if std::mem::replace(&mut *lock(&self.reported), text.clone()) != text {
            (self.on_failure)(error);
        }
    }
}

/// Waits for the guard of a store; `None` if `is_new` finds that another process has brought what is wanted. `waits` gets what is
/// kept while another process has the guard.
pub(super) fn guard<'a>(
    store: &'a LastingStore,
    is_new: impl Fn(&StoredSignIn) -> bool + Send + 'a,
    waits: impl Fn(&StoredSignIn) + Send + 'a,
) -> AuthFuture<'a, Result<Option<StoreGuard>, StoreError>> {
    Box::pin(async move {
        loop {
            if let Some(guard) = store.try_lock()? {
                return Ok(Some(guard));
            }
            if let Some(kept) = store.load()? {
                if is_new(&kept) {
                    return Ok(None);
                }
                waits(&kept);
            }
            tokio::time::sleep(POLL).await;
        }
    })
}

/// Time between two looks at a store while another process signs in.
const POLL: std::time::Duration = std::time::Duration::from_millis(250);
