//! Reading and writing the types of `messages`.

use mcp_wire::{Decode, Fault, Reader, Tag};

use crate::{Answer, Done, Open, OrderResult, OrderResultDone, OrderResultOpen};

mcp_wire::record! {
    Answer open {
        0 "note": optional note;
    }
}

mcp_wire::record! {
    Done open {
        const 0 "state": constant("done");
    }
}

mcp_wire::record! {
    Open open {
        const 0 "state": constant("open");
        1 "since": required since;
    }
}

impl OrderResult {
    fn decide(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> {
        static TAG: Tag = Tag::new("OrderResult", "state", &["done", "open"]);
        match reader.tag(&TAG)? {
            Some(0) => *self = Self::Done(Decode::blank()),
            Some(_) => *self = Self::Open(Decode::blank()),
            None => return Err(reader.missing_tag(&TAG)),
        }
        Ok(())
    }
}

mcp_wire::variants! {
    OrderResult {
        blank Open decide;
        Open(OrderResultOpen) as_open;
        Done(OrderResultDone) as_done;
    }
}

mcp_wire::record! {
    OrderResultDone open {
        const 0 "state": constant("done");
        1 "note": optional note;
    }
}

mcp_wire::record! {
    OrderResultOpen open {
        const 0 "state": constant("open");
        2 "note": optional note;
        1 "since": required since;
    }
}

mcp_wire::serde_bridge!(
    Answer, Done, Open, OrderResult, OrderResultDone, OrderResultOpen
);
