//! Reading and writing the types of `log`.

use mcp_wire::{Decode, Encode, Fault, Members, Reader, Writer};

use crate::{DoneNotification, LogNotification, LogParams};

impl Decode for DoneNotification {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, Fault> {
        static MEMBERS: Members = Members::open("DoneNotification", &["method"]);
        let mut object = reader.object(&MEMBERS)?;
        while object.next(reader)?.is_some() {
            reader.constant("notifications/done")?;
        }
        object.require_seen(0)?;
        Ok(Self { extra: object.into_extra() })
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
    fn decode(reader: &mut Reader<'_>) -> Result<Self, Fault> {
        static MEMBERS: Members = Members::open(
            "LogNotification",
            &["method", "params"],
        );
        let mut params = None;
        let mut object = reader.object(&MEMBERS)?;
        while let Some(member) = object.next(reader)? {
            match member {
                0 => reader.constant("notifications/log")?,
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
    fn decode(reader: &mut Reader<'_>) -> Result<Self, Fault> {
        static MEMBERS: Members = Members::open("LogParams", &["text"]);
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

impl Encode for LogParams {
    fn encode(&self, writer: &mut Writer) {
        let mut object = writer.object();
        object.member("text", &self.text);
        object.extra(&self.extra);
        object.end();
    }
}

mcp_wire::serde_bridge!(DoneNotification, LogNotification, LogParams);
