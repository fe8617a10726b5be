//! Messages as a whole, and definitions that no method reaches.

use crate::{EchoRequest, TickNotification};

/// `ClientRequest`, which has no doc line yet.
pub type ClientRequest = EchoRequest;

/// `ServerNotification`, which has no doc line yet.
pub type ServerNotification = TickNotification;
