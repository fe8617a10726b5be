//! What stands in where no rule says what becomes of a change: a value is carried if it reads, and recorded if it is lost.

use mcp_wire::{Decode, Encode, ErrorObject, Extra, Json, Map};

use crate::context::Context;
use crate::outcome::Stop;
use crate::path::pointer_to;
use crate::rule::Rule;

impl Context {
    /// Returns the same text as a value of the other revision's type; one that does not read there is lost.
    #[doc(hidden)]
    pub fn reread<A: Encode, B: Decode>(
        &mut self,
        rule: &'static Rule,
        name: &'static str,
        value: Option<A>,
    ) -> Option<B> {
        let json = Json::of(&value?);
        match json.read() {
            Ok(value) => Some(value),
            Err(_) => {
                self.lose_member(rule, name, Some(json));
                None
            }
        }
    }

    /// Does the same as [`reread`](Self::reread), where the other revision must have a value. Fails for a rejection of a value
    /// that does not read.
    #[doc(hidden)]
    pub fn reread_required<A: Encode, B: Decode>(
        &self,
        rule: &'static Rule,
        value: &A,
    ) -> Result<B, Stop> {
        (Json::of(value).read())
            .map_err(|error| self.reject(rule, ErrorObject::INVALID_PARAMS, &error.to_string()))
    }

    /// Records the loss of a member whose type has no counterpart; the other revision does without.
    #[doc(hidden)]
    pub fn lost<A: Encode + Send + Sync + 'static, B>(
        &mut self,
        rule: &'static Rule,
        name: &'static str,
        value: Option<A>,
    ) -> Option<B> {
        self.lose_member(rule, name, value);
        None
    }

    /// Records the loss of `null` where the other revision has no such value; what else stands there goes on.
    #[doc(hidden)]
    pub fn not_null<A>(
        &mut self,
        rule: &'static Rule,
        name: &'static str,
        value: Option<Option<A>>,
    ) -> Option<A> {
        let null = value.as_ref().is_some_and(Option::is_none);
        self.lose_member(rule, name, null.then(Json::default));
        value.flatten()
    }

    /// Returns the refusal of a value that has no counterpart; never a value.
    #[doc(hidden)]
    pub fn refused<A, B>(&self, rule: &'static Rule, _: &A, message: &str) -> Result<B, Stop> {
        Err(self.reject(rule, ErrorObject::INVALID_PARAMS, message))
    }

    /// Records that a constant stands in the other revision where `value` stood, if that says something else.
    #[doc(hidden)]
    pub fn settle<A: Encode>(
        &mut self,
        rule: &'static Rule,
        name: &'static str,
        value: Option<A>,
        constant: &str,
    ) {
        let Some(value) = value else {
            return self.under(rule).add(pointer_to(name));
        };
        let value = Json::of(&value);
        if value.text() != constant {
            self.under(rule).replace(pointer_to(name), value);
        }
    }

    /// Records the unknown members of an object that the other revision allows none of.
    #[doc(hidden)]
    pub fn drop_extra(&mut self, rule: &'static Rule, extra: Extra) {
        for (name, value) in extra {
            self.under(rule).lose(pointer_to(&name), value);
        }
    }

    /// Returns unknown members of one type as any JSON.
    #[doc(hidden)]
    pub fn untyped<T: Encode>(extra: &Map<T>) -> Extra {
        (extra.iter())
            .map(|(name, value)| (name, Json::of(value)))
            .collect()
    }

    /// Returns unknown members as values of one type; records the others as lost.
    #[doc(hidden)]
    pub fn typed<T: Decode>(&mut self, rule: &'static Rule, extra: Extra) -> Map<T> {
        let mut typed = Map::new();
        for (name, value) in extra {
            match value.read() {
                Ok(value) => {
                    typed.insert(name, value);
                }
                Err(_) => self.under(rule).lose(pointer_to(&name), value),
            }
        }
        typed
    }
}
