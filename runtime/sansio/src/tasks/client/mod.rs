//! A client's end of tasks: a call that a server answers with a task is looked at until it has a result, as often as the
//! server says, and the application gets the result.

mod options;

use std::collections::BTreeMap;
use std::time::Duration;

use mcp_revisions_core::{ConversionError, Revision, headers::TASK_ID, methods};
use mcp_wire::{ErrorObject, Integer, Json};

use super::TaskStatus;
use super::form::{
    Form, NOTIFICATIONS_TASKS, RELATED_TASK, RESULT_TYPE, TASKS_UPDATE, declares_extension,
};
pub(crate) use super::form::{revisions_with_extension, with_extension, without_extension};
use crate::client::Client;
use crate::client::peer::named;
use crate::client::requests::{
    AppRequest, Look, PendingRequest, RequestPurpose, ServerCall, TaskStage,
};
use crate::client::stamp::{Claim, may_name, stamped};
use crate::errors;
use crate::json::{declares, object, with_members};
use crate::numbered::Numbered;
use crate::translate::no_params;
use crate::{
    Answer, Connection, Event, Failure, Fate, InputRequired, Profile, Question, TaskState, Token,
};

/// Time between two looks at a task whose server names no interval.
const INTERVAL: Duration = Duration::from_secs(1);
/// Within which an interval of a server is taken.
const INTERVALS: (Duration, Duration) = (Duration::from_millis(20), Duration::from_secs(60));
/// Maximum number of looks in a row without an answer, and of updates.
const MOST_UNANSWERED: u32 = 5;
/// Of how many tools it is remembered that they take a task, and how long their names may be.
const TAKERS: (usize, usize) = (1_000, 256);
/// The place where a server declares that its tools take tasks which clients ask for.
const TOOL_TASKS: [&str; 4] = ["tasks", "requests", "tools", "call"];

/// Calls whose server has answered with a task, by their token.
#[derive(Debug, Default)]
pub(crate) struct Polls {
    open: Numbered<Token, Poll>,
    /// Tools that take a task, of the lists that came, and whether they run no other way.
    takers: BTreeMap<String, bool>,
}

#[derive(Debug)]
struct Poll {
    request: AppRequest,
    id: String,
    form: Form,
    revision: Revision,
    interval: Duration,
    /// When it is looked at next; `None` while an answer of the server is on its way.
    at: Option<Duration>,
    unanswered: u32,
    /// The keys of the questions that the application was asked, with answers whose update got lost: each is sent again if
    /// the server still asks.
    asked: BTreeMap<String, Option<Json>>,
    /// Number of updates in a row that got lost.
    lost_updates: u32,
}

impl Polls {
    /// Returns the time of the next request about a task.
    pub(crate) fn deadline(&self) -> Option<Duration> {
        self.open.values().filter_map(|poll| poll.at).min()
    }

    pub(crate) fn len(&self) -> usize {
        self.open.len()
    }

    /// Returns the call whose task the params of a message name.
    pub(crate) fn by_related_task(&self, params: Option<&Json>) -> Option<Token> {
        let params =
            params.filter(|params| !self.open.is_empty() && may_name(params, RELATED_TASK))?;
        let related = params.get("_meta")?.get(RELATED_TASK)?;
        let id = related.read_member::<String>(TASK_ID)?;
        self.open.find(|poll| poll.id == id)
    }

    /// Returns the call whose task goes on with a progress token.
    pub(crate) fn by_progress_token(&self, token: &Json) -> Option<Token> {
        let goes_on = |poll: &Poll| poll.request.progress_token.as_ref() == Some(token);
        self.open.find(goes_on)
    }
}

impl Connection<Client> {
    /// Returns the form of the task that a result is, if this end looks after it.
    pub(crate) fn task_given(
        &self,
        request: &AppRequest,
        result: &Json,
        revision: Revision,
    ) -> Option<(Form, Json)> {
        let takes = self.role.options.takes_tasks && request.task != TaskStage::Given;
        if !takes || request.ask.method != methods::TOOLS_CALL {
            return None;
        }
        let form = Form::of(revision)?;
        match form {
            _ if self.hands_on_task(request, revision) => None,
            Form::Core => {
                let task = result
                    .get("task")
                    .filter(|_| request.task == TaskStage::Asked)?;
                Some((form, task))
            }
            Form::Extension => {
                let kind = result.get("resultType")?;
                (kind.read::<String>().ok()? == RESULT_TYPE).then(|| (form, result.clone()))
            }
        }
    }

