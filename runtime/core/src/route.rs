//! The route between two protocols: the tables that lead from one to the other, and the conversions by them.

use mcp_revisions_tables::{Context, Extension, Pair, Part, Subject, Tables, values::TABLES};
use mcp_wire::{Direction, ErrorObject, Json, MethodInfo, TypeInfo};

use crate::diagnostic::{Conversion, ConversionError, Diagnostic, conversion};
use crate::protocol::Protocol;

/// The steps from one protocol to another: found once, for many messages.
#[derive(Debug, Clone, Copy)]
pub struct Route {
    tables: &'static Tables,
    ends: [Protocol; 2],
    /// The place in the tables where it begins.
    pub(crate) from: usize,
    /// The place where it ends.
    pub(crate) to: usize,
}

impl Route {
    /// Finds the tables that both ends are in.
    ///
    /// # Errors
    /// Returns an error for an end that takes no part in conversions, and for two that are not converted into each other.
    pub fn between(
        from: impl Into<Protocol>,
        to: impl Into<Protocol>,
    ) -> Result<Self, ConversionError> {
        let (from, to) = (from.into(), to.into());
        let ends = [from, to];
        let extension = ends.iter().find_map(|end| match end {
            Protocol::Extension(extension) => Some(*extension),
            Protocol::Revision(_) => None,
        });
        let places = |tables: &Tables| from.place(tables).zip(to.place(tables));
        let tables = match extension {
            None => Some(&TABLES),
            Some(extension) => (extension.later_core)
                .filter(|later| places(later).is_some())
                .or(extension.core),
        };
        if let Some(tables) = tables
            && let Some((from, to)) = places(tables)
        {
            return Ok(Self {
                tables,
                ends,
                from,
                to,
            });
        }
        let others: Vec<&str> = (tables.iter().flat_map(|tables| tables.revisions))
            .map(|row| row.id)
            .filter(|id| extension.is_none_or(|extension| extension.name != *id))
            .collect();
        Err(ConversionError::Unknown(match extension {
            Some(extension) if !others.is_empty() => format!(
                "messages of the extension `{}` are converted from and to {}; revision {} has them as they are",
                extension.name,
                others.join(", "),
                extension.revision
            ),
            Some(extension) => format!(
                "no revision that is converted has the messages of the extension `{}` in its core: there is nothing to convert them to",
                extension.name
            ),
            None => {
                let out = |end: &&Protocol| end.place(&TABLES).is_none();
                let end = ends.iter().find(out).unwrap_or(&ends[0]).revision();
                format!(
                    "revision {end} is a {}, and takes no part in conversions",
                    end.status()
                )
            }
        }))
    }

    /// Returns the route of a method's messages between the same ends: through an extension, if the revisions between have the
    /// method there.
    pub(crate) fn of_method(self, method: &str, sender: Option<Direction>) -> Self {
        for extension in Extension::ALL {
            if let Some(tables) = extension.later_core
                && let Some(route) = self.by_extension(extension, tables, method, sender)
            {
                return route;
            }
        }
        self
    }

    /// Returns the route of a method's messages through an extension, in the tables that join it with a later core; `None` if the
    /// extension does not have the method, or is not between the ends.
    #[inline(never)]
    fn by_extension(
        self,
        extension: &Extension,
        tables: &'static Tables,
        method: &str,
        sender: Option<Direction>,
    ) -> Option<Self> {
        let [Protocol::Revision(_), Protocol::Revision(_)] = self.ends else {
            return None;
        };
        let place = |end: Protocol| end.place(tables);
        let (from, to) = (place(self.ends[0])?, place(self.ends[1])?);
        let mut rows = tables.revisions.iter();
        let between = rows.position(|row| row.id == extension.name)?;
        let name = tables.method_name(method, sender, from, between);
        let is_its = extension.methods.iter().any(|row| row.name == name);
        is_its.then_some(Self {
            tables,
            from,
            to,
            ..self
        })
    }

