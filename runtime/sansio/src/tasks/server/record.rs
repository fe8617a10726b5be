//! One task, in the application's revision, and what each form says of it.

use mcp_wire::{Decode, Encode, ErrorObject, Fault, Integer, Json, Map, Reader, Writer};

use crate::tasks::TaskStatus;
use crate::tasks::form::Form;
use crate::time::timestamp;
use mcp_revisions_core::headers::TASK_ID;

/// A request that is being worked on, or its outcome: plain data, for a [`TaskStore`](super::TaskStore) to keep; a
/// store that keeps text writes it as JSON.
#[derive(Clone, PartialEq)]
pub struct Task {
    /// Its id, which cannot be guessed.
    pub id: String,
    /// The owner, which alone may use it: a principal or a session; `None` if everyone may who knows the id.
    pub owner: Option<String>,
    /// The share of the store that it takes: its owner's, or that of the address that its request came from.
    pub share: String,
    /// The replica that runs it, by its address on the backplane; `None` if no other could.
    pub home: Option<String>,
    /// Number of changes; a store replaces a task only by one that was read at the version before.
    pub version: TaskCount,
    /// The status.
    pub status: TaskStatus,
    /// The message about it, for people.
    pub message: Option<String>,
    /// When its request came, in milliseconds since 1970.
    pub created_ms: TaskCount,
    /// When it last changed, in milliseconds since 1970.
    pub updated_ms: TaskCount,
    /// Time that it is kept from its creation, in milliseconds.
    pub ttl_ms: TaskCount,
    /// Time between two looks of its client, in milliseconds.
    pub poll_interval_ms: TaskCount,
    /// The method of its request.
    pub method: String,
    /// The handler's questions to the client that have no answer.
    pub questions: Vec<TaskQuestion>,
    /// Answers that the handler has not taken yet.
    pub answers: Vec<TaskAnswer>,
    /// The result that the handler gave, in the application's revision.
    pub result: Option<Json>,
    /// The error that the handler gave in its place.
    pub error: Option<ErrorObject>,
}

mcp_wire::record! {
    Task closed {
        0 "id": required id;
        1 "owner": optional owner;
        2 "share": required share;
        3 "version": required version;
        4 "status": required status;
        5 "message": optional message;
        6 "createdMs": required created_ms;
        7 "updatedMs": required updated_ms;
        8 "ttlMs": required ttl_ms;
        9 "pollIntervalMs": required poll_interval_ms;
        10 "method": required method;
        11 "questions": required questions;
        12 "answers": required answers;
        13 "result": json result;
        14 "error": optional error;
        15 "home": optional home;
    }
}

/// A whole number: a time in milliseconds, or how often something happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct TaskCount(pub i64);

impl Encode for TaskCount {
    fn encode(&self, writer: &mut Writer) {
        self.0.encode(writer);
    }
}

impl Decode for TaskCount {
    fn blank() -> Self {
        Self(0)
    }

    fn fill(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> {
        let mut number = Integer::blank();
        number.fill(reader)?;
        // No server of tasks writes a number that does not fit.
        self.0 = number.as_i64().unwrap_or(i64::MAX);
        Ok(())
    }
}

/// A request of the handler to the client of its task, in the application's revision.
#[derive(Clone, PartialEq)]
pub struct TaskQuestion {
    /// Its name, unique in its task for ever.
    pub key: String,
    /// The method.
    pub method: String,
    /// The params.
    pub params: Json,
}

mcp_wire::record! {
    TaskQuestion closed {
        0 "key": required key;
        1 "method": required method;
        2 "params": required params;
    }
}

/// The answer of a task's client to a question, in the application's revision.
#[derive(Clone, PartialEq)]
pub struct TaskAnswer {
    /// The name of the question.
    pub key: String,
    /// The result.
    pub result: Option<Json>,
    /// The error, if the client gave one in its place.
    pub error: Option<ErrorObject>,
}

mcp_wire::record! {
    TaskAnswer closed {
        0 "key": required key;
        1 "result": json result;
        2 "error": optional error;
    }
}

impl Task {
    /// Returns the number of bytes of the record.
    #[must_use]
    pub fn bytes(&self) -> usize {
        size_of::<Self>() + mcp_wire::to_string(self).len()
    }

