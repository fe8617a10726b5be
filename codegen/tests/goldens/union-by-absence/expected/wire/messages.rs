//! Reading and writing the types of `messages`.

use mcp_wire::{Decode, Encode, Fault, Members, Reader, Tag, Writer};

use crate::{FormParams, FormParamsMode, Params, UrlParams};

impl Decode for FormParams {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, Fault> {
        static MEMBERS: Members = Members::open("FormParams", &["fields", "mode"]);
        let mut fields = None;
        let mut mode = None;
        let mut object = reader.object(&MEMBERS)?;
        while let Some(member) = object.next(reader)? {
            match member {
                0 => fields = Some(reader.value()?),
                _ => mode = reader.optional()?,
            }
        }
        Ok(Self {
            fields: object.require(0, fields)?,
            mode,
            extra: object.into_extra(),
        })
    }
}

impl Encode for FormParams {
    fn encode(&self, writer: &mut Writer) {
        let mut object = writer.object();
        object.member("fields", &self.fields);
        object.optional("mode", &self.mode);
        object.extra(&self.extra);
        object.end();
    }
}

impl Decode for FormParamsMode {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, Fault> {
        reader.string_enum(&["form"]).map(|_| Self::Form)
    }
}

impl Encode for FormParamsMode {
    fn encode(&self, writer: &mut Writer) {
        self.as_str().encode(writer);
    }
}

impl Decode for Params {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, Fault> {
        static TAG: Tag = Tag::optional("Params", "mode", &["form", "url"]);
        match reader.tag(&TAG)? {
            Some(0) => reader.value().map(Self::Form),
            Some(_) => reader.value().map(Self::Url),
            None => reader.value().map(Self::Form),
        }
    }
}

impl Encode for Params {
    fn encode(&self, writer: &mut Writer) {
        match self {
            Self::Form(value) => value.encode(writer),
            Self::Url(value) => value.encode(writer),
        }
    }
}

impl Decode for UrlParams {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, Fault> {
        static MEMBERS: Members = Members::open("UrlParams", &["mode", "url"]);
        let mut url = None;
        let mut object = reader.object(&MEMBERS)?;
        while let Some(member) = object.next(reader)? {
            match member {
                0 => reader.constant("url")?,
                _ => url = Some(reader.value()?),
            }
        }
        object.require_seen(0)?;
        Ok(Self {
            url: object.require(1, url)?,
            extra: object.into_extra(),
        })
    }
}

impl Encode for UrlParams {
    fn encode(&self, writer: &mut Writer) {
        let mut object = writer.object();
        object.constant("mode", "url");
        object.member("url", &self.url);
        object.extra(&self.extra);
        object.end();
    }
}

mcp_wire::serde_bridge!(FormParams, FormParamsMode, Params, UrlParams);
