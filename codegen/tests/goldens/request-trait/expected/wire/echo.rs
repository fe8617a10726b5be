//! Reading and writing the types of `echo`.

use mcp_wire::{Decode, Encode, Fault, Members, Reader, Writer};

use crate::{EchoParams, EchoRequest, EchoResult, TickNotification};

impl Decode for EchoParams {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, Fault> {
        static MEMBERS: Members = Members::open("EchoParams", &["text"]);
        let mut text = None;
        let mut object = reader.object(&MEMBERS)?;
        while object.next(reader)?.is_some() {
            text = Some(reader.value()?);
        }
        Ok(Self {
            text: object.require(0, text)?,
            extra: object.into_extra(),
        })
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
    fn decode(reader: &mut Reader<'_>) -> Result<Self, Fault> {
        static MEMBERS: Members = Members::open("EchoRequest", &["method", "params"]);
        let mut params = None;
        let mut object = reader.object(&MEMBERS)?;
        while let Some(member) = object.next(reader)? {
            match member {
                0 => reader.constant("echo/say")?,
                _ => params = Some(reader.value()?),
            }
        }
        object.require_seen(0)?;
        Ok(Self {
            params: object.require(1, params)?,
            extra: object.into_extra(),
        })
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
    fn decode(reader: &mut Reader<'_>) -> Result<Self, Fault> {
        static MEMBERS: Members = Members::open("EchoResult", &["text"]);
        let mut text = None;
        let mut object = reader.object(&MEMBERS)?;
        while object.next(reader)?.is_some() {
            text = Some(reader.value()?);
        }
        Ok(Self {
            text: object.require(0, text)?,
            extra: object.into_extra(),
        })
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
    fn decode(reader: &mut Reader<'_>) -> Result<Self, Fault> {
        static MEMBERS: Members = Members::open("TickNotification", &["method"]);
        let mut object = reader.object(&MEMBERS)?;
        while object.next(reader)?.is_some() {
            reader.constant("notifications/echo/tick")?;
        }
        object.require_seen(0)?;
        Ok(Self { extra: object.into_extra() })
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
