//! A flow: one sign-in, step-up or refresh as a sequence of steps.
//!
//! The sequence is written as straight-line code that awaits only its [`Desk`], where it leaves the next step and finds what
//! came of it. Nothing else ever wakes it, so a [`Flow`] polls it without a runtime.

use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use crate::grant;
use crate::step::{Cause, Desk, Entropy, FlowReport, FlowResponse, FlowStep, StepReply};
use crate::{AuthError, Settings, StoredSignIn};

/// One sign-in, step-up or refresh for one server.
pub struct Flow {
    work: Option<FlowWork>,
    desk: Desk,
    step: Option<FlowStep>,
}

type FlowWork = Pin<Box<dyn Future<Output = Result<StoredSignIn, AuthError>> + Send>>;

impl Flow {
    /// Begins a flow with what is kept of the server.
    #[must_use]
    pub fn new(
        settings: Settings,
        kept: Option<StoredSignIn>,
        cause: Cause,
        entropy: Entropy,
    ) -> Self {
        let desk = Desk::default();
        let work = grant::run(
            desk.clone(),
            settings,
            kept.unwrap_or_default(),
            cause,
            entropy,
        );
        Self {
            work: Some(Box::pin(work)),
            desk,
            step: None,
        }
    }

    /// Returns the next step; the same until its result is handed in. `now` is in seconds since 1970.
    pub fn step(&mut self, now: u64) -> FlowStep {
        self.desk.papers().now = now;
        if let Some(step) = &self.step {
            return step.clone();
        }
        let missing = || FlowStep::Failed(AuthError::Unfinished("it has ended".to_owned()));
        let Some(work) = &mut self.work else {
            return missing();
        };
        let step = match work.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(done) => {
                self.work = None;
                match done {
                    Ok(kept) => FlowStep::Done(Box::new(kept)),
                    Err(error) => FlowStep::Failed(error),
                }
            }
            Poll::Pending => self.desk.papers().step.take().unwrap_or_else(missing),
        };
        self.step = Some(step.clone());
        step
    }

    /// Returns the findings so far that are not kept.
    #[must_use]
    pub fn report(&self) -> FlowReport {
        self.desk.papers().report.clone()
    }

    fn reply(&mut self, reply: StepReply) {
        self.step = None;
        self.desk.papers().reply = Some(reply);
    }

    /// Hands in the response of [`FlowStep::Send`], or why there is none. The reason also ends [`FlowStep::Listen`], [`FlowStep::Open`]
    /// and [`FlowStep::Wait`].
    pub fn answered(&mut self, answer: Result<FlowResponse, String>) {
        self.reply(StepReply::Answer(answer));
    }

    /// Hands in the redirect URL that is listened at.
    pub fn listening(&mut self, redirect: impl Into<String>) {
        self.reply(StepReply::Listening(redirect.into()));
    }

    /// Hands in the query with which the browser came back.
    pub fn returned(&mut self, query: impl Into<String>) {
        self.reply(StepReply::Returned(query.into()));
    }

    /// Goes on after [`FlowStep::Wait`].
    pub fn waited(&mut self) {
        self.reply(StepReply::Waited);
    }

    /// Goes on after [`FlowStep::Keep`].
    pub fn kept(&mut self) {
        self.reply(StepReply::Kept);
    }
}

impl std::fmt::Debug for Flow {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Flow")
            .field("step", &self.step)
            .finish_non_exhaustive()
    }
}
