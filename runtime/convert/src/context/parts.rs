//! Conversions of the parts of a value: members, items of lists and values of maps, whose losses say where they stand.

use mcp_wire::{Decode, Encode, Extra, Json, Map};

use super::Context;
use crate::loss::{Change, LossMembers};
use crate::outcome::Stop;
use crate::path::LossSegment;
use crate::rule::Rule;

impl Context {
    /// Converts the value of a member; its losses get the member's name.
    #[doc(hidden)]
    pub fn member<A, B>(
        &mut self,
        name: &'static str,
        value: A,
        convert: fn(A, &mut Self) -> B,
    ) -> B {
        self.path.enter(LossSegment::Member(name));
        let result = convert(value, self);
        self.path.leave();
        result
    }

    /// Does the same as [`member`](Self::member), for an object without members of its own in the target: one that is left without
    /// any by what was lost is left out with it.
    #[doc(hidden)]
    pub fn prune<A>(
        &mut self,
        name: &'static str,
        value: A,
        convert: fn(A, &mut Self) -> Extra,
    ) -> Option<Extra> {
        let before = self.losses.len();
        let value = self.member(name, value, convert);
        self.unless_emptied(name, value, before)
    }

    /// Does the same as [`prune`](Self::prune), by a conversion that may stop. Fails as the conversion.
    #[doc(hidden)]
    pub fn try_prune<A>(
        &mut self,
        name: &'static str,
        value: A,
        convert: fn(A, &mut Self) -> Result<Extra, Stop>,
    ) -> Result<Option<Extra>, Stop> {
        let before = self.losses.len();
        let value = self.member(name, value, convert)?;
        Ok(self.unless_emptied(name, value, before))
    }

    /// Returns the members, or `None` if everything that was there was lost: the losses since `before`.
    fn unless_emptied(&mut self, name: &'static str, value: Extra, before: usize) -> Option<Extra> {
        if !value.is_empty() || self.losses.len() == before {
            return Some(value);
        }
        let lost = self.losses.split_off(before);
        let rule = lost.first().map_or(&Rule::FOREIGN, |loss| loss.rule);
        let in_session = lost.iter().all(|loss| loss.change == Change::InSession);
        let members = lost.into_iter().filter_map(|loss| match loss.below {
            LossSegment::Member(name) => Some((name.to_owned(), loss.value?)),
            _ => None,
        });
        let members = Some(LossMembers(members.collect()));
        if in_session {
            self.leave_to_session(rule, name, members)
        } else {
            self.lose_member(rule, name, members)
        }
        None
    }

    /// Converts the list of a member; its losses get the member's name, and the item's index.
    #[doc(hidden)]
    pub fn list<A, B>(
        &mut self,
        name: &'static str,
        items: Vec<A>,
        convert: fn(A, &mut Self) -> B,
    ) -> Vec<B> {
        self.path.enter(LossSegment::Member(name));
        let converted = self.items(items, convert);
        self.path.leave();
        converted
    }

    /// Converts each item of a list; losses get the item's index.
    #[doc(hidden)]
    pub fn items<A, B>(&mut self, items: Vec<A>, convert: fn(A, &mut Self) -> B) -> Vec<B> {
        self.path.enter(LossSegment::Index(0));
        let mut converted = Vec::with_capacity(items.len());
        for item in items {
            converted.push(convert(item, self));
            self.path.go_on();
        }
        self.path.leave();
        converted
    }

    /// Does the same as [`list`](Self::list), by a conversion that may stop. Fails as the conversion of an item.
    #[doc(hidden)]
    pub fn try_list<A, B>(
        &mut self,
        name: &'static str,
        items: Vec<A>,
        convert: fn(A, &mut Self) -> Result<B, Stop>,
    ) -> Result<Vec<B>, Stop> {
        self.path.enter(LossSegment::Member(name));
        let converted = self.try_items(items, convert);
        self.path.leave();
        converted
    }

