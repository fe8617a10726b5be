//! Reading and writing the types of `log`.

use mcp_wire::{Decode, Encode, Extra, Fault, Map, Members, Reader, Record, Writer};

use crate::{DoneNotification, LogNotification, LogParams};

impl Decode for DoneNotification {
    fn blank() -> Self {
        Self::default()
    }

    fn fill(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> {
        static MEMBERS: Members = Members::open("DoneNotification", &["method"])
            .requiring(&[0]);
        reader.record(&MEMBERS, self)
    }
}

impl Record for DoneNotification {
    fn member(&mut self, _: usize, reader: &mut Reader<'_>) -> Result<(), Fault> {
        reader.constant("notifications/done")
    }

    fn extra(&mut self) -> Option<&mut Extra> {
        Some(&mut self.extra)
    }
}

impl Encode for DoneNotification {
    fn encode(&self, writer: &mut Writer) {
        let mut object = writer.object();
        object.constant("method", "notifications/done");
        object.extra(&self.extra);
        object.end();
    }
}

impl Decode for LogNotification {
    fn blank() -> Self {
        Self {
            params: Decode::blank(),
            extra: Map::new(),
        }
    }

    fn fill(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> {
        static MEMBERS: Members = Members::open("LogNotification", &["method", "params"])
            .requiring(&[0, 1]);
        reader.record(&MEMBERS, self)
    }
}

impl Record for LogNotification {
    fn member(&mut self, index: usize, reader: &mut Reader<'_>) -> Result<(), Fault> {
        match index {
            0 => reader.constant("notifications/log"),
            _ => self.params.fill(reader),
        }
    }

    fn extra(&mut self) -> Option<&mut Extra> {
        Some(&mut self.extra)
    }
}

impl Encode for LogNotification {
    fn encode(&self, writer: &mut Writer) {
        let mut object = writer.object();
        object.constant("method", "notifications/log");
        object.member("params", &self.params);
        object.extra(&self.extra);
        object.end();
    }
}

impl Decode for LogParams {
    fn blank() -> Self {
        Self {
            text: String::new(),
            extra: Map::new(),
        }
    }

    fn fill(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> {
        static MEMBERS: Members = Members::open("LogParams", &["text"]).requiring(&[0]);
        reader.record(&MEMBERS, self)
    }
}

impl Record for LogParams {
    fn member(&mut self, _: usize, reader: &mut Reader<'_>) -> Result<(), Fault> {
        self.text.fill(reader)
    }

    fn extra(&mut self) -> Option<&mut Extra> {
        Some(&mut self.extra)
    }
}

impl Encode for LogParams {
    fn encode(&self, writer: &mut Writer) {
        let mut object = writer.object();
        object.member("text", &self.text);
        object.extra(&self.extra);
        object.end();
    }
}

mcp_wire::serde_bridge!(DoneNotification, LogNotification, LogParams);
