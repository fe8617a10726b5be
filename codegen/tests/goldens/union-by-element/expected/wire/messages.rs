//! Reading and writing the types of `messages`.

use mcp_wire::{Decode, Encode, Fault, Paths, Reader, Writer};

use crate::{Answer, Batch, Call};

mcp_wire::record! {
    Answer open {
        0 "result": required result;
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

mcp_wire::record! {
    Call open {
        0 "method": required method;
    }
}

mcp_wire::serde_bridge!(Answer, Batch, Call);
