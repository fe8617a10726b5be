//! Types of MCP written by hand the way the generator writes them.

use mcp_wire::{
    Decode, Encode, Extra, Fault, Integer, Json, JsonObject, Map, Members, Paths, Reader, Tag,
    Writer,
};

/// Optional members of every presence.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ToolAnnotations {
    pub(crate) title: Option<String>,
    pub(crate) read_only_hint: Option<bool>,
    pub(crate) destructive_hint: Option<bool>,
    pub(crate) extra: Extra,
}

impl Decode for ToolAnnotations {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, Fault> {
        static MEMBERS: Members = Members::open(
            "ToolAnnotations",
            &["destructiveHint", "readOnlyHint", "title"],
        );
        let mut title = None;
        let mut read_only_hint = None;
        let mut destructive_hint = None;
        let mut object = reader.object(&MEMBERS)?;
        while let Some(member) = object.next(reader)? {
            match member {
                0 => destructive_hint = reader.optional()?,
                1 => read_only_hint = reader.optional()?,
                _ => title = reader.optional()?,
            }
        }
        Ok(Self {
            title,
            read_only_hint,
            destructive_hint,
            extra: object.into_extra(),
        })
    }
}

impl Encode for ToolAnnotations {
    fn encode(&self, writer: &mut Writer) {
        let mut object = writer.object();
        object.optional("destructiveHint", &self.destructive_hint);
        object.optional("readOnlyHint", &self.read_only_hint);
        object.optional("title", &self.title);
        object.extra(&self.extra);
        object.end();
    }
}

/// A struct with opaque members, a typed one and a map.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Tool {
    pub(crate) name: String,
    pub(crate) input_schema: JsonObject,
    pub(crate) title: Option<String>,
    pub(crate) description: Option<String>,
    pub(crate) annotations: Option<ToolAnnotations>,
    pub(crate) meta: Option<Map<Json>>,
    pub(crate) extra: Extra,
}

impl Decode for Tool {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, Fault> {
        static MEMBERS: Members = Members::open(
            "Tool",
            &[
                "_meta",
                "annotations",
                "description",
                "inputSchema",
                "name",
                "title",
            ],
        );
        let mut meta = None;
        let mut annotations = None;
        let mut description = None;
        let mut input_schema = None;
        let mut name = None;
        let mut title = None;
        let mut object = reader.object(&MEMBERS)?;
        while let Some(member) = object.next(reader)? {
            match member {
                0 => meta = reader.optional()?,
                1 => annotations = reader.optional()?,
                2 => description = reader.optional()?,
                3 => input_schema = Some(reader.value()?),
                4 => name = Some(reader.value()?),
                _ => title = reader.optional()?,
            }
        }
        Ok(Self {
            name: object.require(4, name)?,
            input_schema: object.require(3, input_schema)?,
            title,
            description,
            annotations,
            meta,
            extra: object.into_extra(),
        })
    }
}

impl Encode for Tool {
    fn encode(&self, writer: &mut Writer) {
        let mut object = writer.object();
        object.optional("_meta", &self.meta);
        object.optional("annotations", &self.annotations);
        object.optional("description", &self.description);
        object.member("inputSchema", &self.input_schema);
        object.member("name", &self.name);
        object.optional("title", &self.title);
        object.extra(&self.extra);
        object.end();
    }
}

/// A list.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ListToolsResult {
    pub(crate) tools: Vec<Tool>,
    pub(crate) next_cursor: Option<String>,
    pub(crate) extra: Extra,
}

impl Decode for ListToolsResult {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, Fault> {
        static MEMBERS: Members = Members::open("ListToolsResult", &["nextCursor", "tools"]);
        let mut next_cursor = None;
        let mut tools = None;
        let mut object = reader.object(&MEMBERS)?;
        while let Some(member) = object.next(reader)? {
            match member {
                0 => next_cursor = reader.optional()?,
                _ => tools = Some(reader.value()?),
            }
        }
        Ok(Self {
            tools: object.require(1, tools)?,
            next_cursor,
            extra: object.into_extra(),
        })
    }
}

impl Encode for ListToolsResult {
    fn encode(&self, writer: &mut Writer) {
        let mut object = writer.object();
        object.optional("nextCursor", &self.next_cursor);
        object.member("tools", &self.tools);
        object.extra(&self.extra);
        object.end();
    }
}

/// A case of a union, with its constant.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct TextContent {
    pub(crate) text: String,
    pub(crate) extra: Extra,
}

