//! Where a conversion keeps its losses, and what it may do.

mod parts;

use std::sync::Arc;

use mcp_wire::mend::{Mend, MendKind, mend};
use mcp_wire::{Decode, Encode, ErrorObject, Extra, Json, JsonObject};

use crate::adapter::Adapter;
use crate::loss::{Change, Loss, Spell};
use crate::outcome::{Dropped, Outcome, Rejected, RequiresState, Stop};
use crate::path::{LossSegment, Path};
use crate::rule::Rule;

/// What happens to fields that the older revision does not name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum UnknownFields {
    /// They are dropped: an older peer gets what its revision names, and what was unknown before.
    #[default]
    Drop,
    /// They travel as unknown members, where the older schema is open, and are taken back on the way up.
    Preserve,
}

/// The results of a handshake, for messages of a revision without one, whose requests carry them.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Session {
    /// What the client can do, as JSON of the newer revision.
    pub client_capabilities: Option<Json>,
    /// Which client it is, as JSON of the newer revision.
    pub client_info: Option<Json>,
    /// The id of the request that opened the stream on which the newer peer gets notifications of changes.
    pub subscription_id: Option<Json>,
}

/// The session of a conversion that knows none.
static UNKNOWN: Session = Session {
    client_capabilities: None,
    client_info: None,
    subscription_id: None,
};

/// A conversion in progress: one step between adjacent revisions.
#[derive(Debug, Clone, Default)]
#[must_use]
pub struct Context {
    policy: UnknownFields,
    session: Option<Arc<Session>>,
    supplied: Option<(Adapter, Json)>,
    /// Whether what is left to the session is not a loss.
    knows_session: bool,
    step: &'static str,
    path: Path,
    losses: Vec<Loss>,
}

impl Context {
    /// Creates a conversion that has lost nothing yet.
    pub fn new(policy: UnknownFields) -> Self {
        Self {
            policy,
            ..Self::default()
        }
    }

    /// Sets what is known from the handshake.
    pub fn with_session(mut self, session: impl Into<Arc<Session>>) -> Self {
        self.session = Some(session.into());
        self
    }

    /// Says that the receiver knows the session: what is left to that is recorded nowhere.
    pub fn with_known_session(mut self) -> Self {
        self.knows_session = true;
        self
    }

    /// Sets the value that an adapter gives where a rule requires its state.
    pub fn with_supplied(mut self, adapter: Adapter, value: Json) -> Self {
        self.supplied = Some((adapter, value));
        self
    }

    /// Sets the member of a message that the value is: pointers of losses are those in the message.
    pub fn within(mut self, member: &'static str) -> Self {
        self.path.begin_at(member);
        self
    }

    /// Names the step that the next losses belong to.
    pub fn enter(&mut self, step: &'static str) {
        self.step = step;
        self.path.reset();
    }

    /// Runs a conversion of what no subscription delivers: the id of the session's is not for it.
    #[inline]
    pub(crate) fn undelivered<T>(&mut self, run: impl FnOnce(&mut Self) -> T) -> T {
        match &self.session {
            Some(session) if session.subscription_id.is_some() => {
                let silent = Session {
                    subscription_id: None,
                    ..Session::clone(session)
                };
                let delivering = self.session.replace(Arc::new(silent));
                let result = run(self);
                self.session = delivering;
                result
            }
            _ => run(self),
        }
    }

    /// Returns the policy.
    pub fn policy(&self) -> UnknownFields {
        self.policy
    }

    /// Returns the facts of the handshake.
    pub fn session(&self) -> &Session {
        self.session.as_deref().unwrap_or(&UNKNOWN)
    }

    /// Returns the losses so far.
    pub fn losses(&self) -> &[Loss] {
        &self.losses
    }

    /// Returns the outcome of the conversion that gave this.
    pub fn finish<T>(self, result: Result<T, Stop>) -> Outcome<T> {
        match result {
            Ok(value) if self.losses.is_empty() => Outcome::Exact(value),
            Ok(value) if self.losses.iter().any(|loss| loss.change.is_loss()) => {
                Outcome::Lossy(value, self.losses)
            }
            Ok(value) => Outcome::Reversible(value, self.losses),
            Err(Stop::RequiresState(needs)) => Outcome::RequiresState(needs),
            Err(Stop::Rejected(rejected)) => Outcome::Rejected(*rejected),
            Err(Stop::Dropped(dropped)) => Outcome::Dropped(dropped),
        }
    }

    pub(crate) fn record(
        &mut self,
        rule: &'static Rule,
        lesser: bool,
        below: LossSegment,
        change: Change,
        value: Option<Arc<dyn Spell>>,
    ) {
        self.losses.push(Loss {
            step: self.step,
            change,
            rule,
            lesser,
            at: self.path.shared(),
            below,
            value,
            part: None,
        });
    }

