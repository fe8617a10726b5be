//! A client whose server asks in a result: the questions are read and go to the application as requests do, and the request
//! is sent again once all of them are answered.

use std::time::Duration;

use mcp_revisions_core::{Lifecycle, Revision, methods};
use mcp_wire::{ErrorObject, Json, Map};

use crate::client::Client;
use crate::client::peer::named;
use crate::client::requests::{AppRequest, RetryMembers, ServerCall};
use crate::json::declares;
use crate::limits::deadline;
use crate::numbered::Numbered;
use crate::translate::TextDirection;
use crate::{
    Answer, Connection, Failure, Fate, InputRequired, OutgoingRequest, Question, Retry, Token,
};

/// Calls whose server waits for answers of the application.
#[derive(Debug, Default)]
pub(crate) struct Rounds {
    open: Numbered<u64, ClientRound>,
    last: u64,
}

#[derive(Debug)]
struct ClientRound {
    request: AppRequest,
    retry: Retry,
    /// The answers by key, in the server's words.
    answers: Map<Json>,
    missing: usize,
    until: Duration,
}

impl Rounds {
    /// When a round has waited long enough.
    pub(crate) fn deadline(&self) -> Option<Duration> {
        self.open.values().map(|round| round.until).min()
    }

    pub(crate) fn len(&self) -> usize {
        self.open.len()
    }
}

impl Connection<Client> {
    /// Reads a result that asks for input, in the words of the application.
    pub(crate) fn input_required(
        &self,
        request: &AppRequest,
        result: &Json,
        revision: Revision,
    ) -> Result<InputRequired, String> {
        let (questions, state) = super::read(result, self.role.options.limits.max_input_requests)?;
        if state.as_ref().is_some_and(|state| state.as_str().is_none()) {
            return Err("requestState is not a string".to_owned());
        }
        if state.is_none() && result.get("inputRequests").is_none() {
            return Err(
                "it asks for input, but has neither inputRequests nor requestState".to_owned(),
            );
        }
        let question = |question: super::EmbeddedQuestion<String>| {
            let translator = &self.role.translator;
            let method = translator.app_name(&question.method, revision);
            let carried = translator.params(TextDirection::In, method, &question.params, revision);
            let (params, losses) = match carried {
                Ok((params, losses)) => (Ok(params), losses),
                Err(stopped) => {
                    let error = stopped.into_error(ErrorObject::INVALID_PARAMS);
                    (Err(error), Vec::new())
                }
            };
            Question {
                method: method.to_owned(),
                key: question.name,
                params,
                losses,
            }
        };
        let own_questions: Vec<Question> = questions.into_iter().map(question).collect();
        let methods = own_questions.iter();
        let retry = Retry {
            methods: (methods.map(|it| (it.key.clone(), it.method.clone()))).collect(),
            ask: request.ask.clone(),
            state,
            revision,
            error: None,
        };
        Ok(InputRequired {
            questions: own_questions,
            retry,
        })
    }

    /// Returns the pages that an error of an older server wants the user to visit, as questions; `None` if there are none, or the client
    /// did not say that it opens pages.
    pub(crate) fn pages_wanted(
        &self,
        request: &AppRequest,
        error: &ErrorObject,
        revision: Revision,
    ) -> Option<InputRequired> {
        let translator = &self.role.translator;
        let (app, method) = (self.role.app(), methods::ELICITATION_CREATE);
        let is_older = revision.lifecycle() == Lifecycle::Handshake;
        if !is_older
            || !self.role.options.adapts
            || !translator.may_ask_back(app, &request.ask.method)
        {
            return None;
        }
        let pages = super::pages(error).filter(|pages| !pages.is_empty())?;
        let profile = request
            .ask
            .behalf
            .as_deref()
            .unwrap_or(&self.role.options.profile);
        let capabilities = translator.capabilities_of(profile, revision)?;
        let most = self.role.options.limits.max_input_requests;
        if !declares(&capabilities, &["elicitation", "url"]) || pages.len() > most {
            return None;
        }
        let question = |(index, page): (usize, Json)| {
            let carried = translator.params(TextDirection::In, method, &page, revision);
            let (params, losses) = carried.ok()?;
            Some(Question {
                key: index.to_string(),
                method: method.to_owned(),
                params: Ok(params),
                losses,
            })
        };
        let each = pages.into_iter().enumerate().map(question);
        let retry = Retry {
            ask: request.ask.clone(),
            state: None,
            methods: Vec::new(),
            revision,
            error: Some(Box::new(error.clone())),
        };
        let questions = each.collect::<Option<_>>()?;
        Some(InputRequired { questions, retry })
    }

    /// Adds the answers of the application to the request that is sent again, and returns it.
    pub(crate) fn resumed(
        &self,
        retry: Retry,
        answers: impl IntoIterator<Item = (String, Json)>,
    ) -> (OutgoingRequest, RetryMembers) {
        let Retry {
            ask,
            state,
            methods,
            revision,
            error: _,
        } = retry;
        let mut responses = Map::new();
        for (key, answer) in answers {
            let Some((_, method)) = methods.iter().find(|(asked, _)| *asked == key) else {
                continue;
            };
            if let Ok(answer) = self.answer_in(revision, method, &answer) {
                responses.insert(key, answer);
            }
        }
        let resumed = RetryMembers {
            responses: (!methods.is_empty()).then(|| Json::of(&responses)),
            state,
            revision,
        };
        (ask, resumed)
    }

