//! Reading and writing the types of `echo`.

use mcp_wire::{Decode, Encode, Extra, Fault, Map, Members, Reader, Record, Writer};

use crate::{EchoParams, EchoRequest, EchoResult, TickNotification};

impl Decode for EchoParams {
    fn blank() -> Self {
        Self {
            text: String::new(),
            extra: Map::new(),
        }
    }

    fn fill(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> {
        static MEMBERS: Members = Members::open("EchoParams", &["text"]).requiring(&[0]);
        reader.record(&MEMBERS, self)
    }
}

impl Record for EchoParams {
    fn member(&mut self, _: usize, reader: &mut Reader<'_>) -> Result<(), Fault> {
        self.text.fill(reader)
    }

    fn extra(&mut self) -> Option<&mut Extra> {
        Some(&mut self.extra)
    }
}

impl Encode for EchoParams {
    fn encode(&self, writer: &mut Writer) {
        let mut object = writer.object();
        object.member("text", &self.text);
        object.extra(&self.extra);
        object.end();
    }
}

impl Decode for EchoRequest {
    fn blank() -> Self {
        Self {
            params: Decode::blank(),
            extra: Map::new(),
        }
    }

    fn fill(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> {
        static MEMBERS: Members = Members::open("EchoRequest", &["method", "params"])
            .requiring(&[0, 1]);
        reader.record(&MEMBERS, self)
    }
}

impl Record for EchoRequest {
    fn member(&mut self, index: usize, reader: &mut Reader<'_>) -> Result<(), Fault> {
        match index {
            0 => reader.constant("echo/say"),
            _ => self.params.fill(reader),
        }
    }

    fn extra(&mut self) -> Option<&mut Extra> {
        Some(&mut self.extra)
    }
}

impl Encode for EchoRequest {
    fn encode(&self, writer: &mut Writer) {
        let mut object = writer.object();
        object.constant("method", "echo/say");
        object.member("params", &self.params);
        object.extra(&self.extra);
        object.end();
    }
}

impl Decode for EchoResult {
    fn blank() -> Self {
        Self {
            text: String::new(),
            extra: Map::new(),
        }
    }

    fn fill(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> {
        static MEMBERS: Members = Members::open("EchoResult", &["text"]).requiring(&[0]);
        reader.record(&MEMBERS, self)
    }
}

impl Record for EchoResult {
    fn member(&mut self, _: usize, reader: &mut Reader<'_>) -> Result<(), Fault> {
        self.text.fill(reader)
    }

    fn extra(&mut self) -> Option<&mut Extra> {
        Some(&mut self.extra)
    }
}

impl Encode for EchoResult {
    fn encode(&self, writer: &mut Writer) {
        let mut object = writer.object();
        object.member("text", &self.text);
        object.extra(&self.extra);
        object.end();
    }
}

impl Decode for TickNotification {
    fn blank() -> Self {
        Self::default()
    }

    fn fill(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> {
        static MEMBERS: Members = Members::open("TickNotification", &["method"])
            .requiring(&[0]);
        reader.record(&MEMBERS, self)
    }
}

impl Record for TickNotification {
    fn member(&mut self, _: usize, reader: &mut Reader<'_>) -> Result<(), Fault> {
        reader.constant("notifications/echo/tick")
    }

    fn extra(&mut self) -> Option<&mut Extra> {
        Some(&mut self.extra)
    }
}

impl Encode for TickNotification {
    fn encode(&self, writer: &mut Writer) {
        let mut object = writer.object();
        object.constant("method", "notifications/echo/tick");
        object.extra(&self.extra);
        object.end();
    }
}

mcp_wire::serde_bridge!(EchoParams, EchoRequest, EchoResult, TickNotification);
