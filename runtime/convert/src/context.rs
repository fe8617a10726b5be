//! Where a conversion keeps its losses, and what it may do.

use mcp_wire::{Decode, Encode, ErrorObject, Extra, Json, JsonObject, Map};

use crate::outcome::{Adapter, Change, Loss, LossKind, NeedsState, Outcome, Stop};

/// What becomes of members that the older revision does not name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Policy {
    /// They are dropped: an older peer gets what its revision names, and what was unknown before.
    #[default]
    Strict,
    /// They travel as unknown members, where the older schema is open, and are taken back on the way up.
    Carry,
}

/// What a handshake settled, for messages of a revision that has none: the client speaks of it in every request.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Session {
    /// The version that requests claim.
    pub protocol_version: Option<String>,
    /// What the client can do, as JSON of the newer revision.
    pub client_capabilities: Option<Json>,
}

/// A conversion at work: one hop between neighbours.
#[derive(Debug, Default)]
pub struct Context {
    policy: Policy,
    session: Session,
    hop: &'static str,
    losses: Vec<Loss>,
}

impl Context {
    /// A conversion that has lost nothing yet.
    pub fn new(policy: Policy) -> Self {
        Self {
            policy,
            ..Self::default()
        }
    }

    /// With what a handshake settled.
    #[must_use]
    pub fn with_session(mut self, session: Session) -> Self {
        self.session = session;
        self
    }

    /// Names the hop that the next losses belong to.
    pub fn enter(&mut self, hop: &'static str) {
        self.hop = hop;
    }

    /// The policy.
    pub fn policy(&self) -> Policy {
        self.policy
    }

    /// What a handshake settled.
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// What was lost so far.
    pub fn losses(&self) -> &[Loss] {
        &self.losses
    }

    /// The outcome of the conversion that gave this.
    pub fn finish<T>(self, result: Result<T, Stop>) -> Outcome<T> {
        match result {
            Ok(value) if self.losses.is_empty() => Outcome::Exact(value),
            Ok(value) => Outcome::Lossy(value, self.losses),
            Err(Stop::NeedsState(needs)) => Outcome::NeedsState(needs),
            Err(Stop::Rejected(error)) => Outcome::Rejected(*error),
            Err(Stop::Swallowed(rule)) => Outcome::Swallowed(rule),
        }
    }

    /// Records that `value`, at `pointer` below the value at hand, is left out.
    #[cold]
    pub fn lose(
        &mut self,
        rule: &'static str,
        kind: LossKind,
        pointer: impl Into<String>,
        value: Json,
    ) {
        self.record(rule, kind, pointer.into(), Change::Removed, Some(value));
    }

    /// Records that something else will come back where `value` stood, at `pointer` below the value at hand.
    #[cold]
    pub fn replace(
        &mut self,
        rule: &'static str,
        kind: LossKind,
        pointer: impl Into<String>,
        value: Json,
    ) {
        self.record(rule, kind, pointer.into(), Change::Replaced, Some(value));
    }

    /// Records that something was put at `pointer`, where nothing stood.
    #[cold]
    pub fn add(&mut self, rule: &'static str, kind: LossKind, pointer: impl Into<String>) {
        self.record(rule, kind, pointer.into(), Change::Added, None);
    }

    fn record(
        &mut self,
        rule: &'static str,
        kind: LossKind,
        mut pointer: String,
        change: Change,
        value: Option<Json>,
    ) {
        let hop = self.hop;
        // Room for what the objects around it put before it.
        pointer.reserve(POINTER);
        self.losses.push(Loss {
            pointer,
            hop,
            rule,
            kind,
            change,
            value,
        });
    }

    /// Drops an optional member: carried as an unknown one, or lost.
    pub fn drop_member<T: Encode>(
        &mut self,
        rule: &'static str,
        kind: LossKind,
        name: &'static str,
        value: Option<T>,
        extra: &mut Extra,
    ) {
        let Some(value) = value else { return };
        let value = Json::of(&value);
        match self.policy {
            Policy::Carry => {
                extra.insert(name.to_owned(), value);
            }
            Policy::Strict => self.lose(rule, kind, pointer_to(name), value),
        }
    }

    /// Lets a member travel as an unknown one: the other schema is open, and nothing is lost.
    pub fn pass<T: Encode>(name: &'static str, value: Option<T>, extra: &mut Extra) {
        if let Some(value) = value {
            extra.insert(name.to_owned(), Json::of(&value));
        }
    }

    /// Drops an optional member unless it holds what goes without saying, which is not a loss.
    pub fn drop_unless<T: Encode>(
        &mut self,
        rule: &'static str,
        kind: LossKind,
        name: &'static str,
        value: Option<T>,
        implied: &str,
        extra: &mut Extra,
    ) {
        if value
            .as_ref()
            .is_some_and(|value| mcp_wire::to_string(value) != implied)
        {
            self.drop_member(rule, kind, name, value, extra);
        }
    }

    /// A value, or nothing where it is what goes without saying.
    pub fn unless_implied<T: Encode>(value: T, implied: &str) -> Option<T> {
        (mcp_wire::to_string(&value) != implied).then_some(value)
    }

    /// A value that must be there, from the text of a rule.
    ///
    /// # Errors
    /// A text that is not of the type: the rule is wrong, which the generator's tests find.
    pub fn fill<T: Decode>(&self, rule: &'static str, text: &'static str) -> Result<T, Stop> {
        mcp_wire::from_str(text).map_err(|error| {
            self.reject(
                ErrorObject::INTERNAL_ERROR,
                &format!("rule {rule}: {error}"),
            )
        })
    }