    /// Looks after a task that an earlier connection was given.
    pub(crate) fn resume_task(&mut self, request: AppRequest, id: String, revision: Revision) {
        let form = Form::of(revision).filter(|_| self.role.options.takes_tasks);
        let Some(form) = form else {
            let why = "the server's revision has no tasks, or the client takes none".to_owned();
            let answer = Answer::Failed(Failure::NotConverted(ConversionError::Unknown(why)));
            return self.tell_answer(request, answer);
        };
        let task = object([(TASK_ID, Json::of(&id))]);
        self.take_task(request, (form, task), revision, Duration::ZERO);
    }

    /// Tells the application how far its task has come.
    fn tell_task(&mut self, token: Token, task: &Json) {
        let text = |name| task.read_member::<String>(name);
        let status = task.read_member::<TaskStatus>("status");
        if let (Some(id), Some(status)) = (text(TASK_ID), status) {
            let message = text("statusMessage");
            let task = TaskState {
                id,
                status,
                message,
            };
            self.tell(Event::Task { token, task });
        }
    }

    /// Returns whether the application looks after the task of a call itself.
    fn hands_on_task(&self, request: &AppRequest, revision: Revision) -> bool {
        let declares = || {
            let behalf = request.ask.behalf.as_deref();
            declares_extension(behalf.unwrap_or(&self.role.options.profile).capabilities())
        };
        let has_tasks = match Form::of(revision) {
            Some(Form::Core) => true,
            Some(Form::Extension) => self.has_extension_in_core(revision) || declares(),
            None => false,
        };
        request.ask.takes_task && has_tasks && revision.same_types(self.role.app())
    }

    /// Returns whether a result of this kind is a task that the application looks after itself.
    pub(crate) fn hands_on_kind(
        &self,
        kind: &str,
        request: &AppRequest,
        revision: Revision,
    ) -> bool {
        kind == RESULT_TYPE && self.hands_on_task(request, revision)
    }

    /// Looks after a task from now on.
    pub(crate) fn take_task(
        &mut self,
        request: AppRequest,
        (form, task): (Form, Json),
        revision: Revision,
        now: Duration,
    ) {
        let Some(id) = task.read_member::<String>(TASK_ID) else {
            let failure = Failure::InvalidResult("a task without `taskId`".to_owned());
            return self.tell_answer(request, Answer::Failed(failure));
        };
        let interval = interval_of(&task, form).unwrap_or(INTERVAL);
        let poll = Poll {
            request: AppRequest {
                task: TaskStage::Given,
                ..request
            },
            id,
            form,
            revision,
            interval,
            at: Some(now + interval),
            unanswered: 0,
            asked: BTreeMap::new(),
            lost_updates: 0,
        };
        let token = poll.request.token;
        self.state.polls.open.insert(token, poll);
        self.tell_task(token, &task);
    }

    /// Looks at the tasks whose time has come.
    pub(crate) fn look_at_tasks(&mut self, now: Duration) {
        let due = |poll: &&mut Poll| poll.at.is_some_and(|at| at <= now);
        let due = self.state.polls.open.values_mut().filter(due);
        let mut due: Vec<Token> = due
            .map(|poll| {
                poll.at = None;
                poll.request.token
            })
            .collect();
        due.sort_unstable();
        for token in due {
            self.post_of_task(token, methods::TASKS_GET, Some(Look::Status), &[]);
        }
    }

    /// Sends a request about a task.
    fn post_of_task(
        &mut self,
        token: Token,
        method: &str,
        look: Option<Look>,
        members: &[(&str, Option<Json>)],
    ) {
        let Some(poll) = self.state.polls.open.get(&token) else {
            return;
        };
        let (id, revision) = (Json::of(&poll.id), poll.revision);
        let behalf = poll.request.ask.behalf.clone();
        let params = Some(with_members(&object([(TASK_ID, id)]), members));
        let params = self.stamped_of_task(params, revision, behalf.as_deref());
        let purpose = match look {
            Some(look) => RequestPurpose::Task { token, look },
            None => RequestPurpose::Adapter,
        };
        self.post_request(method, params, revision, purpose);
    }

    /// Returns whether the core of a revision has the messages of the extension, so that its peers declare none.
    fn has_extension_in_core(&self, revision: Revision) -> bool {
        self.role.options.core_revisions.contains(revision)
    }

    /// Returns the claim of a client that takes a task.
    pub(crate) fn claim_of_task(&self, claim: Option<Claim>) -> Option<Claim> {
        let declares = |claim: &Claim| !self.has_extension_in_core(claim.revision);
        match claim {
            Some(claim) if declares(&claim) => Some(Claim {
                capabilities: with_extension(&claim.capabilities),
                ..claim
            }),
            claim => claim,
        }
    }