    #[cfg(test)]
    pub(crate) fn by_tables(
        tables: &'static Tables,
        of: mcp_revisions_tables::Revision,
        (from, to): (usize, usize),
    ) -> Self {
        let ends = [Protocol::Revision(of); 2];
        Self {
            tables,
            ends,
            from,
            to,
        }
    }

    /// Returns the part of the route between two of its places.
    pub(crate) fn between_places(self, from: usize, to: usize) -> Self {
        Self { from, to, ..self }
    }

    /// Returns the protocol where it begins.
    pub(crate) fn beginning(&self) -> Protocol {
        self.ends[0]
    }

    /// Returns the name of a place in errors.
    pub(crate) fn title(&self, at: usize) -> String {
        let [from, to] = self.ends;
        match self.tables.revisions.get(at) {
            _ if at == self.from => from.title(),
            _ if at == self.to => to.title(),
            Some(row) => format!("revision {}", row.id),
            None => String::new(),
        }
    }

    /// Returns the pairs of adjacent places on the way, in order.
    pub(crate) fn steps(&self) -> impl Iterator<Item = (usize, usize)> {
        let (from, to) = (self.from, self.to);
        (0..from.abs_diff(to)).map(move |at| {
            if from < to {
                (from + at, from + at + 1)
            } else {
                (from - at, from - at - 1)
            }
        })
    }

    /// Returns the pair of a step, and the name of the step in losses.
    pub(crate) fn step(
        &self,
        (before, after): (usize, usize),
    ) -> Option<(&'static Pair, &'static str)> {
        let pair = self.tables.pairs.get(before.min(after))?;
        Some((pair, pair.step(before < after)))
    }

