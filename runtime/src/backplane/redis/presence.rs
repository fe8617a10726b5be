//! The keys by which replicas find each other in the server, and the look at them and at the server.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use super::{PATIENCE, SILENT, SharedRedis, reason};
use crate::backplane::ReplicaTarget;
use crate::backplane::receivers::fresh_address;
use crate::transport::observe;
use crate::transport::panics::lock;

/// Time between two looks at the server.
pub(super) const BEAT: Duration = Duration::from_millis(500);
/// Time for which a replica that sends no beat counts as being there.
const LIFE: Duration = Duration::from_secs(5);

/// The keys of this process in the server beside its messages.
#[derive(Default)]
pub(super) struct ReplicaPresence {
    /// The addresses whose keys were set: one that vanishes was taken for gone by others.
    addresses: HashSet<Arc<str>>,
    /// The value of the key that only an emptied server lacks; empty before the first look.
    pub(super) mark: String,
}

/// The result of a look at the server.
#[derive(Default)]
pub(super) struct Beat {
    /// The addresses whose keys had vanished.
    missed: Vec<Arc<str>>,
    /// Set if the server lost all of its keys since the last look.
    is_emptied: bool,
}

impl SharedRedis {
    /// Returns the key that only an emptied server lacks.
    pub(super) fn mark(&self) -> String {
        format!("{}:mark", self.prefix)
    }

    /// Returns the key that tells for a while that the server lost its keys: sessions that are not there may be saved again.
    pub(super) fn emptied(&self) -> String {
        format!("{}:emptied", self.prefix)
    }

    /// Says that this process is there, and which receivers are in it.
    pub(super) async fn beat(&self) -> redis::RedisResult<Beat> {
        let mut connection = self.connection.clone();
        let life = LIFE.as_millis().to_string();
        let addresses = self.inbox.receivers.addresses();
        // Nothing of this needs memory: a full server still knows its replicas.
        let mut looks = redis::pipe();
        looks.cmd("GET").arg(self.mark());
        for address in &addresses {
            let key = self.key("at", address);
            looks.cmd("GETEX").arg(key).arg("PX").arg(&life);
        }
        let answers: Vec<Option<String>> = looks.query_async(&mut connection).await?;
        let mut found = answers.into_iter();
        let mark = found.next().flatten();
        let is_here = |found: &Option<String>| found.as_deref() == Some(&*self.channel);
        let absent: Vec<Arc<str>> = addresses
            .into_iter()
            .zip(found)
            .filter(|(_, found)| !is_here(found))
            .map(|(address, _)| address)
            .collect();
        let is_known = mark
            .as_ref()
            .is_some_and(|mark| *mark == lock(&self.presence).mark);
        if absent.is_empty() && is_known {
            return Ok(Beat::default());
        }
        let mut writes = redis::pipe();
        let mark = fresh_address();
        (writes.cmd("SET").arg(self.mark()).arg(&*mark)).arg(&["NX", "GET"]);
        if let Some(key) = self.state_key.get() {
            // Replicas that start after the server was emptied are to read this key.
            let set = writes.cmd("SET").arg(self.state_key_name()).arg(key);
            set.arg("NX").ignore();
        }
        for address in &absent {
            let key = self.key("at", address);
            let set = writes.cmd("SET").arg(key).arg(&self.channel);
            set.arg("PX").arg(&life).ignore();
        }
        let (before,): (Option<String>,) = writes.query_async(&mut connection).await?;
        let mark = before.unwrap_or_else(|| mark.to_string());
        let is_emptied = {
            let known = &lock(&self.presence).mark;
            !known.is_empty() && *known != mark
        };
        if is_emptied {
            // Before the new mark is known here: from then on a session that is not there is one that has ended, and the replica
            // that runs it may not have looked yet.
            let mut tell = redis::cmd("SET");
            tell.arg(self.emptied()).arg(1).arg("PX").arg(&life);
            let () = tell.query_async(&mut connection).await?;
        }
        let mut presence = lock(&self.presence);
        presence.mark = mark;
        let missed = absent
            .into_iter()
            .filter(|address| !presence.addresses.insert(Arc::clone(address)));
        Ok(Beat {
            missed: missed.collect(),
            is_emptied,
        })
    }

    /// Keeps saying that this process is there, and finds out whether the server is there.
    pub(super) async fn live(self: Arc<Self>) {
        // A connection that ends says at once that the server is away; the log and the counters hear of it by the look after.
        let mut is_told_there = true;
        loop {
            tokio::time::sleep(BEAT).await;
            let beat = match tokio::time::timeout(PATIENCE, self.beat()).await {
                Ok(beat) => beat.map_err(|error| reason(&error)),
                Err(_) => Err(SILENT.to_owned()),
            };
            self.forget_sizes();
            if let Err(why) = &beat {
                why.clone_into(&mut lock(&self.inbox.why));
            }
            let was_there = (self.inbox.is_available).swap(beat.is_ok(), Ordering::AcqRel);
            if is_told_there != beat.is_ok() {
                is_told_there = beat.is_ok();
                observe::backplane(beat.is_ok(), beat.as_ref().err().map_or("", String::as_str));
            }
            let Ok(beat) = beat else { continue };
            let all = || self.inbox.receivers.of(ReplicaTarget::All);
            // First what was lost: else its sessions are taken for ended.
            if beat.is_emptied {
                all().iter().for_each(|it| it.emptied());
            }
            if !was_there {
                all().iter().for_each(|it| it.reconnected());
            }
            for address in &beat.missed {
                let missed = self.inbox.receivers.of(ReplicaTarget::One(address));
                missed.iter().for_each(|it| it.missed());
            }
            self.divide_event_bytes().await;
        }
    }
}
