//! Reading and writing the types of `messages`.

use mcp_wire::{
    Decode, Encode, Extra, Fault, Map, Members, Paths, Reader, Record, Writer,
};

use crate::{Answer, Batch, Call};

impl Decode for Answer {
    fn blank() -> Self {
        Self {
            result: String::new(),
            extra: Map::new(),
        }
    }

    fn fill(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> {
        static MEMBERS: Members = Members::open("Answer", &["result"]).requiring(&[0]);
        reader.record(&MEMBERS, self)
    }
}

impl Record for Answer {
    fn member(&mut self, _: usize, reader: &mut Reader<'_>) -> Result<(), Fault> {
        self.result.fill(reader)
    }

    fn extra(&mut self) -> Option<&mut Extra> {
        Some(&mut self.extra)
    }
}

impl Encode for Answer {
    fn encode(&self, writer: &mut Writer) {
        let mut object = writer.object();
        object.member("result", &self.result);
        object.extra(&self.extra);
        object.end();
    }
}

impl Decode for Batch {
    fn blank() -> Self {
        Self::CallList(Decode::blank())
    }

    fn fill(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> {
        match reader.first_element()? {
            None => *self = Self::CallList(Decode::blank()),
            Some(mut element) => {
                let reader = &mut element;
                static PATHS: Paths = Paths::new("Batch", &[&["method"], &["result"]]);
                match reader.first_present(&PATHS)? {
                    Some(0) => *self = Self::CallList(Decode::blank()),
                    Some(_) => *self = Self::AnswerList(Decode::blank()),
                    None => return Err(reader.undecided(&PATHS)),
                }
            }
        }
        match self {
            Self::CallList(value) => value.fill(reader),
            Self::AnswerList(value) => value.fill(reader),
        }
    }
}

impl Encode for Batch {
    fn encode(&self, writer: &mut Writer) {
        match self {
            Self::CallList(value) => value.encode(writer),
            Self::AnswerList(value) => value.encode(writer),
        }
    }
}

impl Decode for Call {
    fn blank() -> Self {
        Self {
            method: String::new(),
            extra: Map::new(),
        }
    }

    fn fill(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> {
        static MEMBERS: Members = Members::open("Call", &["method"]).requiring(&[0]);
        reader.record(&MEMBERS, self)
    }
}

impl Record for Call {
    fn member(&mut self, _: usize, reader: &mut Reader<'_>) -> Result<(), Fault> {
        self.method.fill(reader)
    }

    fn extra(&mut self) -> Option<&mut Extra> {
        Some(&mut self.extra)
    }
}

impl Encode for Call {
    fn encode(&self, writer: &mut Writer) {
        let mut object = writer.object();
        object.member("method", &self.method);
        object.extra(&self.extra);
        object.end();
    }
}

mcp_wire::serde_bridge!(Answer, Batch, Call);