    /// Returns the rows of a method at a place; `ping` of the handshake revisions has two.
    pub(crate) fn methods(
        &self,
        at: usize,
        name: &str,
    ) -> impl Iterator<Item = &'static MethodInfo> {
        let rows = self.tables.revisions.get(at).into_iter();
        rows.flat_map(|row| row.methods)
            .filter(move |row| row.name == name)
    }

    pub(crate) fn type_named(&self, at: usize, name: &str) -> Option<&'static TypeInfo> {
        self.tables.revisions.get(at)?.type_named(name)
    }

    /// Returns the type by which an extension at an end of the route answers a request of the revision. The type has the same name in
    /// the core that had the feature before.
    pub(crate) fn extension_result(&self, method: &str) -> Option<&'static str> {
        let mut rows = self.ends.iter().flat_map(|end| match end {
            Protocol::Extension(extension) => extension.results,
            Protocol::Revision(_) => &[],
        });
        let (_, name) = rows.find(|(of, _)| *of == method)?;
        self.type_named(self.from, name).map(|ty| ty.name)
    }

    /// Returns the name at another place of a method of the first one.
    pub(crate) fn method_name<'m>(&self, method: &'m str, sender: Direction, at: usize) -> &'m str {
        self.tables.method_name(method, Some(sender), self.from, at)
    }

    /// Returns whether nothing has to be converted: both ends have the same types.
    #[doc(hidden)]
    #[must_use]
    pub fn is_untouched(&self) -> bool {
        self.from == self.to
    }

    /// Converts a definition, or the params or the result of a method. Between equal revisions the text stays as it is.
    ///
    /// # Errors
    /// Returns an error for a text that is not valid where the route begins, and for a subject that either end does not have.
    pub fn convert(&self, subject: Subject<'_>, text: &str, cx: Context) -> Conversion<Json> {
        let route = match subject {
            Subject::Method(method, _, sender) => self.of_method(method, sender),
            Subject::Type(_) => *self,
        };
        route.convert_until(subject, route.to, text, cx)
    }

    /// Converts a text up to a place on the way.
    pub(crate) fn convert_until(
        &self,
        subject: Subject<'_>,
        to: usize,
        text: &str,
        mut cx: Context,
    ) -> Conversion<Json> {
        let own = match subject {
            Subject::Method(method, Part::Result, _) => self.extension_result(method),
            _ => None,
        };
        let ordinary = own.map(|_| (subject, cx.clone()));
        let subject = own.map_or(subject, Subject::Type);
        if self.from == to {
            let json = Json::from_text(text);
            return Ok((
                json.map_err(|error| Diagnostic::of_subject(subject, &error))?,
                Vec::new(),
            ));
        }
        let outcome = (self.tables).convert(subject, self.from, to, text, &mut cx);
        let result = outcome.map_err(|failure| ConversionError::of_subject(subject, failure));
        match (result, ordinary) {
            (Err(invalid), Some((subject, cx))) => {
                (self.convert_ordinary(subject, text, cx)).unwrap_or(Err(invalid))
            }
            (result, _) => conversion(cx.finish(result?)),
        }
    }

    /// Converts a result that does not belong to the extension, between the revisions that the ends rest on. Returns `None` if it
    /// does not belong to them either.
    fn convert_ordinary(
        &self,
        subject: Subject<'_>,
        text: &str,
        mut cx: Context,
    ) -> Option<Conversion<Json>> {
        let [from, to] = (self.ends).map(|end| Protocol::from(end.revision()).place(&TABLES));
        let result = (TABLES.convert(subject, from?, to?, text, &mut cx)).ok()?;
        match conversion(cx.finish(result)) {
            Err(ConversionError::Rejected(_)) => None,
            converted => Some(converted),
        }
    }

    /// Converts the error that answers a method.
    ///
    /// # Errors
    /// An error that an adapter has to turn into something else.
    pub fn convert_error(
        &self,
        method: &str,
        error: ErrorObject,
        mut cx: Context,
    ) -> Conversion<ErrorObject> {
        let route = self.of_method(method, None);
        let result = (route.tables).convert_error(method, route.from, route.to, error, &mut cx);
        conversion(cx.finish(result))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test says what it found and stops")]

    use mcp_revisions_tables::Revision;

    use super::*;

    #[test]
    fn methods_that_a_later_core_took_back_go_by_the_extension_and_others_do_not() {
        let mut extensions = Extension::ALL.iter();
        let has_core = |one: &&Extension| one.name == "tasks" && one.core.is_some();
        // A build without the extension, or without the core that had it, has no such way.
        let Some(tasks) = extensions.find(has_core) else {
            return;
        };
        // As if the revision that the extension rests on had taken it back.
        let mut revisions = TABLES.revisions.iter();
        let later = (revisions.find(|row| row.id == tasks.revision.id())).unwrap();
        let before = tasks.core.unwrap();
        let rows = [before.revisions[0], before.revisions[1], *later];
        let joined = Tables::new(Box::leak(Box::new(rows)), before.pairs);
        let tables: &Tables = Box::leak(Box::new(joined));
        let earliest: Revision = rows[0].id.parse().unwrap();
        let route = Route::between(earliest, tasks.revision).unwrap();
        let sender = Some(Direction::ClientToServer);
        let by_it = |route: Route, method| route.by_extension(tasks, tables, method, sender);
        let way = by_it(route, "tasks/get").unwrap();
        assert_eq!((way.from, way.to), (0, 2));
        assert_eq!(way.steps().collect::<Vec<_>>(), [(0, 1), (1, 2)]);
        assert_eq!(way.title(1), "revision tasks");
        let back = Route::between(tasks.revision, earliest).unwrap();
        let way = by_it(back, "tasks/get").unwrap();
        assert_eq!(way.steps().collect::<Vec<_>>(), [(2, 1), (1, 0)]);
        for other in ["tools/call", "tasks/list"] {
            assert!(by_it(route, other).is_none(), "{other}");
        }
        // One between other revisions does not go by it.
        let outside = Route::between(
            TABLES.revisions[0].id.parse::<Revision>().unwrap(),
            earliest,
        );
        assert!(by_it(outside.unwrap(), "tasks/get").is_none());
    }
}
