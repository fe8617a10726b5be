//! A request that was passed to another replica: the parts of its response, and the signals that go back meanwhile.

use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, StatusCode};

use super::Replica;
use super::frame::Frame;
use super::home::WINDOW;
use crate::backplane::{To, detach};

/// A part of the response to a request that was passed on.
pub(in crate::transport::http) enum Part {
    NotHere,
    Head {
        status: StatusCode,
        headers: HeaderMap,
        body: Option<Vec<u8>>,
    },
    Data(Bytes),
    End,
    /// Its replica is gone, or cannot be reached any more.
    Lost,
}

/// A request that was passed on, until its response has been read; its replica is told if that does not happen.
pub(in crate::transport::http) struct Exchange {
    replica: Arc<Replica>,
    home: String,
    number: u64,
    /// Bytes that were read since its replica was told.
    read: usize,
    is_over: bool,
}

impl Exchange {
    pub(super) fn new(replica: Arc<Replica>, home: &str, number: u64) -> Self {
        Self {
            replica,
            home: home.to_owned(),
            number,
            read: 0,
            is_over: false,
        }
    }

    /// All of the response has come, or none will.
    pub(in crate::transport::http) fn finish(&mut self) {
        self.is_over = true;
    }

    /// So many bytes were read: its replica may send more.
    pub(in crate::transport::http) fn read(&mut self, bytes: usize) {
        self.read += bytes;
        if self.read >= WINDOW / 2 {
            self.tell(&Frame::Read {
                from: self.replica.address.to_string(),
                number: self.number,
                bytes: self.read,
            });
            self.read = 0;
        }
    }

    fn tell(&self, frame: &Frame) {
        let to = To::One(&self.home);
        detach(self.replica.backplane.send(to, frame.to_bytes()));
    }
}

impl Drop for Exchange {
    fn drop(&mut self) {
        self.replica.passed().remove(&self.number);
        if !self.is_over {
            self.tell(&Frame::HungUp {
                from: self.replica.address.to_string(),
                number: self.number,
            });
        }
    }
}
