//! Reading and writing the types of `messages`.

use mcp_wire::{Decode, Encode, Fault, Members, Reader, Writer};

use crate::{Tool, ToolAnnotations, ToolIcons};

impl Decode for Tool {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, Fault> {
        static MEMBERS: Members = Members::open(
            "Tool",
            &["annotations", "icons", "name"],
        );
        let mut annotations = None;
        let mut icons = None;
        let mut name = None;
        let mut object = reader.object(&MEMBERS)?;
        while let Some(member) = object.next(reader)? {
            match member {
                0 => annotations = reader.optional()?,
                1 => icons = reader.optional()?,
                _ => name = Some(reader.value()?),
            }
        }
        Ok(Self {
            annotations,
            icons,
            name: object.require(2, name)?,
            extra: object.into_extra(),
        })
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
    fn decode(reader: &mut Reader<'_>) -> Result<Self, Fault> {
        static MEMBERS: Members = Members::open("ToolAnnotations", &["title"]);
        let mut title = None;
        let mut object = reader.object(&MEMBERS)?;
        while object.next(reader)?.is_some() {
            title = reader.optional()?;
        }
        Ok(Self {
            title,
            extra: object.into_extra(),
        })
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
    fn decode(reader: &mut Reader<'_>) -> Result<Self, Fault> {
        static MEMBERS: Members = Members::open("ToolIcons", &["src"]);
        let mut src = None;
        let mut object = reader.object(&MEMBERS)?;
        while object.next(reader)?.is_some() {
            src = Some(reader.value()?);
        }
        Ok(Self {
            src: object.require(0, src)?,
            extra: object.into_extra(),
        })
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