    /// Returns params with what every request about a task says.
    fn stamped_of_task(
        &self,
        params: Option<Json>,
        revision: Revision,
        behalf: Option<&Profile>,
    ) -> Option<Json> {
        let claim = self.claim_of_task(self.claim(revision, None, behalf));
        stamped(params, claim, None)
    }

    /// Takes the server's answer about a task.
    pub(crate) fn looked_at_task(
        &mut self,
        token: Token,
        look: Look,
        answer: Result<Json, ErrorObject>,
        now: Duration,
    ) {
        let Some(poll) = self.state.polls.open.get_mut(&token) else {
            return;
        };
        poll.unanswered = 0;
        let (form, revision) = (poll.form, poll.revision);
        let state = match (look, answer) {
            (Look::Status, Ok(state)) => state,
            (Look::Update { .. }, Ok(_)) => {
                poll.lost_updates = 0;
                return;
            }
            // The server does not take the answer: the task would wait for it for ever.
            (Look::Update { .. }, Err(error)) => {
                self.post_of_task(token, methods::TASKS_CANCEL, None, &[]);
                return self.end_with(token, Err(error), now);
            }
            (Look::Result, answer) => return self.end_with(token, answer, now),
            (Look::Status, Err(error)) => return self.end_with(token, Err(error), now),
        };
        poll.interval = interval_of(&state, form).unwrap_or(poll.interval);
        self.tell_task(token, &state);
        let Some(poll) = self.state.polls.open.get_mut(&token) else {
            return;
        };
        let status = state.read_member::<TaskStatus>("status");
        match (status, form) {
            (Some(TaskStatus::Working), _) => poll.at = Some(now + poll.interval),
            // In every other status, the request for the result brings the rest: questions come while it waits.
            (Some(_), Form::Core) => {
                self.post_of_task(token, methods::TASKS_RESULT, Some(Look::Result), &[]);
            }
            (Some(TaskStatus::InputRequired), Form::Extension) => {
                poll.at = Some(now + poll.interval);
                self.ask_for_task(token, &state, revision);
            }
            (Some(TaskStatus::Completed), Form::Extension) => match state.get("result") {
                Some(result) => self.end_with(token, Ok(result), now),
                None => self.end_invalid(token, "a completed task without `result`"),
            },
            (Some(TaskStatus::Failed), Form::Extension) => {
                match state.read_member::<ErrorObject>("error") {
                    Some(error) => self.end_with(token, Err(error), now),
                    None => self.end_invalid(token, "a failed task without `error`"),
                }
            }
            (Some(TaskStatus::Cancelled), Form::Extension) => {
                let error = errors::internal("the server cancelled the task").error;
                self.end_with(token, Err(error), now);
            }
            (None, _) => self.end_invalid(token, "a task of no known `status`"),
        }
    }

    /// Takes what a notification tells of a task as what a look at it finds. Returns whether it is the task of a call.
    pub(crate) fn told_of_task(&mut self, method: &str, task: &Json, now: Duration) -> bool {
        if method != NOTIFICATIONS_TASKS {
            return false;
        }
        let id = task.read_member::<String>(TASK_ID);
        let is_it = |poll: &Poll| poll.form == Form::Extension && id.as_ref() == Some(&poll.id);
        let told = self.state.polls.open.find_all(is_it);
        for token in &told {
            let looks = (self.state.polls.open.get(token)).is_some_and(|poll| poll.at.is_none());
            self.looked_at_task(*token, Look::Status, Ok(task.clone()), now);
            // The answer to a look that is on its way says when the next one is.
            if looks && let Some(poll) = self.state.polls.open.get_mut(token) {
                poll.at = None;
            }
        }
        !told.is_empty()
    }

    /// A look at a task has no answer: the next one may have. An update that got lost is sent again.
    pub(crate) fn not_looked_at_task(
        &mut self,
        token: Token,
        look: Look,
        failure: &Failure,
        now: Duration,
    ) {
        let Some(poll) = self.state.polls.open.get_mut(&token) else {
            return;
        };
        let unanswered = match look {
            Look::Update { key, answer } => {
                poll.asked.insert(key, Some(answer));
                &mut poll.lost_updates
            }
            Look::Status | Look::Result => {
                poll.at = Some(now + poll.interval);
                &mut poll.unanswered
            }
        };
        *unanswered += 1;
        if *unanswered < MOST_UNANSWERED {
            return;
        }
        if let Some(request) = self.end_task(token) {
            self.tell_answer(request, Answer::Failed(failure.clone()));
        }
    }