    /// Returns the time at which the task may be removed, in milliseconds since 1970.
    #[must_use]
    pub fn expires_ms(&self) -> i64 {
        self.created_ms.0.saturating_add(self.ttl_ms.0)
    }

    /// Returns whether the task may be gone at this time, in milliseconds since 1970.
    #[must_use]
    pub fn is_expired(&self, now_ms: i64) -> bool {
        now_ms >= self.expires_ms()
    }

    /// Takes a question out, if it has no answer yet: a task without any is at work again.
    pub fn take_question(&mut self, key: &str) -> bool {
        let before = self.questions.len();
        self.questions.retain(|question| question.key != key);
        if self.questions.is_empty() && self.status == TaskStatus::InputRequired {
            self.status = TaskStatus::Working;
        }
        self.questions.len() < before
    }

    /// Takes the answer to a question, if there is one.
    pub fn take_answer(&mut self, key: &str) -> Option<TaskAnswer> {
        let place = self.answers.iter().position(|answer| answer.key == key)?;
        Some(self.answers.remove(place))
    }

    /// Ends it with what its handler gave, if it has not ended yet.
    pub fn end(&mut self, result: &Result<Json, ErrorObject>) -> Option<()> {
        if self.status.is_terminal() {
            return None;
        }
        self.questions.clear();
        self.answers.clear();
        // The last message on its progress says nothing of a task that has ended.
        self.message = None;
        match result {
            Ok(result) => {
                self.status = TaskStatus::Completed;
                self.result = Some(result.clone());
            }
            Err(error) => {
                self.status = TaskStatus::Failed;
                self.message = Some(error.message.clone());
                self.error = Some(error.clone());
            }
        }
        Some(())
    }

    /// Its status in a form: a tool that tells of an error has failed in one, and has completed in the other.
    fn status_in(&self, form: Form) -> TaskStatus {
        let tells_error =
            |result: &Json| result.get("isError").is_some_and(|it| it.text() == "true");
        match self.status {
            TaskStatus::Completed
                if form == Form::Core && self.result.as_ref().is_some_and(tells_error) =>
            {
                TaskStatus::Failed
            }
            status => status,
        }
    }

    /// Returns the members that every message about it has, as a form spells them.
    pub(crate) fn members(&self, form: Form) -> Map<Json> {
        let (ttl, poll_interval) = match form {
            Form::Core => ("ttl", "pollInterval"),
            Form::Extension => ("ttlMs", "pollIntervalMs"),
        };
        let mut map: Map<Json> = Map::new();
        map.insert(TASK_ID, Json::of(&self.id));
        map.insert("status", Json::of(&self.status_in(form)));
        if let Some(message) = &self.message {
            map.insert("statusMessage", Json::of(message));
        }
        map.insert("createdAt", Json::of(&timestamp(self.created_ms.0)));
        map.insert("lastUpdatedAt", Json::of(&timestamp(self.updated_ms.0)));
        map.insert(ttl, Json::of(&self.ttl_ms));
        map.insert(poll_interval, Json::of(&self.poll_interval_ms));
        map
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test says what it found and stops")]

    use super::*;

    #[test]
    fn what_has_ended_keeps_no_question_and_no_answer() {
        let text = r#"{"id":"t","share":"s","version":1,"status":"input_required","createdMs":0,"updatedMs":0,
            "ttlMs":1,"pollIntervalMs":1,"method":"tools/call",
            "questions":[{"key":"k","method":"roots/list","params":{}}],"answers":[{"key":"j","result":{}}]}"#;
        for result in [Ok(Json::of("done")), Err(ErrorObject::new(-32603, "no"))] {
            let mut task: Task = mcp_wire::from_str(text).unwrap();
            task.end(&result).unwrap();
            assert!(task.status.is_terminal());
            assert_eq!((task.questions, task.answers), (Vec::new(), Vec::new()));
        }
    }
}
