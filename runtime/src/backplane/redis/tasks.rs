//! The tasks of several processes: a hash per task, an index of each owner's, and what all of them take up.
//!
//! Redis expires the shared keys with the last task, and the key of each task with that task. Creating a task removes the
//! expired ones from the counts.

use std::sync::Arc;

use mcp_wire::to_string;

use super::Redis;
use crate::backplane::Unavailable;
use mcp_revisions_sansio::driver::server::tasks::store_bounds::{BYTES, SHARE, TASKS};
use mcp_revisions_sansio::driver::server::tasks::{
    Stored, Task, TaskCount, TaskStore, TaskStoreError,
};

/// The common part of the scripts. `ARGV[1]` is the beginning of all keys, `ARGV[2]` the id of the task.
const COMMON: &str = "
local root, id = ARGV[1], ARGV[2]
local expiry, taken, facts = root .. ':expiry', root .. ':taken', root .. ':facts'
local function one(id) return root .. ':one:' .. id end
local function of(owner) return root .. ':of:' .. owner end
local function add(share, number, bytes)
  local changes = {number = number, bytes = bytes, ['number ' .. share] = number, ['bytes ' .. share] = bytes}
  for field, change in pairs(changes) do
    if redis.call('HINCRBY', taken, field, change) <= 0 then redis.call('HDEL', taken, field) end
  end
end
local function fits(share, number, bytes, most, most_bytes, part)
  local function has(field) return tonumber(redis.call('HGET', taken, field) or 0) end
  return has('number') + number <= most and has('bytes') + bytes <= most_bytes
    and has('number ' .. share) + number <= most / part and has('bytes ' .. share) + bytes <= most_bytes / part
end
local function remove(id)
  local text = redis.call('HGET', facts, id)
  if not text then return end
  local fact = cjson.decode(text)
  add(fact.share, -1, -fact.bytes)
  redis.call('HDEL', facts, id)
  redis.call('ZREM', expiry, id)
  redis.call('ZREM', of(fact.owner), id)
  redis.call('DEL', one(id))
end
";

