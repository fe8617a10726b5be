//! A conversion as hooks see it: what they record, they record under one rule.

use std::borrow::Cow;
use std::sync::Arc;

use mcp_wire::{Decode, Encode, Extra, Json};

use crate::context::{Context, UnknownFields};
use crate::loss::{Change, Spell};
use crate::outcome::Stop;
use crate::path::LossSegment;
use crate::rule::Rule;

impl Context {
    /// Returns the conversion for a hook that speaks for one rule.
    #[inline]
    pub fn under(&mut self, rule: &'static Rule) -> Ruled<'_> {
        Ruled {
            cx: self,
            rule,
            lesser: false,
        }
    }
}

/// A conversion as a hook sees it: it records under the rule that names it.
#[derive(Debug)]
pub struct Ruled<'c> {
    cx: &'c mut Context,
    rule: &'static Rule,
    lesser: bool,
}

impl Ruled<'_> {
    /// Returns the policy.
    pub fn policy(&self) -> UnknownFields {
        self.cx.policy()
    }

    /// Records the next losses with the rule's lesser severity.
    #[must_use]
    pub fn lesser(&mut self) -> Ruled<'_> {
        Ruled {
            cx: self.cx,
            rule: self.rule,
            lesser: true,
        }
    }

    /// Returns the end of a conversion of what has no counterpart, with the error that a request gets for it.
    #[must_use]
    pub fn reject(&self, code: i64, message: &str) -> Stop {
        self.cx.reject(self.rule, code, message)
    }

    /// Records that `value`, at `pointer` below the value at hand, is left out.
    pub fn lose(
        &mut self,
        pointer: impl Into<Cow<'static, str>>,
        value: impl Encode + Send + Sync + 'static,
    ) {
        self.record(pointer, Change::Removed, Some(Arc::new(value)));
    }

    /// Records that something else will come back where `value` stood, at `pointer` below the value at hand.
    pub fn replace(
        &mut self,
        pointer: impl Into<Cow<'static, str>>,
        value: impl Encode + Send + Sync + 'static,
    ) {
        self.record(pointer, Change::Replaced, Some(Arc::new(value)));
    }

    /// Records that something was put at `pointer`, where nothing stood.
    pub fn add(&mut self, pointer: impl Into<Cow<'static, str>>) {
        self.record(pointer, Change::Added, None);
    }

    /// Records that `value`, at `pointer`, is left out, since the other revision says it once for a session.
    pub fn leave_to_session(
        &mut self,
        pointer: impl Into<Cow<'static, str>>,
        value: impl Encode + Send + Sync + 'static,
    ) {
        self.record(pointer, Change::InSession, Some(Arc::new(value)));
    }

    /// Records that `value`, at `pointer`, stands there in another shape, which its mark undoes on the way back.
    pub fn reshape(
        &mut self,
        pointer: impl Into<Cow<'static, str>>,
        value: impl Encode + Send + Sync + 'static,
    ) {
        self.record(pointer, Change::Reshaped, Some(Arc::new(value)));
    }

    fn record(
        &mut self,
        pointer: impl Into<Cow<'static, str>>,
        change: Change,
        value: Option<Arc<dyn Spell>>,
    ) {
        let below = LossSegment::Below(pointer.into());
        self.cx.record(self.rule, self.lesser, below, change, value);
    }

    /// Does the same as [`Context::drop_member`].
    pub fn drop_member<T: Encode + Send + Sync + 'static>(
        &mut self,
        name: &'static str,
        value: Option<T>,
        extra: &mut Extra,
    ) {
        let Some(value) = value else { return };
        let (segment, cx) = (LossSegment::Member(name), &mut *self.cx);
        match cx.policy() {
            UnknownFields::Preserve => {
                extra.insert(name, Json::of(&value));
                cx.record(self.rule, self.lesser, segment, Change::Carried, None);
            }
            UnknownFields::Drop => {
                let value = Some(Arc::new(value) as Arc<dyn Spell>);
                cx.record(self.rule, self.lesser, segment, Change::Removed, value);
            }
        }
    }

    /// Does the same as [`Context::adopt`].
    pub fn adopt<T: Decode>(&mut self, name: &'static str, extra: &mut Extra) -> Option<T> {
        self.cx.adopt(name, extra)
    }

    /// Does the same as [`Context::carried`].
    pub fn carried<T: Decode>(&mut self, name: &'static str, extra: &mut Extra) -> Option<T> {
        self.cx.carried(name, extra)
    }

    /// Does the same as [`Context::foreign`].
    pub fn foreign(&mut self, name: &'static str, extra: &mut Extra) {
        self.cx.foreign(name, extra);
    }
}
