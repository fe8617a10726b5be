//! Reading and writing the types of `messages`.

use mcp_wire::{Decode, Fault, Reader, Tag};

use crate::{FormParams, FormParamsMode, Params, UrlParams};

mcp_wire::record! {
    FormParams open {
        0 "fields": required fields;
        1 "mode": optional mode;
    }
}

mcp_wire::strings! {
    FormParamsMode {
        Form "form";
    }
}

impl Params {
    fn decide(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> {
        static TAG: Tag = Tag::optional("Params", "mode", &["form", "url"]);
        match reader.tag(&TAG)? {
            Some(0) => *self = Self::Form(Decode::blank()),
            Some(_) => *self = Self::Url(Decode::blank()),
            None => *self = Self::Form(Decode::blank()),
        }
        Ok(())
    }
}

mcp_wire::variants! {
    Params {
        blank Form decide;
        Form(FormParams);
        Url(UrlParams);
    }
}

mcp_wire::record! {
    UrlParams open {
        const 0 "mode": constant("url");
        1 "url": required url;
    }
}

mcp_wire::serde_bridge!(FormParams, FormParamsMode, Params, UrlParams);