    /// The version that a handshake settled.
    ///
    /// # Errors
    /// Without a session the handshake adapter has to help.
    pub fn session_version(&self, rule: &'static str) -> Result<String, Stop> {
        match &self.session.protocol_version {
            Some(version) => Ok(version.clone()),
            None => Err(self.needs(rule, Adapter::Handshake)),
        }
    }

    /// What the client said it can do when the session began.
    ///
    /// # Errors
    /// Without a session the handshake adapter has to help.
    pub fn session_capabilities<T: Decode>(&self, rule: &'static str) -> Result<T, Stop> {
        match self.session.client_capabilities.as_ref().map(Json::read) {
            Some(Ok(capabilities)) => Ok(capabilities),
            _ => Err(self.needs(rule, Adapter::Handshake)),
        }
    }

    /// The members of an opaque object.
    ///
    /// # Errors
    /// A name that stands there twice, or that is no text: nobody could say what it means.
    pub fn open(&self, value: JsonObject) -> Result<Extra, Stop> {
        value
            .read()
            .map_err(|error| self.reject(ErrorObject::INVALID_PARAMS, &error.to_string()))
    }

    /// Members as an opaque object.
    pub fn close(members: &Extra) -> JsonObject {
        JsonObject::try_from(Json::of(members)).unwrap_or_default()
    }

    /// Takes a member that the target names out of the unknown ones of the source, if it is there and reads.
    pub fn adopt<T: Decode>(&mut self, name: &'static str, extra: &mut Extra) -> Option<T> {
        if extra.is_empty() {
            return None;
        }
        let value = extra.remove(name)?;
        match value.read() {
            Ok(value) => Some(value),
            Err(_) => {
                self.lose(ADOPTED, LossKind::Cosmetic, pointer_to(name), value);
                None
            }
        }
    }

    /// Runs a conversion of the value of a member; its losses get the member's name.
    #[inline]
    pub fn member<T>(
        &mut self,
        name: &str,
        run: impl FnOnce(&mut Self) -> Result<T, Stop>,
    ) -> Result<T, Stop> {
        let before = self.losses.len();
        let result = run(self);
        if self.losses.len() > before {
            self.prefix(before, &pointer_to(name));
        }
        result
    }

    /// Converts each item of a list; losses get the item's index.
    pub fn list<A, B>(
        &mut self,
        items: Vec<A>,
        convert: fn(A, &mut Self) -> Result<B, Stop>,
    ) -> Result<Vec<B>, Stop> {
        // Collecting results would not know how many there are.
        let mut converted = Vec::with_capacity(items.len());
        for (index, item) in items.into_iter().enumerate() {
            let before = self.losses.len();
            let result = convert(item, self);
            if self.losses.len() > before {
                self.prefix(before, &format!("/{index}"));
            }
            converted.push(result?);
        }
        Ok(converted)
    }

    /// As [`list`](Self::list), without the items that `keep` refuses, which are recorded.
    ///
    /// # Errors
    /// As the conversion of an item.
    pub fn list_keeping<A: Encode, B>(
        &mut self,
        rule: &'static str,
        kind: LossKind,
        items: Vec<A>,
        keep: fn(&A) -> bool,
        convert: fn(A, &mut Self) -> Result<B, Stop>,
    ) -> Result<Vec<B>, Stop> {
        let mut kept = Vec::with_capacity(items.len());
        for (index, item) in items.into_iter().enumerate() {
            let pointer = || format!("/{index}");
            if !keep(&item) {
                self.lose(rule, kind, pointer(), Json::of(&item));
                continue;
            }
            let before = self.losses.len();
            let result = convert(item, self);
            if self.losses.len() > before {
                self.prefix(before, &pointer());
            }
            kept.push(result?);
        }
        Ok(kept)
    }

    /// Converts each value of a map; losses get the value's name.
    pub fn map<A, B>(
        &mut self,
        values: Map<A>,
        convert: fn(A, &mut Self) -> Result<B, Stop>,
    ) -> Result<Map<B>, Stop> {
        values
            .into_iter()
            .map(|(name, value)| {
                let value = self.member(&name, |cx| convert(value, cx))?;
                Ok((name, value))
            })
            .collect()
    }

    /// Puts a pointer before those of the losses from an index on.
    #[cold]
    fn prefix(&mut self, from: usize, prefix: &str) {
        for loss in &mut self.losses[from..] {
            loss.pointer.insert_str(0, prefix);
        }
    }

    /// Ends the conversion: an adapter has to do it.
    #[cold]
    pub fn needs(&self, rule: &'static str, adapter: Adapter) -> Stop {
        Stop::NeedsState(NeedsState {
            adapter,
            rule,
            hop: self.hop,
        })
    }

    /// Ends the conversion with the error that the spec calls for.
    #[cold]
    pub fn reject(&self, code: i64, message: &str) -> Stop {
        Stop::Rejected(Box::new(ErrorObject::new(code, message)))
    }
}

/// How long the pointers of most losses get.
const POINTER: usize = 48;

/// The rule of an unknown member whose name the other revision gives to something else: it stands in no file.
pub const ADOPTED: &str = "unknown-member-of-that-name";

/// `/name`, escaped.
#[must_use]
pub fn pointer_to(name: &str) -> String {
    let mut pointer = String::with_capacity(name.len() + 1);
    pointer.push('/');
    for letter in name.chars() {
        match letter {
            '~' => pointer.push_str("~0"),
            '/' => pointer.push_str("~1"),
            letter => pointer.push(letter),
        }
    }
    pointer
}
