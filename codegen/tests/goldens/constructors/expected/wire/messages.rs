//! Reading and writing the types of `messages`.

use mcp_wire::{Decode, Encode, Fault, Reader, Writer};

use crate::{Author, Page, PageScope};

mcp_wire::record! {
    Author open {
        1 "name": optional name;
        0 "speaks": required speaks;
    }
}

mcp_wire::record! {
    Page open {
        0 "body": required body;
        1 "by": required by;
        2 "number": required number;
        3 "scope": required scope;
        4 "uri": required uri;
    }
}

impl Decode for PageScope {
    fn blank() -> Self {
        Self::All
    }

    fn fill(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> {
        *self = match reader.string_enum(&["all", "mine"])? {
            0 => Self::All,
            _ => Self::Mine,
        };
        Ok(())
    }
}

impl Encode for PageScope {
    fn encode(&self, writer: &mut Writer) {
        self.as_str().encode(writer);
    }
}

mcp_wire::serde_bridge!(Author, Page, PageScope);
