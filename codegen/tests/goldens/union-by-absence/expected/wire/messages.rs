//! Reading and writing the types of `messages`.

use mcp_wire::{Decode, Encode, Extra, Fault, Map, Members, Reader, Record, Tag, Writer};

use crate::{FormParams, FormParamsMode, Params, UrlParams};

impl Decode for FormParams {
    fn blank() -> Self {
        Self {
            fields: Decode::blank(),
            mode: None,
            extra: Map::new(),
        }
    }

    fn fill(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> {
        static MEMBERS: Members = Members::open("FormParams", &["fields", "mode"])
            .requiring(&[0]);
        reader.record(&MEMBERS, self)
    }
}

impl Record for FormParams {
    fn member(&mut self, index: usize, reader: &mut Reader<'_>) -> Result<(), Fault> {
        match index {
            0 => self.fields.fill(reader),
            _ => self.mode.fill(reader),
        }
    }

    fn extra(&mut self) -> Option<&mut Extra> {
        Some(&mut self.extra)
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
    fn blank() -> Self {
        Self::Form
    }

    fn fill(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> {
        reader.string_enum(&["form"])?;
        Ok(())
    }
}

impl Encode for FormParamsMode {
    fn encode(&self, writer: &mut Writer) {
        self.as_str().encode(writer);
    }
}

impl Decode for Params {
    fn blank() -> Self {
        Self::Form(Decode::blank())
    }

    fn fill(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> {
        static TAG: Tag = Tag::optional("Params", "mode", &["form", "url"]);
        match reader.tag(&TAG)? {
            Some(0) => *self = Self::Form(Decode::blank()),
            Some(_) => *self = Self::Url(Decode::blank()),
            None => *self = Self::Form(Decode::blank()),
        }
        match self {
            Self::Form(value) => value.fill(reader),
            Self::Url(value) => value.fill(reader),
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
    fn blank() -> Self {
        Self {
            url: String::new(),
            extra: Map::new(),
        }
    }

    fn fill(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> {
        static MEMBERS: Members = Members::open("UrlParams", &["mode", "url"])
            .requiring(&[0, 1]);
        reader.record(&MEMBERS, self)
    }
}

impl Record for UrlParams {
    fn member(&mut self, index: usize, reader: &mut Reader<'_>) -> Result<(), Fault> {
        match index {
            0 => reader.constant("url"),
            _ => self.url.fill(reader),
        }
    }

    fn extra(&mut self) -> Option<&mut Extra> {
        Some(&mut self.extra)
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