    /// Does the same as [`items`](Self::items), by a conversion that may stop. Fails as the conversion of an item.
    #[doc(hidden)]
    pub fn try_items<A, B>(
        &mut self,
        items: Vec<A>,
        convert: fn(A, &mut Self) -> Result<B, Stop>,
    ) -> Result<Vec<B>, Stop> {
        self.path.enter(LossSegment::Index(0));
        let mut converted = Vec::with_capacity(items.len());
        for item in items {
            converted.push(convert(item, self)?);
            self.path.go_on();
        }
        self.path.leave();
        Ok(converted)
    }

    /// Does the same as [`list`](Self::list), without the items that `keep` refuses, which are recorded.
    #[doc(hidden)]
    pub fn list_keeping<A: Encode + Send + Sync + 'static, B>(
        &mut self,
        name: &'static str,
        rule: &'static Rule,
        items: Vec<A>,
        keep: fn(&A) -> bool,
        convert: fn(A, &mut Self) -> B,
    ) -> Vec<B> {
        self.path.enter(LossSegment::Member(name));
        let mut kept = Vec::with_capacity(items.len());
        for (index, item) in items.into_iter().enumerate() {
            if !keep(&item) {
                self.note(rule, LossSegment::Index(index), Change::Removed, item);
                continue;
            }
            self.path.enter(LossSegment::Index(index));
            kept.push(convert(item, self));
            self.path.leave();
        }
        self.path.leave();
        kept
    }

    /// Returns the first item of each of `N` typed alternatives in a list that the target does not have, with its index.
    ///
    /// `alternative` says which one an item is, and whether the target holds all of it. The whole list is recorded if the way
    /// back makes another one: for items in another order, second ones of an alternative, and a missing one that `is_always`
    /// there.
    #[doc(hidden)]
    pub fn spread<A: Encode, const N: usize>(
        &mut self,
        rule: &'static Rule,
        name: &'static str,
        list: Vec<A>,
        is_always: [bool; N],
        alternative: fn(&A) -> Option<(usize, bool)>,
    ) -> [Option<(usize, A)>; N] {
        let kinds: Vec<_> = list.iter().map(alternative).collect();
        let has = |at: usize| kinds.iter().flatten().any(|(kind, _)| *kind == at);
        let mut next = 0;
        let is_in_order = kinds.iter().all(|kind| match kind {
            Some((at, true)) if *at >= next => {
                next = at + 1;
                true
            }
            _ => false,
        });
        let mut always = is_always.iter().enumerate();
        if !is_in_order || !always.all(|(at, is_always)| !is_always || has(at)) {
            let below = LossSegment::Member(name);
            self.note(rule, below, Change::Replaced, Json::of(&list));
        }
        let mut first = [const { None }; N];
        for ((index, item), kind) in list.into_iter().enumerate().zip(kinds) {
            let slot = kind.and_then(|(at, _)| first.get_mut(at));
            if let Some(slot @ None) = slot {
                *slot = Some((index, item));
            }
        }
        first
    }

    /// Does the same as [`spread`](Self::spread), for a list that is absent on the way back unless an item stands in it that is
    /// not in every list.
    #[doc(hidden)]
    pub fn spread_optional<A: Encode, const N: usize>(
        &mut self,
        rule: &'static Rule,
        name: &'static str,
        list: Option<Vec<A>>,
        is_always: [bool; N],
        alternative: fn(&A) -> Option<(usize, bool)>,
    ) -> [Option<(usize, A)>; N] {
        let Some(list) = list else {
            return [const { None }; N];
        };
        let holds = |item: &A| {
            let kind = alternative(item).and_then(|(at, _)| is_always.get(at));
            kind.is_some_and(|is_always| !is_always)
        };
        if list.iter().any(holds) {
            return self.spread(rule, name, list, is_always, alternative);
        }
        let below = LossSegment::Member(name);
        self.note(rule, below, Change::Removed, Json::of(&list));
        [const { None }; N]
    }

    /// Converts the list of a member without the items that are `lost_by` a rule, which are recorded. A list of such items only
    /// is converted as it is: nothing of it would be left. Fails as the conversion of an item.
    #[doc(hidden)]
    pub fn list_without<A: Encode + Send + Sync + 'static, B>(
        &mut self,
        name: &'static str,
        items: Vec<A>,
        lost_by: fn(&A) -> Option<&'static Rule>,
        convert: fn(A, &mut Self) -> Result<B, Stop>,
    ) -> Result<Vec<B>, Stop> {
        let some_stay = items.iter().any(|item| lost_by(item).is_none());
        let mut converted = Vec::with_capacity(items.len());
        self.path.enter(LossSegment::Member(name));
        for (index, item) in items.into_iter().enumerate() {
            if let Some(rule) = lost_by(&item).filter(|_| some_stay) {
                self.note(rule, LossSegment::Index(index), Change::Removed, item);
                continue;
            }
            self.path.enter(LossSegment::Index(index));
            converted.push(convert(item, self)?);
            self.path.leave();
        }
        self.path.leave();
        Ok(converted)
    }

    /// Converts the value of a member of an item of a list; its losses get the names and the index.
    #[doc(hidden)]
    pub fn item_member<A, B>(
        &mut self,
        (list, index, name): (&'static str, usize, &'static str),
        value: A,
        convert: fn(A, &mut Self) -> B,
    ) -> B {
        self.path.enter(LossSegment::Member(list));
        self.path.enter(LossSegment::Index(index));
        let result = self.member(name, value, convert);
        self.path.leave();
        self.path.leave();
        result
    }

    /// Takes the entry of a map that is a member of the target; one that does not read as such is lost. A map that is left empty
    /// is left out.
    #[doc(hidden)]
    pub fn take_entry<A: Encode + Send + Sync + 'static, B: Decode>(
        &mut self,
        rule: &'static Rule,
        (map, name): (&'static str, &'static str),
        entries: &mut Option<Map<A>>,
    ) -> Option<B> {
        let all = entries.as_mut()?;
        let entry = all.remove(name)?;
        if all.is_empty() {
            *entries = None;
        }
        let value = Json::of(&entry).read().ok();
        if value.is_none() {
            self.path.enter(LossSegment::Member(map));
            self.note(rule, LossSegment::Key(name.into()), Change::Removed, entry);
            self.path.leave();
        }
        value
    }

    /// Puts a member that the target does not have into a map, as an entry: it is lost if the map has such an entry. That a map
    /// stood there without any entry is lost as well, since the way back leaves it out.
    #[doc(hidden)]
    pub fn put_entry<
        A: Encode + Send + Sync + 'static,
        B: Encode + Decode + Send + Sync + 'static,
    >(
        &mut self,
        rule: &'static Rule,
        member: &'static str,
        (map, name): (&'static str, &'static str),
        value: Option<A>,
        entries: &mut Option<Map<B>>,
    ) {
        let Some(value) = value else { return };
        let is_taken = entries.as_ref().is_some_and(|all| all.get(name).is_some());
        let entry = Json::of(&value).read().ok().filter(|_| !is_taken);
        let Some(entry) = entry else {
            return self.lose_member(rule, member, Some(value));
        };
        let empty = entries.as_ref().filter(|all| all.is_empty());
        self.lose_member(rule, map, empty.map(Json::of));
        entries.get_or_insert_default().insert(name, entry);
    }

    /// Converts each value of a map; losses get the value's name.
    pub fn map<A, B>(&mut self, values: Map<A>, convert: fn(A, &mut Self) -> B) -> Map<B> {
        values
            .into_iter()
            .map(|(name, value)| {
                self.path.enter(LossSegment::Key(name.as_str().into()));
                let value = convert(value, self);
                self.path.leave();
                (name, value)
            })
            .collect()
    }

    /// Does the same as [`map`](Self::map), by a conversion that may stop. Fails as the conversion of a value.
    #[doc(hidden)]
    pub fn try_map<A, B>(
        &mut self,
        values: Map<A>,
        convert: fn(A, &mut Self) -> Result<B, Stop>,
    ) -> Result<Map<B>, Stop> {
        let each = |(name, value): (String, A)| {
            self.path.enter(LossSegment::Key(name.as_str().into()));
            let value = convert(value, self);
            self.path.leave();
            Ok((name, value?))
        };
        values.into_iter().map(each).collect()
    }

    /// Returns all items of a list, if none of them stopped the conversion. The error is the stop of the first item that has
    /// one.
    #[doc(hidden)]
    pub fn all<B>(items: Vec<Result<B, Stop>>) -> Result<Vec<B>, Stop> {
        items.into_iter().collect()
    }
}