    /// Asks the application what a task wants to know, each question once.
    fn ask_for_task(&mut self, token: Token, state: &Json, revision: Revision) {
        let Some(request) = (self.state.polls.open.get(&token)).map(|poll| poll.request.clone())
        else {
            return;
        };
        let most = self.role.options.limits.max_input_requests;
        let questions = match self.input_required(&request, state, revision) {
            Ok(InputRequired { questions, .. }) => questions,
            Err(what) => return self.end_invalid(token, &what),
        };
        for question in questions {
            let Question {
                key,
                method,
                params,
                losses,
            } = question;
            let Some(poll) = self.state.polls.open.get_mut(&token) else {
                return;
            };
            if let Some(lost) = poll.asked.get_mut(&key) {
                if let Some(answer) = lost.take() {
                    self.update_task(token, key, answer);
                }
                continue;
            }
            // Keys are never used twice, so that a server cannot have an endless number of them kept.
            if poll.asked.len() >= most {
                return self.end_invalid(token, "too many questions of one task");
            }
            poll.asked.insert(key.clone(), None);
            let named = named(&method);
            let (method, params) = match (named, params) {
                (Ok(method), Ok(params)) => (method, params),
                (Err(stopped), _) => {
                    let error = stopped.into_error(ErrorObject::METHOD_NOT_FOUND);
                    return self.give_up_task(token, Answer::Failed(Failure::Rejected(error)));
                }
                (_, Err(error)) => {
                    return self.give_up_task(token, Answer::Failed(Failure::Rejected(error)));
                }
            };
            let called = ServerCall::TaskQuestion {
                task: token,
                key,
                method,
            };
            self.ask_in_course(token, called, method, params, losses, revision);
        }
    }

