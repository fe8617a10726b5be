//! Reading and writing the types of `messages`.

use mcp_wire::{Decode, Encode, Fault, Reader, Tag, Writer};

use crate::{FormParams, FormParamsMode, Params, UrlParams};

mcp_wire::record! {
    FormParams open {
        0 "fields": required fields;
        1 "mode": optional mode;
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

mcp_wire::record! {
    UrlParams open {
        const 0 "mode": constant("url");
        1 "url": required url;
    }
}

mcp_wire::serde_bridge!(FormParams, FormParamsMode, Params, UrlParams);
