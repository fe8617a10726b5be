//! Reading and writing the types of `messages`.

use mcp_wire::{Decode, Fault, Paths, Reader};

use crate::{Answer, Batch, Call};

mcp_wire::record! {
    Answer open {
        0 "result": required result;
    }
}

impl Batch {
    fn decide(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> {
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
        Ok(())
    }
}

mcp_wire::variants! {
    Batch {
        blank CallList decide;
        CallList(Vec<Call>);
        AnswerList(Vec<Answer>);
    }
}

mcp_wire::record! {
    Call open {
        0 "method": required method;
    }
}

mcp_wire::serde_bridge!(Answer, Batch, Call);
