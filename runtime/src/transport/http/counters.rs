//! The state of a service in numbers: for metrics, in whichever form they are exported.

/// The state of a service, at one moment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counters {
    /// The sessions that run here.
    pub sessions: usize,
    /// The requests that are suspended until their client responds.
    pub suspended_requests: usize,
    /// The bytes of requests that are read or worked on.
    pub request_bytes: usize,
    /// The bytes of responses that clients have not read yet.
    pub unread_bytes: usize,
}

impl Counters {
    /// Adds the numbers of another service, which [shares](super::Options::with_shared_budgets) its budgets with this one.
    pub fn add(&mut self, other: &Self) {
        self.sessions += other.sessions;
        // Each of them reports the same.
        self.suspended_requests = self.suspended_requests.max(other.suspended_requests);
        self.request_bytes = self.request_bytes.max(other.request_bytes);
        self.unread_bytes = self.unread_bytes.max(other.unread_bytes);
    }
}
