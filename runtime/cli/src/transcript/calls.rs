//! Requests and what answers them: which wait, and what there is to know of each method's calls.

use std::collections::{BTreeMap, BTreeSet};

use mcp_revisions_core::Revision;
use mcp_wire::Direction;

/// A request that waits.
#[derive(Debug)]
pub(super) struct OpenRequest {
    pub(super) line: usize,
    pub(super) at: Option<u64>,
    pub(super) method: String,
    pub(super) revision: Option<Revision>,
    pub(super) is_cancelled: bool,
}

/// As many requests may wait for ever.
const MOST_OPEN: usize = 1_000;

/// An id, by its text, and who used it.
pub(super) type RequestKey = (Direction, String);

/// The counts of a method's calls.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct MethodCalls {
    /// Number of requests.
    pub(crate) sent: usize,
    /// Number of requests answered with a result.
    pub(crate) answered: usize,
    /// Number of requests answered with an error.
    pub(crate) failed: usize,
    /// The longest time that one took, in milliseconds, where the lines say when.
    pub(crate) slowest: Option<u64>,
}

/// Why a response answers nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stray {
    /// There was no such request.
    Unasked,
    /// There was one, and it was answered before.
    Twice,
}

/// The requests of both sides.
#[derive(Debug, Default)]
pub(super) struct OpenRequests {
    open: BTreeMap<RequestKey, OpenRequest>,
    answered: BTreeSet<RequestKey>,
    pub(super) calls: BTreeMap<RequestKey, MethodCalls>,
}

impl OpenRequests {
    /// Returns whether an id is taken: by a request that waits, or, where ids come once, by one that was answered.
    pub(super) fn is_taken(&self, asked: &RequestKey, once: bool) -> bool {
        self.open.contains_key(asked) || (once && self.answered.contains(asked))
    }

    /// A request was sent.
    pub(super) fn ask(&mut self, asked: RequestKey, open: OpenRequest) {
        let calls = self.calls.entry((asked.0, open.method.clone()));
        calls.or_default().sent += 1;
        self.open.insert(asked, open);
    }

    /// Takes the answer to a request, and returns which one it was.
    pub(super) fn answer(
        &mut self,
        asked: RequestKey,
        at: Option<u64>,
        is_result: bool,
    ) -> Result<OpenRequest, Stray> {
        let Some(open) = self.open.remove(&asked) else {
            return Err(if self.answered.contains(&asked) {
                Stray::Twice
            } else {
                Stray::Unasked
            });
        };
        let calls = self
            .calls
            .entry((asked.0, open.method.clone()))
            .or_default();
        if is_result {
            calls.answered += 1
        } else {
            calls.failed += 1
        }
        if let (Some(start), Some(end)) = (open.at, at) {
            calls.slowest = calls.slowest.max(Some(end.saturating_sub(start)));
        }
        self.answered.insert(asked);
        Ok(open)
    }

    /// A request was called off. Who does that has asked; a server of a stream of changes ends what its client asked for.
    pub(super) fn cancel(&mut self, by: Direction, id: &str) {
        for asker in [by, by.back()] {
            if let Some(open) = self.open.get_mut(&(asker, id.to_owned())) {
                open.is_cancelled = true;
                return;
            }
        }
    }

    /// Forgets what was answered; of what waits, only where it is much, what was asked before a line.
    pub(super) fn forget(&mut self, before: usize) {
        self.answered.clear();
        self.calls.clear();
        if self.open.len() > MOST_OPEN {
            self.open.retain(|_, open| open.line >= before);
        }
    }

    /// Returns the request of this id that waits.
    pub(super) fn waiting(&self, asked: &RequestKey) -> Option<&OpenRequest> {
        self.open.get(asked)
    }

    /// Returns the unanswered requests with their ids, at the end.
    pub(super) fn end(&mut self) -> impl Iterator<Item = (String, OpenRequest)> + use<> {
        let open = std::mem::take(&mut self.open);
        open.into_iter().map(|((_, id), open)| (id, open))
    }
}
