//! Reading and writing the types of `messages`.

use mcp_wire::{Decode, Encode, Fault, Members, Paths, Reader, Writer};

use crate::{Answer, Batch, Call};

impl Decode for Answer {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, Fault> {
        static MEMBERS: Members = Members::open("Answer", &["result"]);
        let mut result = None;
        let mut object = reader.object(&MEMBERS)?;
        while object.next(reader)?.is_some() {
            result = Some(reader.value()?);
        }
        Ok(Self {
            result: object.require(0, result)?,
            extra: object.into_extra(),
        })
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
    fn decode(reader: &mut Reader<'_>) -> Result<Self, Fault> {
        let variant = match reader.first_element()? {
            None => 0,
            Some(mut element) => {
                let reader = &mut element;
                let variant: Result<usize, Fault> = {
                    static PATHS: Paths = Paths::new(
                        "Batch",
                        &[&["method"], &["result"]],
                    );
                    match reader.first_present(&PATHS)? {
                        Some(0) => Ok::<usize, Fault>(0),
                        Some(_) => Ok::<usize, Fault>(1),
                        None => Err(reader.undecided(&PATHS)),
                    }
                };
                variant?
            }
        };
        match variant {
            0 => reader.value().map(Self::CallList),
            _ => reader.value().map(Self::AnswerList),
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
    fn decode(reader: &mut Reader<'_>) -> Result<Self, Fault> {
        static MEMBERS: Members = Members::open("Call", &["method"]);
        let mut method = None;
        let mut object = reader.object(&MEMBERS)?;
        while object.next(reader)?.is_some() {
            method = Some(reader.value()?);
        }
        Ok(Self {
            method: object.require(0, method)?,
            extra: object.into_extra(),
        })
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
