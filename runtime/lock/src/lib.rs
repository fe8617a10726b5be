//! Offers of servers, as a file that people review: canonical JSON, sorted, one fact per line.
//!
//! [`read_lists`] gets the lists of a server through any client, [`ServerOffer::of`] makes the entry of a lock of them, and
//! [`LockFile`] is the file. Nothing here opens a connection.

mod file;
mod hidden;
mod listing;
mod offer;
mod text;

pub use file::{LockFile, LockFileError};
pub use hidden::{hidden_texts, revealed};
pub use listing::{ListPage, ListingError, ListingFault, ReadPages, read_lists};
pub use offer::{LISTS, OfferList, ServerOffer};
pub use text::canonical_text;

/// The JSON Schema of a lock file.
pub const SCHEMA: &str = include_str!("../lock.schema.json");
