//! The stand-in for tasks in Redis, without feature `ext-tasks`: it keeps none.

use mcp_revisions_sansio::server::TaskStore;

use super::Redis;

impl TaskStore for Redis {}