impl Decode for TextContent {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, Fault> {
        static MEMBERS: Members = Members::open("TextContent", &["type", "text"]);
        let mut text = None;
        let mut object = reader.object(&MEMBERS)?;
        while let Some(member) = object.next(reader)? {
            match member {
                0 => reader.constant("text")?,
                _ => text = Some(reader.value()?),
            }
        }
        object.require_seen(0)?;
        Ok(Self {
            text: object.require(1, text)?,
            extra: object.into_extra(),
        })
    }
}

impl Encode for TextContent {
    fn encode(&self, writer: &mut Writer) {
        let mut object = writer.object();
        object.constant("type", "text");
        object.member("text", &self.text);
        object.extra(&self.extra);
        object.end();
    }
}

/// Another case.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ImageContent {
    pub(crate) data: String,
    pub(crate) mime_type: String,
    pub(crate) extra: Extra,
}

impl Decode for ImageContent {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, Fault> {
        static MEMBERS: Members = Members::open("ImageContent", &["type", "data", "mimeType"]);
        let mut data = None;
        let mut mime_type = None;
        let mut object = reader.object(&MEMBERS)?;
        while let Some(member) = object.next(reader)? {
            match member {
                0 => reader.constant("image")?,
                1 => data = Some(reader.value()?),
                _ => mime_type = Some(reader.value()?),
            }
        }
        object.require_seen(0)?;
        Ok(Self {
            data: object.require(1, data)?,
            mime_type: object.require(2, mime_type)?,
            extra: object.into_extra(),
        })
    }
}

impl Encode for ImageContent {
    fn encode(&self, writer: &mut Writer) {
        let mut object = writer.object();
        object.constant("type", "image");
        object.member("data", &self.data);
        object.member("mimeType", &self.mime_type);
        object.extra(&self.extra);
        object.end();
    }
}

/// A union decided by a constant.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum ContentBlock {
    Image(ImageContent),
    Text(TextContent),
}

impl Decode for ContentBlock {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, Fault> {
        static TAG: Tag = Tag::new("ContentBlock", "type", &["image", "text"]);
        match reader.tag(&TAG)? {
            Some(0) => reader.value().map(Self::Image),
            Some(_) => reader.value().map(Self::Text),
            None => Err(reader.missing_tag(&TAG)),
        }
    }
}

impl Encode for ContentBlock {
    fn encode(&self, writer: &mut Writer) {
        match self {
            Self::Image(image) => image.encode(writer),
            Self::Text(text) => text.encode(writer),
        }
    }
}

/// A case told apart by a member that only it has.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct TextResourceContents {
    pub(crate) text: String,
    pub(crate) uri: String,
    pub(crate) mime_type: Option<String>,
    pub(crate) extra: Extra,
}

impl Decode for TextResourceContents {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, Fault> {
        static MEMBERS: Members =
            Members::open("TextResourceContents", &["mimeType", "text", "uri"]);
        let mut mime_type = None;
        let mut text = None;
        let mut uri = None;
        let mut object = reader.object(&MEMBERS)?;
        while let Some(member) = object.next(reader)? {
            match member {
                0 => mime_type = reader.optional()?,
                1 => text = Some(reader.value()?),
                _ => uri = Some(reader.value()?),
            }
        }
        Ok(Self {
            text: object.require(1, text)?,
            uri: object.require(2, uri)?,
            mime_type,
            extra: object.into_extra(),
        })
    }
}

/// As [`TextResourceContents`].
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct BlobResourceContents {
    pub(crate) blob: String,
    pub(crate) uri: String,
    pub(crate) mime_type: Option<String>,
    pub(crate) extra: Extra,
}

impl Decode for BlobResourceContents {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, Fault> {
        static MEMBERS: Members =
            Members::open("BlobResourceContents", &["blob", "mimeType", "uri"]);
        let mut blob = None;
        let mut mime_type = None;
        let mut uri = None;
        let mut object = reader.object(&MEMBERS)?;
        while let Some(member) = object.next(reader)? {
            match member {
                0 => blob = Some(reader.value()?),
                1 => mime_type = reader.optional()?,
                _ => uri = Some(reader.value()?),
            }
        }
        Ok(Self {
            blob: object.require(0, blob)?,
            uri: object.require(2, uri)?,
            mime_type,
            extra: object.into_extra(),
        })
    }
}

