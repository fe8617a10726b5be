//! A client without tasks, for builds without the feature. Each function does what its namesake in `client` does while no call is a
//! task.

use std::time::Duration;

use mcp_revisions_core::{ConversionError, Revision, RevisionSet};
use mcp_wire::{ErrorObject, Json};

use crate::client::Client;
use crate::client::requests::{AppRequest, Look};
use crate::client::stamp::Claim;
use crate::{Answer, Connection, Failure, Fate, Token};

/// The calls whose server has answered with a task: none.
#[derive(Debug, Default)]
pub(crate) struct Polls {}

/// A task in the place of a result: no server is asked for one.
pub(crate) enum GivenTask {}

impl Polls {
    pub(crate) fn deadline(&self) -> Option<Duration> {
        None
    }

    pub(crate) fn len(&self) -> usize {
        0
    }

    pub(crate) fn by_related_task(&self, _params: Option<&Json>) -> Option<Token> {
        None
    }

    pub(crate) fn by_progress_token(&self, _token: &Json) -> Option<Token> {
        None
    }
}

impl Connection<Client> {
    pub(crate) fn claim_of_task(&self, claim: Option<Claim>) -> Option<Claim> {
        claim
    }

    pub(crate) fn task_given(
        &self,
        _request: &AppRequest,
        _result: &Json,
        _revision: Revision,
    ) -> Option<GivenTask> {
        None
    }

    pub(crate) fn resume_task(&mut self, request: AppRequest, _id: String, _revision: Revision) {
        let why =
            "the client takes no tasks: it is built without the feature `ext-tasks`".to_owned();
        self.tell_answer(
            request,
            Answer::Failed(Failure::NotConverted(ConversionError::Unknown(why))),
        );
    }

    pub(crate) fn hands_on_kind(
        &self,
        _kind: &str,
        _request: &AppRequest,
        _revision: Revision,
    ) -> bool {
        false
    }

    pub(crate) fn take_task(
        &mut self,
        _request: AppRequest,
        task: GivenTask,
        _revision: Revision,
        _now: Duration,
    ) {
        match task {}
    }

    pub(crate) fn look_at_tasks(&mut self, _now: Duration) {}

    pub(crate) fn looked_at_task(
        &mut self,
        _token: Token,
        _look: Look,
        _answer: Result<Json, ErrorObject>,
        _now: Duration,
    ) {
    }

    pub(crate) fn told_of_task(&mut self, _method: &str, _task: &Json, _now: Duration) -> bool {
        false
    }

    pub(crate) fn not_looked_at_task(
        &mut self,
        _token: Token,
        _look: Look,
        _failure: &Failure,
        _now: Duration,
    ) {
    }

    pub(crate) fn answer_task(
        &mut self,
        _token: Token,
        _question: (String, &'static str),
        _answer: Result<Json, ErrorObject>,
    ) -> Fate {
        Fate::Unknown
    }

    pub(crate) fn give_up_task(&mut self, _token: Token, _answer: Answer) {}

    pub(crate) fn has_task(&self, _token: Token) -> bool {
        false
    }

    pub(crate) fn end_tasks(&mut self) -> Vec<AppRequest> {
        Vec::new()
    }

    pub(crate) fn asks_for_task(
        &self,
        _request: &AppRequest,
        _error: &ErrorObject,
        _revision: Revision,
    ) -> bool {
        false
    }

    pub(crate) fn prefers_task(&self, _request: &AppRequest, _revision: Revision) -> bool {
        false
    }

    pub(crate) fn learn_task_tools(&mut self, _result: &Json, _revision: Revision) {}

    pub(crate) fn with_task(
        _request: &AppRequest,
        params: Option<Json>,
        _revision: Revision,
    ) -> Option<Json> {
        params
    }
}

pub(crate) fn is_of_extension(_app: Revision, _method: &str) -> bool {
    false
}

pub(crate) fn with_extension(capabilities: &Json) -> Json {
    capabilities.clone()
}

pub(crate) fn without_extension(capabilities: &Json) -> Json {
    capabilities.clone()
}

pub(crate) fn revisions_with_extension() -> RevisionSet {
    RevisionSet::none()
}
