//! The options of a server's tasks: the tools that make some, and the time that they are kept.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use mcp_revisions_core::RevisionSet;

use super::store::TaskStore;
use crate::tasks::form::revisions_with_extension;

/// The support of a tool for tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TaskSupport {
    /// For clients that have tasks; the calls of others wait for their result.
    Optional,
    /// Always: the calls of clients without tasks are refused.
    Required,
}

impl TaskSupport {
    /// Its name in `execution.taskSupport` of a tool.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Optional => "optional",
            Self::Required => "required",
        }
    }
}

/// The tasks of a server: which tools make some, where they are kept, and how long.
#[derive(Clone)]
#[must_use]
pub struct TaskOptions {
    tools: HashMap<String, TaskSupport>,
    /// The other tools of the server; `None` if they are not known.
    plain: Option<HashSet<String>>,
    /// `None`: the one of the backplane, or one in memory.
    pub store: Option<Arc<dyn TaskStore>>,
    pub(crate) ttl: Duration,
    pub(crate) max_ttl: Duration,
    /// Time between two requests of a client for a task that runs.
    pub poll_interval: Duration,
    /// The revisions whose core has the messages of the extension.
    pub(crate) core_revisions: RevisionSet,
}

impl Default for TaskOptions {
    fn default() -> Self {
        Self {
            tools: HashMap::new(),
            plain: None,
            store: None,
            ttl: Duration::from_secs(60 * 60),
            max_ttl: Duration::from_secs(24 * 60 * 60),
            poll_interval: Duration::from_secs(1),
            core_revisions: revisions_with_extension(),
        }
    }
}

impl TaskOptions {
    /// Creates options without any tool.
    pub fn new() -> Self {
        Self::default()
    }

    /// Lets calls of a tool become tasks.
    pub fn with_tool(mut self, name: impl Into<String>, support: TaskSupport) -> Self {
        self.tools.insert(name.into(), support);
        self
    }

    /// Sets the tools whose calls never become tasks: together with the others they are all that the server has.
    pub fn with_plain_tools(mut self, names: HashSet<String>) -> Self {
        self.plain = Some(names);
        self
    }

    /// Sets where tasks are kept [default: in the backplane that replicas share, otherwise in the memory of the process].
    /// Replicas that share a store serve each other's tasks.
    pub fn with_store(mut self, store: Arc<dyn TaskStore>) -> Self {
        self.store = Some(store);
        self
    }

    /// Sets how long a task is kept from its creation where its client names no time [default: 1 hour].
    pub fn with_ttl(mut self, ttl: Duration) -> Self {
        self.ttl = ttl;
        self
    }

    /// Sets how long a client may have a task kept [default: 24 hours].
    pub fn with_max_ttl(mut self, most: Duration) -> Self {
        self.max_ttl = most;
        self
    }

    /// Sets how often a client is asked to look at a task [default: every second].
    pub fn with_poll_interval(mut self, interval: Duration) -> Self {
        self.poll_interval = interval;
        self
    }

    /// Sets the revisions whose core has the messages of the extension, so that their clients declare no extension
    /// [default: those whose schema has them].
    #[doc(hidden)]
    pub fn with_extension_in_core(mut self, revisions: RevisionSet) -> Self {
        self.core_revisions = revisions;
        self
    }

    /// Returns the support of a tool for tasks; `None` if its calls never become one.
    pub(crate) fn support(&self, tool: &str) -> Option<TaskSupport> {
        self.tools.get(tool).copied()
    }

    /// Returns whether the server has no tool of that name, as far as its tools are known.
    pub(crate) fn lacks(&self, tool: &str) -> bool {
        let is_plain = |plain: &HashSet<String>| plain.contains(tool);
        self.support(tool).is_none() && self.plain.as_ref().is_some_and(|plain| !is_plain(plain))
    }

    /// Takes over the tools of other options, but for those that are named here.
    pub(crate) fn add_tools_of(&mut self, other: &Self) {
        self.plain = self.plain.take().or_else(|| other.plain.clone());
        for (name, support) in &other.tools {
            self.tools.entry(name.clone()).or_insert(*support);
        }
    }

    /// Returns the time that a task is kept if its client asks for this time.
    pub fn ttl_for(&self, asked: Option<u64>) -> Duration {
        asked
            .map_or(self.ttl, Duration::from_millis)
            .min(self.max_ttl)
    }
}

mcp_wire::debug_struct!([] TaskOptions, "TaskOptions", self,
    "tools": self.tools,
    "ttl": self.ttl,
    "poll_interval": self.poll_interval
);
