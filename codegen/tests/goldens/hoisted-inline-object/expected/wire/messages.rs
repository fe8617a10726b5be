//! Reading and writing the types of `messages`.

use mcp_wire::{Decode, Encode, Extra, Fault, Map, Members, Reader, Record, Writer};

use crate::{Tool, ToolAnnotations, ToolIcons};

impl Decode for Tool {
    fn blank() -> Self {
        Self {
            annotations: None,
            icons: None,
            name: String::new(),
            extra: Map::new(),
        }
    }

    fn fill(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> {
        static MEMBERS: Members = Members::open(
                "Tool",
                &["name", "annotations", "icons"],
            )
            .requiring(&[0]);
        reader.record(&MEMBERS, self)
    }
}

impl Record for Tool {
    fn member(&mut self, index: usize, reader: &mut Reader<'_>) -> Result<(), Fault> {
        match index {
            0 => self.name.fill(reader),
            1 => self.annotations.fill(reader),
            _ => self.icons.fill(reader),
        }
    }

    fn extra(&mut self) -> Option<&mut Extra> {
        Some(&mut self.extra)
    }
}

impl Encode for Tool {
    fn encode(&self, writer: &mut Writer) {
        let mut object = writer.object();
        object.optional("annotations", &self.annotations);
        object.optional("icons", &self.icons);
        object.member("name", &self.name);
        object.extra(&self.extra);
        object.end();
    }
}

impl Decode for ToolAnnotations {
    fn blank() -> Self {
        Self::default()
    }

    fn fill(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> {
        static MEMBERS: Members = Members::open("ToolAnnotations", &["title"]);
        reader.record(&MEMBERS, self)
    }
}

impl Record for ToolAnnotations {
    fn member(&mut self, _: usize, reader: &mut Reader<'_>) -> Result<(), Fault> {
        self.title.fill(reader)
    }

    fn extra(&mut self) -> Option<&mut Extra> {
        Some(&mut self.extra)
    }
}

impl Encode for ToolAnnotations {
    fn encode(&self, writer: &mut Writer) {
        let mut object = writer.object();
        object.optional("title", &self.title);
        object.extra(&self.extra);
        object.end();
    }
}

impl Decode for ToolIcons {
    fn blank() -> Self {
        Self {
            src: String::new(),
            extra: Map::new(),
        }
    }

    fn fill(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> {
        static MEMBERS: Members = Members::open("ToolIcons", &["src"]).requiring(&[0]);
        reader.record(&MEMBERS, self)
    }
}

impl Record for ToolIcons {
    fn member(&mut self, _: usize, reader: &mut Reader<'_>) -> Result<(), Fault> {
        self.src.fill(reader)
    }

    fn extra(&mut self) -> Option<&mut Extra> {
        Some(&mut self.extra)
    }
}

impl Encode for ToolIcons {
    fn encode(&self, writer: &mut Writer) {
        let mut object = writer.object();
        object.member("src", &self.src);
        object.extra(&self.extra);
        object.end();
    }
}

mcp_wire::serde_bridge!(Tool, ToolAnnotations, ToolIcons);