/// Keeps a new task: version, text, owner, share, creation, expiry, and the bounds.
const INSERT: &str = "
local version, text, owner, share, created, expires = unpack(ARGV, 3, 8)
local most, most_bytes, part = tonumber(ARGV[9]), tonumber(ARGV[10]), tonumber(ARGV[11])
if redis.call('HEXISTS', facts, id) == 1 then return 'changed' end
for _, old in ipairs(redis.call('ZRANGEBYSCORE', expiry, '-inf', created, 'LIMIT', 0, 1000)) do remove(old) end
if not fits(share, 1, #text, most, most_bytes, part) then return 'full' end
add(share, 1, #text)
redis.call('HSET', facts, id, cjson.encode({share = share, owner = owner, bytes = #text}))
redis.call('ZADD', expiry, expires, id)
redis.call('ZADD', of(owner), created, id)
redis.call('HSET', one(id), 'version', version, 'text', text)
for _, key in ipairs({expiry, taken, facts, of(owner), one(id)}) do
  redis.call('PEXPIREAT', key, expires, 'NX')
  redis.call('PEXPIREAT', key, expires, 'GT')
end
return 'done'";

/// Puts a task in the place of its last version: that, the new one, the text, and the bounds.
const REPLACE: &str = "
local before, version, text = unpack(ARGV, 3, 5)
local most, most_bytes, part = tonumber(ARGV[6]), tonumber(ARGV[7]), tonumber(ARGV[8])
local fact = redis.call('HGET', facts, id)
if not fact or redis.call('HGET', one(id), 'version') ~= before then return 'changed' end
fact = cjson.decode(fact)
local more = #text - fact.bytes
if more > 0 and not fits(fact.share, 0, more, most, most_bytes, part) then return 'full' end
add(fact.share, 0, more)
fact.bytes = #text
redis.call('HSET', facts, id, cjson.encode(fact))
redis.call('HSET', one(id), 'version', version, 'text', text)
return 'done'";

const REMOVE: &str = "
remove(id)
return 'done'";

/// The tasks of an owner behind a creation time and the id: owner, time, and how many at most.
const LIST: &str = "
local owner, after, most = ARGV[3], ARGV[4], tonumber(ARGV[5])
local found, texts = redis.call('ZRANGEBYSCORE', of(owner), after, '+inf', 'WITHSCORES'), {}
for at = 1, #found, 2 do
  if #texts == most then break end
  if id == '' or found[at + 1] ~= after or found[at] > id then
    local text = redis.call('HGET', one(found[at]), 'text')
    if text then texts[#texts + 1] = text end
  end
end
return texts";

impl Redis {
    /// Returns a script about the task of this id, and its first arguments.
    fn script(&self, script: &str, id: &str) -> redis::Cmd {
        let mut command = redis::cmd("EVAL");
        command.arg(format!("{COMMON}{script}")).arg(0);
        command.arg(self.0.shared.key("tasks", "all")).arg(id);
        command
    }

    /// Runs a script that changes a task.
    fn change(&self, command: redis::Cmd) -> Stored<'static, Result<(), TaskStoreError>> {
        let shared = Arc::clone(&self.0.shared);
        let changed = self.begin(async move { shared.run::<String>(&command).await });
        Box::pin(async move {
            match changed.await.map_err(away)?.as_str() {
                "done" => Ok(()),
                "full" => Err(TaskStoreError::Full),
                _ => Err(TaskStoreError::Changed),
            }
        })
    }
}

fn away(Unavailable(why): Unavailable) -> TaskStoreError {
    TaskStoreError::Away(why)
}

fn read(text: &str) -> Result<Task, TaskStoreError> {
    let broken = |error| TaskStoreError::Away(format!("what it has is not a task: {error}"));
    mcp_wire::from_str(text).map_err(broken)
}

impl TaskStore for Redis {
    fn insert(&self, task: Task) -> Stored<'_, Result<(), TaskStoreError>> {
        let mut insert = self.script(INSERT, &task.id);
        insert.arg(task.version.0).arg(to_string(&task));
        insert.arg(task.owner.as_deref().unwrap_or_default());
        insert.arg(&task.share);
        insert.arg(task.created_ms.0).arg(task.expires_ms());
        insert.arg(TASKS).arg(BYTES).arg(SHARE);
        self.change(insert)
    }

    fn get<'a>(&'a self, id: &'a str) -> Stored<'a, Result<Option<Task>, TaskStoreError>> {
        let shared = Arc::clone(&self.0.shared);
        let mut get = redis::cmd("HGET");
        let root = shared.key("tasks", "all");
        get.arg(format!("{root}:one:{id}")).arg("text");
        let got = self.begin(async move { shared.run::<Option<String>>(&get).await });
        Box::pin(async move {
            let text = got.await.map_err(away)?;
            text.as_deref().map(read).transpose()
        })
    }

    fn replace(&self, task: Task) -> Stored<'_, Result<(), TaskStoreError>> {
        let mut replace = self.script(REPLACE, &task.id);
        replace.arg(task.version.0.saturating_sub(1));
        replace.arg(task.version.0).arg(to_string(&task));
        replace.arg(TASKS).arg(BYTES).arg(SHARE);
        self.change(replace)
    }

    fn remove<'a>(&'a self, id: &'a str) -> Stored<'a, Result<(), TaskStoreError>> {
        self.change(self.script(REMOVE, id))
    }

    fn list<'a>(
        &'a self,
        owner: &'a str,
        after: Option<(TaskCount, &'a str)>,
        most: usize,
    ) -> Stored<'a, Result<Vec<Task>, TaskStoreError>> {
        let shared = Arc::clone(&self.0.shared);
        let (created, id) = after.unwrap_or_default();
        let mut list = self.script(LIST, id);
        list.arg(owner).arg(created.0).arg(most);
        let listed = self.begin(async move { shared.run::<Vec<String>>(&list).await });
        Box::pin(async move {
            let texts = listed.await.map_err(away)?;
            texts.iter().map(|text| read(text)).collect()
        })
    }
}
