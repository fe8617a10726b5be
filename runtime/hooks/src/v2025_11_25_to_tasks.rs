//! Between the tasks in the core of 2025-11-25 and their extension: handles, and tools that report an error.

use mcp_2025_11_25 as old;
use mcp_convert::{Ruled, UnknownFields};
use mcp_ext_tasks as new;
use mcp_wire::meta::SERVER_INFO;
use mcp_wire::pointer::escaped;
use mcp_wire::{Extra, Integer, Json, JsonObject};

/// What the extension has beside the members that a handle has in 2025-11-25.
const OF_HANDLES: [&str; 8] = [
    "createdAt",
    "lastUpdatedAt",
    "pollIntervalMs",
    "resultType",
    "status",
    "statusMessage",
    "taskId",
    "ttlMs",
];

/// Takes the task out of the handle.
pub fn handle_up(handle: old::CreateTaskResult, cx: &mut Ruled<'_>) -> new::CreateTaskResult {
    let old::CreateTaskResult {
        meta,
        task,
        mut extra,
    } = handle;
    let old::Task {
        created_at,
        last_updated_at,
        poll_interval,
        status,
        status_message,
        task_id,
        ttl,
        extra: of_task,
    } = task;
    for name in OF_HANDLES {
        cx.foreign(name, &mut extra);
    }
    for (name, value) in of_task {
        cx.lose(format!("/task/{}", escaped(&name)), value);
    }
    let poll_interval = fitted(poll_interval, "/task/pollInterval", cx);
    let ttl = fitted(ttl, "/task/ttl", cx);
    let result_meta = meta.map(|mut extra: Extra| {
        if let Some(value) = extra.remove(SERVER_INFO) {
            cx.lose(format!("/_meta/{}", escaped(SERVER_INFO)), value);
        }
        let mut meta = new::ResultMetaObject::new();
        meta.extra = extra;
        meta
    });
    new::CreateTaskResult {
        created_at,
        last_updated_at,
        meta: result_meta,
        poll_interval_ms: poll_interval,
        status: match status {
            old::TaskStatus::Cancelled => new::TaskStatus::Cancelled,
            old::TaskStatus::Completed => new::TaskStatus::Completed,
            old::TaskStatus::Failed => new::TaskStatus::Failed,
            old::TaskStatus::InputRequired => new::TaskStatus::InputRequired,
            old::TaskStatus::Working => new::TaskStatus::Working,
        },
        status_message,
        task_id,
        ttl_ms: ttl,
        extra,
    }
}

/// Puts the members of the task into one of its own.
pub fn handle_down(handle: new::CreateTaskResult, cx: &mut Ruled<'_>) -> old::CreateTaskResult {
    let new::CreateTaskResult {
        created_at,
        last_updated_at,
        meta,
        poll_interval_ms,
        status,
        status_message,
        task_id,
        ttl_ms,
        mut extra,
    } = handle;
    cx.foreign("task", &mut extra);
    let task_meta = meta.map(|meta| {
        if let Some(server) = meta.server_info {
            cx.leave_to_session(format!("/_meta/{}", escaped(SERVER_INFO)), server);
        }
        meta.extra
    });
    let task = old::Task {
        created_at,
        last_updated_at,
        poll_interval: poll_interval_ms,
        status: match status {
            new::TaskStatus::Cancelled => old::TaskStatus::Cancelled,
            new::TaskStatus::Completed => old::TaskStatus::Completed,
            new::TaskStatus::Failed => old::TaskStatus::Failed,
            new::TaskStatus::InputRequired => old::TaskStatus::InputRequired,
            new::TaskStatus::Working => old::TaskStatus::Working,
        },
        status_message,
        task_id,
        ttl: ttl_ms,
        extra: Extra::new(),
    };
    old::CreateTaskResult {
        meta: task_meta,
        task,
        extra,
    }
}

/// Cuts off what the extension cannot count, in an answer to `tasks/get`.
pub fn fit_answer(task: &mut old::GetTaskResult, cx: &mut Ruled<'_>) {
    task.poll_interval = fitted(task.poll_interval.take(), "/pollInterval", cx);
    task.ttl = fitted(task.ttl.take(), "/ttl", cx);
}

/// Cuts off what the extension cannot count, in a notification.
pub fn fit_notification(task: &mut old::TaskStatusNotificationParams, cx: &mut Ruled<'_>) {
    task.poll_interval = fitted(task.poll_interval.take(), "/pollInterval", cx);
    task.ttl = fitted(task.ttl.take(), "/ttl", cx);
}

/// The most milliseconds that the extension counts, before and after zero.
const MOST: i64 = 9_007_199_254_740_991;

/// Returns the number that is nearest among those that the extension has.
fn fitted(ms: Option<Integer>, pointer: &'static str, cx: &mut Ruled<'_>) -> Option<Integer> {
    let millis = ms?;
    let nearest = [-MOST, MOST].map(Integer::from);
    let [least, most] = &nearest;
    let bound = if millis < *least {
        least
    } else if millis > *most {
        most
    } else {
        return Some(millis);
    };
    let cut = bound.clone();
    cx.replace(pointer, millis);
    Some(cut)
}

/// Returns the status of a task that is done, in the answer to `tasks/get`.
pub fn status_of_answer(task: &new::GetTaskResultCompleted, cx: &mut Ruled<'_>) -> old::TaskStatus {
    status(&task.result, cx)
}

/// Returns the status of a task that is done, in a notification.
pub fn status_of_notification(
    task: &new::TaskStatusNotificationParamsCompleted,
    cx: &mut Ruled<'_>,
) -> old::TaskStatus {
    status(&task.result, cx)
}

/// Returns the status of a task by its result: one that reports an error is of a failed task in 2025-11-25. Where the result travels
/// along, it says that itself.
fn status(result: &JsonObject, cx: &mut Ruled<'_>) -> old::TaskStatus {
    let is_error = result
        .get("isError")
        .is_some_and(|it: Json| it.text() == "true");
    if !is_error || cx.policy() == UnknownFields::Preserve {
        return old::TaskStatus::Completed;
    }
    cx.replace("/status", new::TaskStatus::Completed);
    old::TaskStatus::Failed
}