    /// Returns an answer of the application to a question of this method, in the words of the server; else why it has none.
    pub(crate) fn answer_in(
        &self,
        revision: Revision,
        method: &str,
        answer: &Json,
    ) -> Result<Json, ErrorObject> {
        let translator = &self.role.translator;
        let carried = translator.result_told(TextDirection::Out, method, answer, revision, None);
        let invalid = ErrorObject::INTERNAL_ERROR;
        carried
            .map(|(answer, _)| answer)
            .map_err(|stopped| stopped.into_error(invalid))
    }

    /// The server asks: the application is asked for it.
    pub(crate) fn ask_application(
        &mut self,
        mut request: AppRequest,
        input: InputRequired,
        now: Duration,
    ) {
        let InputRequired { questions, retry } = input;
        request.rounds += 1;
        let limits = &self.role.options.limits;
        if request.rounds > limits.max_input_rounds {
            let why = format!(
                "the server asked back {} times without an answer",
                limits.max_input_rounds
            );
            let failure = Failure::InvalidResult(why);
            return self.tell_answer(request, Answer::Failed(failure));
        }
        let until = deadline(now, limits.client_response_timeout);
        let peer = retry.revision;
        let named = |it: &Question| {
            named(&it.method).map_err(|it| it.into_error(ErrorObject::METHOD_NOT_FOUND))
        };
        let wrong = |it: &Question| it.params.clone().err().or_else(|| named(it).err());
        if let Some(error) = questions.iter().find_map(wrong) {
            let failure = Failure::Rejected(error);
            return self.tell_answer(request, Answer::Failed(failure));
        }
        self.state.rounds.last += 1;
        let (round, missing) = (self.state.rounds.last, questions.len());
        for question in questions {
            let (Ok(method), Ok(params)) = (named(&question), question.params) else {
                continue;
            };
            let (key, losses) = (question.key, question.losses);
            let called = ServerCall::Question { round, key };
            self.ask_in_course(request.token, called, method, params, losses, peer);
        }
        let one = ClientRound {
            request,
            retry,
            answers: Map::new(),
            missing,
            until,
        };
        self.state.rounds.open.insert(round, one);
        self.go_on(round, now);
    }

    /// Takes the application's answer to one question.
    pub(crate) fn answer_question(
        &mut self,
        round: u64,
        key: String,
        answer: Result<Json, ErrorObject>,
        now: Duration,
    ) -> Fate {
        let Some(open) = self.state.rounds.open.get(&round) else {
            return Fate::Unknown;
        };
        if open.answers.contains_key(&key) {
            return Fate::Unknown;
        }
        let mut asked = open.retry.methods.iter();
        let answer = match (&open.retry.error, asked.find(|(asked, _)| *asked == key)) {
            // If the user does not visit a page, the application gets the error of the server.
            (Some(error), _) => answer.ok().filter(super::accepts).ok_or((**error).clone()),
            (None, Some((_, method))) => {
                answer.and_then(|answer| self.answer_in(open.retry.revision, method, &answer))
            }
            (None, None) => return Fate::Unknown,
        };
        match answer {
            Ok(answer) => {
                if let Some(open) = self.state.rounds.open.get_mut(&round) {
                    open.answers.insert(key, answer);
                    open.missing = open.missing.saturating_sub(1);
                }
                self.go_on(round, now);
            }
            // In this lifecycle no answer to a question is an error: the call ends with it.
            Err(error) => {
                if let Some(ClientRound { request, .. }) = self.state.rounds.open.remove(&round) {
                    self.call_off_round(round);
                    self.tell_answer(request, Answer::Error(error));
                }
            }
        }
        Fate::Adapted
    }

    /// Sends the request again, if all is answered.
    fn go_on(&mut self, round: u64, now: Duration) {
        if self
            .state
            .rounds
            .open
            .get(&round)
            .is_none_or(|open| open.missing > 0)
        {
            return;
        }
        let Some(ClientRound {
            request,
            retry,
            answers,
            ..
        }) = self.state.rounds.open.remove(&round)
        else {
            return;
        };
        let resumed = RetryMembers {
            responses: (!retry.methods.is_empty()).then(|| Json::of(&answers)),
            state: retry.state,
            revision: retry.revision,
        };
        self.send_later(AppRequest {
            retry: Some(resumed),
            sent: 0,
            ..request
        });
        self.start(now);
    }

    /// Rounds that the application has not answered in time.
    pub(crate) fn late_rounds(&mut self, now: Duration) {
        for key in (self.state.rounds.open).find_all(|round| round.until <= now) {
            let Some(ClientRound { request, .. }) = self.state.rounds.open.remove(&key) else {
                continue;
            };
            self.call_off_round(key);
            self.tell_answer(request, Answer::Failed(Failure::Unanswered));
        }
    }

    /// Calls off the requests of a round, which need not be answered any more.
    fn call_off_round(&mut self, round: u64) {
        self.call_off_all(
            |called| matches!(called, ServerCall::Question { round: one, .. } if *one == round),
        );
    }

    /// Takes out the call of a token.
    pub(crate) fn end_round(&mut self, token: Token) -> Option<AppRequest> {
        let open = &self.state.rounds.open;
        let key = open.find(|round| round.request.token == token)?;
        let round = self.state.rounds.open.remove(&key)?;
        self.call_off_round(key);
        Some(round.request)
    }

    /// Takes out all calls.
    pub(crate) fn end_rounds(&mut self) -> Vec<AppRequest> {
        let open = std::mem::take(&mut self.state.rounds.open);
        for key in open.keys() {
            self.call_off_round(*key);
        }
        open.into_entries()
            .map(|(_, round)| round.request)
            .collect()
    }
}