    /// Takes the application's answer to a question of a task.
    pub(crate) fn answer_task(
        &mut self,
        token: Token,
        (key, method): (String, &'static str),
        answer: Result<Json, ErrorObject>,
    ) -> Fate {
        let Some(poll) = self.state.polls.open.get(&token) else {
            return Fate::Unknown;
        };
        match answer.and_then(|answer| self.answer_in(poll.revision, method, &answer)) {
            Ok(answer) => self.update_task(token, key, answer),
            // An update has no errors: the task is given up.
            Err(error) => self.give_up_task(token, Answer::Error(error)),
        }
        Fate::Adapted
    }

    /// Sends the server the answer to a question of a task, in its words.
    fn update_task(&mut self, token: Token, key: String, answer: Json) {
        let responses = object([(key.as_str(), answer.clone())]);
        let members = [("inputResponses", Some(responses))];
        let look = Look::Update { key, answer };
        self.post_of_task(token, TASKS_UPDATE, Some(look), &members);
    }

    /// The task of a call has ended with this.
    fn end_with(&mut self, token: Token, answer: Result<Json, ErrorObject>, now: Duration) {
        let revision = self.state.polls.open.get(&token).map(|poll| poll.revision);
        let (Some(revision), Some(request)) = (revision, self.end_task(token)) else {
            return;
        };
        match answer {
            Ok(result) => self.take_result(request, None, &result, revision, now),
            Err(error) => self.tell_error(request, None, error, revision),
        }
    }

    fn end_invalid(&mut self, token: Token, what: &str) {
        if let Some(request) = self.end_task(token) {
            let failure = Failure::InvalidResult(what.to_owned());
            self.tell_answer(request, Answer::Failed(failure));
        }
    }

    /// Ends a call, and cancels its task at the server.
    pub(crate) fn give_up_task(&mut self, token: Token, answer: Answer) {
        self.post_of_task(token, methods::TASKS_CANCEL, None, &[]);
        if let Some(request) = self.end_task(token) {
            self.tell_answer(request, answer);
        }
    }

    /// Returns whether the task of a call is being looked at.
    pub(crate) fn has_task(&self, token: Token) -> bool {
        self.state.polls.open.contains_key(&token)
    }

    /// Takes out a call; what is on its way for it is for nothing.
    fn end_task(&mut self, token: Token) -> Option<AppRequest> {
        let poll = self.state.polls.open.remove(&token)?;
        let is_look = |pending: &PendingRequest| matches!(pending.purpose, RequestPurpose::Task { token: one, .. } if one == token);
        for id in self.state.pending.find_all(is_look) {
            self.withdraw(id, None);
        }
        self.call_off_all(
            |called| matches!(called, ServerCall::TaskQuestion { task, .. } if *task == token),
        );
        Some(poll.request)
    }

    /// Takes out all calls: the server is left.
    pub(crate) fn end_tasks(&mut self) -> Vec<AppRequest> {
        let open = std::mem::take(&mut self.state.polls.open);
        open.into_values().map(|poll| poll.request).collect()
    }

    /// Returns whether a call that the server refused is made again as a task: it has tools that run no other way.
    pub(crate) fn asks_for_task(
        &self,
        request: &AppRequest,
        error: &ErrorObject,
        revision: Revision,
    ) -> bool {
        match error.code.as_i64() {
            Some(ErrorObject::METHOD_NOT_FOUND) => self.may_ask_for_task(request, revision),
            Some(errors::MISSING_CLIENT_CAPABILITY) => {
                let required = error
                    .data
                    .as_ref()
                    .and_then(|data| data.get("requiredCapabilities"));
                self.role.options.takes_tasks
                    && request.task == TaskStage::None
                    && Form::of(revision) == Some(Form::Extension)
                    && required.is_none_or(|required| declares_extension(&required))
            }
            _ => false,
        }
    }

    fn may_ask_for_task(&self, request: &AppRequest, revision: Revision) -> bool {
        let capabilities = self.state.changes.capabilities.as_ref();
        self.role.options.takes_tasks
            && !self.hands_on_task(request, revision)
            && request.ask.method == methods::TOOLS_CALL
            && request.task == TaskStage::None
            && Form::of(revision) == Some(Form::Core)
            && capabilities.is_some_and(|it| declares(it, &TOOL_TASKS))
    }

    /// Returns whether a call asks for a task from the start: the tool runs no other way, or takes one and the application
    /// would rather have one.
    pub(crate) fn prefers_task(&self, request: &AppRequest, revision: Revision) -> bool {
        let takers = &self.state.polls.takers;
        let is_required = || {
            let name: String = request.ask.params.as_ref()?.read_member("name")?;
            takers.get(&name).copied()
        };
        !takers.is_empty()
            && self.may_ask_for_task(request, revision)
            && is_required().is_some_and(|is_required| is_required || request.ask.prefers_task)
    }

    /// Learns from a list of tools which of them take a task.
    pub(crate) fn learn_task_tools(&mut self, result: &Json, revision: Revision) {
        let takers = &mut self.state.polls.takers;
        let tells = !takers.is_empty() || result.text().contains("\"taskSupport\"");
        if !self.role.options.takes_tasks || Form::of(revision) != Some(Form::Core) || !tells {
            return;
        }
        let tools = result
            .get("tools")
            .and_then(|tools| tools.read::<Vec<Json>>().ok());
        for tool in tools.into_iter().flatten() {
            let Some(Ok(name)) = tool.get("name").map(|name| name.read::<String>()) else {
                continue;
            };
            let support = tool
                .get("execution")
                .and_then(|it| it.get("taskSupport"))
                .and_then(|it| it.read::<String>().ok());
            let is_required = match support.as_deref() {
                Some("optional") => Some(false),
                Some("required") => Some(true),
                _ => None,
            };
            let (most, longest) = TAKERS;
            let has_room = takers.len() < most && name.len() <= longest;
            match is_required.filter(|_| has_room) {
                Some(is_required) => takers.insert(name, is_required),
                None => takers.remove(&name),
            };
        }
    }

    /// Returns the params of a call that asks for a task.
    pub(crate) fn with_task(
        request: &AppRequest,
        params: Option<Json>,
        revision: Revision,
    ) -> Option<Json> {
        if request.task != TaskStage::Asked || Form::of(revision) != Some(Form::Core) {
            return params;
        }
        Some(with_members(
            &params.unwrap_or_else(no_params),
            &[("task", Some(no_params()))],
        ))
    }
}

/// Returns whether a method is one of the extension, for an application that has tasks in that form.
pub(crate) fn is_of_extension(app: Revision, method: &str) -> bool {
    Form::of(app) == Some(Form::Extension) && Form::Extension.has(method)
}

/// Returns the interval at which a server wants a task looked at, within reason.
fn interval_of(task: &Json, form: Form) -> Option<Duration> {
    let name = match form {
        Form::Core => "pollInterval",
        Form::Extension => "pollIntervalMs",
    };
    let ms: Integer = task.read_member(name)?;
    // No server writes a number that does not fit.
    let interval = Duration::from_millis(u64::try_from(ms.as_i64().unwrap_or(i64::MAX)).ok()?);
    let (least, most) = INTERVALS;
    Some(interval.clamp(least, most))
}
