//! Sessions by their id, for transports where one endpoint has many; bounded.

use std::collections::HashMap;

use super::channel::Channel;

/// Sessions by the id that the transport minted; of [`Channel`]s, or of what the transport keeps them in.
///
/// Ids come from outside: this crate has no randomness of its own.
#[derive(Debug)]
pub struct Sessions<T = Channel> {
    open: HashMap<String, T>,
    limit: usize,
}

/// No session more is taken; the one that was to be opened comes back.
#[derive(Debug, thiserror::Error)]
#[error("{limit} sessions are open: try again once one has ended")]
pub struct SessionsFull<T> {
    /// How many are taken.
    pub limit: usize,
    /// What was to be opened.
    pub session: T,
}

impl<T> Sessions<T> {
    /// Room for [`Limits::sessions`](crate::Limits::sessions).
    #[must_use]
    pub fn new(limit: usize) -> Self {
        Self {
            open: HashMap::new(),
            limit,
        }
    }

    /// Keeps a session; one of the same id is replaced.
    ///
    /// # Errors
    /// As many are open as are taken; answer with [`errors::too_many_sessions`](crate::errors::too_many_sessions).
    pub fn open(&mut self, id: impl Into<String>, session: T) -> Result<(), SessionsFull<T>> {
        let id = id.into();
        if self.open.len() >= self.limit && !self.open.contains_key(&id) {
            return Err(SessionsFull {
                limit: self.limit,
                session,
            });
        }
        self.open.insert(id, session);
        Ok(())
    }

    /// The session of an id; `None` is to be answered with status 404.
    pub fn get_mut(&mut self, id: &str) -> Option<&mut T> {
        self.open.get_mut(id)
    }

    /// As [`get_mut`](Self::get_mut), to look at.
    #[must_use]
    pub fn get(&self, id: &str) -> Option<&T> {
        self.open.get(id)
    }

    /// Ends a session.
    pub fn end(&mut self, id: &str) -> Option<T> {
        self.open.remove(id)
    }

    /// Ends every session that `stays` says no to, such as those long silent.
    pub fn retire(&mut self, mut stays: impl FnMut(&T) -> bool) -> Vec<T> {
        self.open
            .extract_if(|_, session| !stays(session))
            .map(|(_, session)| session)
            .collect()
    }

    /// How many are open.
    #[must_use]
    pub fn len(&self) -> usize {
        self.open.len()
    }

    /// Whether none is open.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.open.is_empty()
    }
}