/// A union decided by presence.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum ResourceContents {
    Text(TextResourceContents),
    Blob(BlobResourceContents),
}

impl Decode for ResourceContents {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, Fault> {
        static PATHS: Paths = Paths::new("ResourceContents", &[&["text"], &["blob"]]);
        match reader.first_present(&PATHS)? {
            Some(0) => reader.value().map(Self::Text),
            Some(_) => reader.value().map(Self::Blob),
            None => Err(reader.undecided(&PATHS)),
        }
    }
}

/// A list of a union.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ReadResourceResult {
    pub(crate) contents: Vec<ResourceContents>,
    pub(crate) extra: Extra,
}

impl Decode for ReadResourceResult {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, Fault> {
        static MEMBERS: Members = Members::open("ReadResourceResult", &["contents"]);
        let mut contents = None;
        let mut object = reader.object(&MEMBERS)?;
        while object.next(reader)?.is_some() {
            contents = Some(reader.value()?);
        }
        Ok(Self {
            contents: object.require(0, contents)?,
            extra: object.into_extra(),
        })
    }
}

/// The params of a call, with opaque arguments.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct CallToolParams {
    pub(crate) name: String,
    pub(crate) arguments: Option<JsonObject>,
    pub(crate) meta: Option<Map<Json>>,
    pub(crate) extra: Extra,
}

impl Decode for CallToolParams {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, Fault> {
        static MEMBERS: Members = Members::open("CallToolParams", &["_meta", "arguments", "name"]);
        let mut meta = None;
        let mut arguments = None;
        let mut name = None;
        let mut object = reader.object(&MEMBERS)?;
        while let Some(member) = object.next(reader)? {
            match member {
                0 => meta = reader.optional()?,
                1 => arguments = reader.optional()?,
                _ => name = Some(reader.value()?),
            }
        }
        Ok(Self {
            name: object.require(2, name)?,
            arguments,
            meta,
            extra: object.into_extra(),
        })
    }
}

impl Encode for CallToolParams {
    fn encode(&self, writer: &mut Writer) {
        let mut object = writer.object();
        object.optional("_meta", &self.meta);
        object.optional("arguments", &self.arguments);
        object.member("name", &self.name);
        object.extra(&self.extra);
        object.end();
    }
}

/// A whole request.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct CallToolRequest {
    pub(crate) id: mcp_wire::RequestId,
    pub(crate) params: CallToolParams,
    pub(crate) extra: Extra,
}

impl Decode for CallToolRequest {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, Fault> {
        static MEMBERS: Members =
            Members::open("CallToolRequest", &["jsonrpc", "id", "method", "params"]);
        let mut id = None;
        let mut params = None;
        let mut object = reader.object(&MEMBERS)?;
        while let Some(member) = object.next(reader)? {
            match member {
                0 => reader.constant("2.0")?,
                1 => id = Some(reader.value()?),
                2 => reader.constant("tools/call")?,
                _ => params = Some(reader.value()?),
            }
        }
        object.require_seen(0)?;
        object.require_seen(2)?;
        Ok(Self {
            id: object.require(1, id)?,
            params: object.require(3, params)?,
            extra: object.into_extra(),
        })
    }
}

impl Encode for CallToolRequest {
    fn encode(&self, writer: &mut Writer) {
        let mut object = writer.object();
        object.constant("jsonrpc", "2.0");
        object.member("id", &self.id);
        object.constant("method", "tools/call");
        object.member("params", &self.params);
        object.extra(&self.extra);
        object.end();
    }
}

/// A notification full of numbers.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ProgressNotification {
    pub(crate) progress: mcp_wire::Number,
    pub(crate) total: Option<mcp_wire::Number>,
    pub(crate) token: Integer,
    pub(crate) extra: Extra,
}

impl Decode for ProgressNotification {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, Fault> {
        static MEMBERS: Members = Members::open(
            "ProgressNotification",
            &["progress", "progressToken", "total"],
        );
        let mut progress = None;
        let mut token = None;
        let mut total = None;
        let mut object = reader.object(&MEMBERS)?;
        while let Some(member) = object.next(reader)? {
            match member {
                0 => progress = Some(reader.value()?),
                1 => token = Some(reader.value()?),
                _ => total = reader.optional()?,
            }
        }
        Ok(Self {
            progress: object.require(0, progress)?,
            total,
            token: object.require(1, token)?,
            extra: object.into_extra(),
        })
    }
}
