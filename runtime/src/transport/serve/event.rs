//! Messages on the streams of a session, kept for a client whose connection broke and that resumes.

use std::fmt;
use std::str::FromStr;

/// The place of an event: the stream of its session, and the number of events before it there.
///
/// As text it is the `id` of a server-sent event. Stream 0 is the one that a GET opens; its events belong to no call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EventId {
    /// The stream.
    pub stream: u64,
    /// Its place there; 0 is the event that a stream begins with, and holds nothing.
    pub place: u64,
}

impl EventId {
    /// The place of the event that ends a stream whose replica is gone before its last message.
    pub const WILL: u64 = u64::MAX;

    /// Returns the events that follow this one on its stream, in order, or `None` if some are missing between them.
    pub(crate) fn without_gaps(
        self,
        events: impl Iterator<Item = KeptEvent>,
    ) -> Option<Vec<KeptEvent>> {
        let is_behind =
            |event: &KeptEvent| event.id.stream == self.stream && event.id.place > self.place;
        let mut later: Vec<_> = events.filter(is_behind).collect();
        later.sort_by_key(|event| event.id.place);
        let mut place = self.place;
        for event in &later {
            let next = event.id.place;
            // A replica that takes a session over counts from where no place is taken.
            let begins = next >> 32 > place >> 32 && next & 0xffff_ffff == 1;
            if next != Self::WILL && Some(next) != place.checked_add(1) && !begins {
                return None;
            }
            place = next;
        }
        Some(later)
    }
}

impl fmt::Display for EventId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.stream, self.place)
    }
}

/// A text that is the id of no event here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("no id of an event of this server: two numbers with a hyphen between them")]
pub struct NoEventId;

impl FromStr for EventId {
    type Err = NoEventId;

    fn from_str(text: &str) -> Result<Self, NoEventId> {
        let (stream, place) = text.split_once('-').ok_or(NoEventId)?;
        let number = |text: &str| text.parse().map_err(|_| NoEventId);
        Ok(Self {
            stream: number(stream)?,
            place: number(place)?,
        })
    }
}

/// An event that is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptEvent {
    /// The place.
    pub id: EventId,
    /// The message.
    pub text: String,
    /// Set if the stream ends with it.
    pub last: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_read_as_they_are_written() {
        let id = EventId {
            stream: 7,
            place: 12,
        };
        assert_eq!(id.to_string().parse(), Ok(id));
        for wrong in [
            "",
            "7",
            "7-",
            "-7",
            "a-1",
            "1-2-3",
            "99999999999999999999-1",
        ] {
            assert_eq!(wrong.parse::<EventId>(), Err(NoEventId), "{wrong}");
        }
    }

    #[test]
    fn a_gap_among_events_is_noticed_and_where_another_replica_goes_on_is_none() {
        let event = |place| KeptEvent {
            id: EventId { stream: 1, place },
            text: String::new(),
            last: false,
        };
        let read = |behind: u64, places: &[u64]| {
            let behind = EventId {
                stream: 1,
                place: behind,
            };
            let events = behind.without_gaps(places.iter().copied().map(event));
            events.map(|events| {
                events
                    .iter()
                    .map(|event| event.id.place)
                    .collect::<Vec<_>>()
            })
        };
        assert_eq!(read(1, &[1, 3, 2]), Some(vec![2, 3]));
        assert_eq!(read(1, &[3]), None);
        assert_eq!(read(0, &[2, 3]), None);
        let taken_over = (1 << 32) + 1;
        assert_eq!(
            read(2, &[3, taken_over, taken_over + 1]),
            Some(vec![3, taken_over, taken_over + 1])
        );
        assert_eq!(read(2, &[taken_over + 1]), None);
        let will = EventId::WILL;
        assert_eq!(read(1, &[will]), Some(vec![will]));
    }
}
