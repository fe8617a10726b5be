//! The adapter for round trips: what a modern server asks in a result goes to the application as requests do, and the
//! request is sent again once all of it is answered.

use std::collections::BTreeMap;
use std::time::Duration;

use mcp_registry::Loss;
use mcp_wire::{ErrorObject, Json};

use super::output::{
    Answer, Asked, Event, Failure, InputRequired, Question, Retry, ServerRequest, Token,
};
use super::{Client, Resumed, Waiting};
use crate::Spoken;

/// Calls whose server waits for answers of the application.
#[derive(Debug, Default)]
pub(super) struct Rounds {
    open: BTreeMap<u64, Round>,
    last: u64,
}

#[derive(Debug)]
struct Round {
    request: Waiting,
    retry: Retry,
    losses: Vec<Loss>,
    answers: Vec<(String, Json)>,
    missing: usize,
    until: Duration,
}

impl Rounds {
    /// When a round has waited long enough.
    pub(super) fn deadline(&self) -> Option<Duration> {
        self.open.values().map(|round| round.until).min()
    }

    pub(super) fn len(&self) -> usize {
        self.open.len()
    }

    /// Takes out the call of a token.
    pub(super) fn remove(&mut self, token: Token) -> Option<(Waiting, Vec<Loss>)> {
        let key = self
            .open
            .iter()
            .find(|(_, round)| round.request.token == token);
        let key = *key?.0;
        self.open
            .remove(&key)
            .map(|round| (round.request, round.losses))
    }

    /// Takes out all calls.
    pub(super) fn drain(&mut self) -> Vec<(Waiting, Vec<Loss>)> {
        let open = std::mem::take(&mut self.open).into_values();
        open.map(|round| (round.request, round.losses)).collect()
    }
}

impl<App: Spoken> Client<App> {
    /// The server asks: the application is asked for it.
    pub(super) fn ask_application(
        &mut self,
        mut request: Waiting,
        input: InputRequired,
        losses: Vec<Loss>,
        now: Duration,
    ) {
        let InputRequired { questions, retry } = input;
        request.rounds += 1;
        let limits = &self.options.limits;
        if request.rounds > limits.rounds {
            let why = format!(
                "the server asked back {} times without an answer",
                limits.rounds
            );
            let failure = Failure::InvalidResult(why);
            return self.tell_answer(request, Answer::Failed(failure), losses);
        }
        let until = now + limits.ask_time;
        if let Some(error) = questions.iter().find_map(|it| it.params.as_ref().err()) {
            let failure = Failure::Rejected(error.clone());
            return self.tell_answer(request, Answer::Failed(failure), losses);
        }
        self.rounds.last += 1;
        let (round, missing) = (self.rounds.last, questions.len());
        for Question {
            key,
            method,
            params,
            losses,
        } in questions
        {
            self.tell(Event::Request {
                request: ServerRequest(Asked::Question { round, key }),
                method,
                params: params.ok(),
                losses,
            });
        }
        let answers = Vec::new();
        let one = Round {
            request,
            retry,
            losses,
            answers,
            missing,
            until,
        };
        self.rounds.open.insert(round, one);
        self.go_on(round, now);
    }

    /// The application's answer to one question; false if nobody waits for it.
    pub(super) fn answer_question(
        &mut self,
        round: u64,
        key: String,
        answer: Result<Json, ErrorObject>,
        now: Duration,
    ) -> bool {
        let Some(open) = self.rounds.open.get_mut(&round) else {
            return false;
        };
        if open.answers.iter().any(|(answered, _)| *answered == key) {
            return false;
        }
        match answer {
            Ok(answer) => {
                open.answers.push((key, answer));
                open.missing = open.missing.saturating_sub(1);
                self.go_on(round, now);
            }
            // In this era no answer to a question is an error: the call ends with it.
            Err(error) => {
                if let Some(Round {
                    request, losses, ..
                }) = self.rounds.open.remove(&round)
                {
                    self.tell_answer(request, Answer::Error(error), losses);
                }
            }
        }
        true
    }

    /// Sends the request again, if all is answered.
    fn go_on(&mut self, round: u64, now: Duration) {
        if self
            .rounds
            .open
            .get(&round)
            .is_none_or(|open| open.missing > 0)
        {
            return;
        }
        let Some(Round {
            request,
            retry,
            answers,
            ..
        }) = self.rounds.open.remove(&round)
        else {
            return;
        };
        let Retry {
            state,
            methods,
            revision,
            ..
        } = retry;
        let responses = self.responses(&methods, answers, revision);
        self.waiting.push_back(Waiting {
            retry: Some(Resumed {
                responses,
                state,
                revision,
            }),
            sent: 0,
            ..request
        });
        self.start(now);
    }

    /// Rounds that the application has not answered in time.
    pub(super) fn late_rounds(&mut self, now: Duration) {
        let late: Vec<u64> = (self.rounds.open.iter())
            .filter(|(_, round)| round.until <= now)
            .map(|(key, _)| *key)
            .collect();
        for key in late {
            let Some(Round {
                request, losses, ..
            }) = self.rounds.open.remove(&key)
            else {
                continue;
            };
            self.tell_answer(request, Answer::Failed(Failure::Unanswered), losses);
        }
    }
}