    /// Records what was mended in the text that is converted.
    #[cold]
    pub(crate) fn mended(&mut self, mends: Vec<Mend>) {
        for mend in mends {
            let change = match mend.kind {
                MendKind::Removed => Change::Removed,
                MendKind::Replaced => Change::Replaced,
                MendKind::Added => Change::Added,
            };
            self.losses.push(Loss {
                step: self.step,
                change,
                rule: &Rule::INVALID,
                lesser: false,
                at: self.path.shared(),
                below: LossSegment::Below(mend.pointer.into()),
                value: mend.value.map(|value| Arc::new(value) as Arc<dyn Spell>),
                part: mend.part.map(Into::into),
            });
        }
    }

    /// Records what became of a value that stood below the one at hand.
    fn note<T: Encode + Send + Sync + 'static>(
        &mut self,
        rule: &'static Rule,
        below: LossSegment,
        change: Change,
        value: T,
    ) {
        self.record(rule, false, below, change, Some(Arc::new(value)));
    }

    /// Drops an optional member: carried as an unknown one, or lost.
    #[inline]
    pub fn drop_member<T: Encode + Send + Sync + 'static>(
        &mut self,
        rule: &'static Rule,
        name: &'static str,
        value: Option<T>,
        extra: &mut Extra,
    ) {
        self.under(rule).drop_member(name, value, extra);
    }

    /// Drops a member that is never carried: it would mean something else to an older peer, or could not come back.
    #[inline]
    #[doc(hidden)]
    pub fn lose_member<T: Encode + Send + Sync + 'static>(
        &mut self,
        rule: &'static Rule,
        name: &'static str,
        value: Option<T>,
    ) {
        if let Some(value) = value {
            self.note(rule, LossSegment::Member(name), Change::Removed, value);
        }
    }

    /// Leaves out a member that the other revision says once for a session, in its handshake: nothing is lost.
    #[doc(hidden)]
    pub fn leave_to_session<T: Encode + Send + Sync + 'static>(
        &mut self,
        rule: &'static Rule,
        name: &'static str,
        value: Option<T>,
    ) {
        if let Some(value) = value.filter(|_| !self.knows_session) {
            self.note(rule, LossSegment::Member(name), Change::InSession, value);
        }
    }

    /// Refuses a value that is not of this conversion: its member holds another value than the constant of the target.
    ///
    /// # Errors
    /// Another value.
    pub fn only<T: Encode>(&self, name: &str, value: &T, constant: &str) -> Result<(), Stop> {
        let found = mcp_wire::to_string(value);
        if found == constant {
            return Ok(());
        }
        let message =
            format!("`{name}` is {found}, and {constant} in the type that is converted to");
        Err(self.reject(&Rule::NO_COUNTERPART, ErrorObject::INVALID_PARAMS, &message))
    }

    /// Lets a member travel as an unknown one: the other schema is open, and nothing is lost.
    #[doc(hidden)]
    pub fn pass<T: Encode>(name: &'static str, value: Option<T>, extra: &mut Extra) {
        if let Some(value) = value {
            extra.insert(name, Json::of(&value));
        }
    }

    /// Returns a value, or `None` if it is the implied one; a number may be spelled in another way.
    #[doc(hidden)]
    pub fn unless_implied<T: Encode>(value: T, implied: &str) -> Option<T> {
        let text = mcp_wire::to_string(&value);
        let is_same = text == implied || same_number(&text, implied);
        (!is_same).then_some(value)
    }

    /// Returns a value that must be there, from the text of a rule. Fails for a text that is not of the type: the rule is
    /// wrong, which the generator's tests find.
    #[doc(hidden)]
    pub fn fill<T: Decode>(&self, rule: &'static Rule, text: &'static str) -> Result<T, Stop> {
        mcp_wire::from_str(text).map_err(|error| {
            let message = format!("rule {}: {error}", rule.id);
            self.reject(rule, ErrorObject::INTERNAL_ERROR, &message)
        })
    }

    /// Does the same as [`fill`](Self::fill) for a member that the source may have and lacks: that it stands there now is
    /// recorded. Fails as [`fill`](Self::fill).
    #[doc(hidden)]
    pub fn add<T: Decode>(
        &mut self,
        rule: &'static Rule,
        name: &'static str,
        text: &'static str,
    ) -> Result<T, Stop> {
        let value = self.fill(rule, text)?;
        self.record(rule, false, LossSegment::Member(name), Change::Added, None);
        Ok(value)
    }

    /// Returns the capabilities that the client sent in the handshake. Without a session, it
    /// returns the need of the handshake adapter.
    #[doc(hidden)]
    pub fn session_capabilities<T: Decode>(&self, rule: &'static Rule) -> Result<T, Stop> {
        match self.session().client_capabilities.as_ref().map(Json::read) {
            Some(Ok(capabilities)) => Ok(capabilities),
            _ => Err(self.needs(rule, Adapter::Handshake)),
        }
    }

    /// Returns the value that an adapter gave for a member that the source does not have. Without the
    /// value, it returns the need of the adapter.
    #[doc(hidden)]
    pub fn supplied<T: Decode>(&self, rule: &'static Rule, adapter: Adapter) -> Result<T, Stop> {
        let value = (self.supplied.as_ref()).filter(|(of, _)| *of == adapter);
        match value.map(|(_, value)| value.read()) {
            Some(Ok(value)) => Ok(value),
            _ => Err(self.needs(rule, adapter)),
        }
    }

    /// Returns a fact of the session, if it is known.
    #[doc(hidden)]
    pub fn known<T: Decode>(&self, fact: fn(&Session) -> &Option<Json>) -> Option<T> {
        fact(self.session()).as_ref()?.read().ok()
    }

    /// Returns the members of an opaque object. A name that stands there twice is mended as in an object of named members: the
    /// last one counts, and the other is recorded.
    ///
    /// # Errors
    /// A name that is not a text, and more mistakes than are mended.
    pub fn open(&mut self, value: JsonObject) -> Result<Extra, Stop> {
        if let Ok(members) = value.read() {
            return Ok(members);
        }
        let mended = mend(value.text(), &[], &mut |reader| Extra::new().fill(reader));
        let members = mended.and_then(|mended| {
            let members = mcp_wire::from_str(&mended.text)?;
            self.mended(mended.mends);
            Ok(members)
        });
        members.map_err(|error| {
            self.reject(
                &Rule::UNREADABLE,
                ErrorObject::INVALID_PARAMS,
                &error.to_string(),
            )
        })
    }

    /// Members as an opaque object.
    pub fn close(members: &Extra) -> JsonObject {
        JsonObject::try_from(Json::of(members)).unwrap_or_default()
    }

    /// Takes a member that the target names out of the unknown ones of the source, if it is there and reads: by a
    /// rule that says that it means the same there.
    #[inline]
    #[doc(hidden)]
    pub fn adopt<T: Decode>(&mut self, name: &'static str, extra: &mut Extra) -> Option<T> {
        if extra.is_empty() {
            return None;
        }
        self.adopt_some(name, extra)
    }

    fn adopt_some<T: Decode>(&mut self, name: &'static str, extra: &mut Extra) -> Option<T> {
        let value = extra.remove(name)?;
        match value.read() {
            Ok(value) => Some(value),
            Err(_) => {
                self.lose_member(&Rule::FOREIGN, name, Some(value));
                None
            }
        }
    }

    /// Does the same as [`adopt`](Self::adopt) where members are carried; else an unknown one of that name is lost.
    #[inline]
    pub fn carried<T: Decode>(&mut self, name: &'static str, extra: &mut Extra) -> Option<T> {
        if extra.is_empty() {
            return None;
        }
        match self.policy {
            UnknownFields::Preserve => self.adopt_some(name, extra),
            UnknownFields::Drop => {
                self.foreign(name, extra);
                None
            }
        }
    }

    /// Drops an unknown member whose name means something in the target, and records it: nothing may be read into it.
    #[inline]
    pub fn foreign(&mut self, name: &'static str, extra: &mut Extra) {
        if !extra.is_empty() {
            let value = extra.remove(name);
            self.lose_member(&Rule::FOREIGN, name, value);
        }
    }

    /// Restates the claim of a request: the receiver's revision takes the place of the sender's.
    ///
    /// The way back undoes that; any other revision that stood there is lost.
    #[doc(hidden)]
    pub fn claim(
        &mut self,
        name: &'static str,
        claimed: String,
        sender: &str,
        receiver: &str,
    ) -> String {
        if claimed != sender {
            self.note(
                &Rule::CLAIM,
                LossSegment::Member(name),
                Change::Replaced,
                claimed,
            );
        }
        receiver.to_owned()
    }

    /// Ends the conversion: an adapter has to do it.
    #[cold]
    #[doc(hidden)]
    pub fn needs(&self, rule: &'static Rule, adapter: Adapter) -> Stop {
        Stop::RequiresState(RequiresState {
            adapter,
            rule: rule.id,
            step: self.step,
            pointer: self.path.pointer(),
        })
    }

    /// Ends the conversion with the error that the spec calls for.
    #[cold]
    #[doc(hidden)]
    pub fn reject(&self, rule: &'static Rule, code: i64, message: &str) -> Stop {
        Stop::Rejected(Box::new(Rejected {
            error: ErrorObject::new(code, message),
            rule: rule.id,
            step: self.step,
            pointer: self.path.pointer(),
        }))
    }

    /// Ends the conversion of a notification, which is dropped.
    #[cold]
    #[doc(hidden)]
    pub fn swallow(&self, rule: &'static Rule) -> Stop {
        Stop::Dropped(Dropped {
            rule: rule.id,
            step: self.step,
            pointer: self.path.pointer(),
        })
    }

    /// Records that an error's code becomes another one.
    pub(crate) fn recode(&mut self, rule: &'static Rule, code: Json) {
        self.note(rule, LossSegment::Member("code"), Change::Replaced, code);
    }
}

/// The longest numbers that are compared by their value: a longer one may be rounded.
const EXACT: usize = 15;

fn same_number(one: &str, other: &str) -> bool {
    let number = |text: &str| -> Option<f64> {
        let plain = text.len() <= EXACT && !text.contains(['e', 'E']);
        text.parse().ok().filter(|_| plain)
    };
    number(one).is_some_and(|one| number(other) == Some(one))
}
