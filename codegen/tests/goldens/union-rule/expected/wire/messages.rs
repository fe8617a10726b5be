//! Reading and writing the types of `messages`.

use mcp_wire::{Decode, Fault, Paths, Reader};

use crate::{Answer, Long, Outcome, Short};

mcp_wire::variants! {
    Answer {
        blank Short;
        Short(Short) as_short;
        Long(Long) as_long;
    }
}

mcp_wire::record! {
    Long open {
        0 "a": optional a;
        1 "b": optional b;
    }
}

impl Outcome {
    fn decide(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> {
        static PATHS: Paths = Paths::new("Outcome", &[&["b", "next"]]);
        let present = reader.present(&PATHS)?;
        if present.has(0) {
            *self = Self::Long(Decode::blank())
        } else {
            *self = Self::Short(Decode::blank())
        }
        Ok(())
    }
}

mcp_wire::variants! {
    Outcome {
        blank Short decide;
        Short(Short) as_short;
        Long(Long) as_long;
    }
}

mcp_wire::record! {
    Short open {
        0 "a": optional a;
    }
}

mcp_wire::serde_bridge!(Answer, Long, Outcome, Short);
