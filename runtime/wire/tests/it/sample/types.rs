//! Types of MCP written by hand the way the generator writes them.

use mcp_wire::{
    Decode, Encode, Extra, Fault, Integer, Json, JsonObject, Map, Members, Paths, Reader, Record,
    Tag, Writer,
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
    fn blank() -> Self {
        Self {
            title: None,
            read_only_hint: None,
            destructive_hint: None,
            extra: Map::new(),
        }
    }

    fn fill(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> {
        static MEMBERS: Members = Members::open(
            "ToolAnnotations",
            &["destructiveHint", "readOnlyHint", "title"],
        );
        reader.record(&MEMBERS, self)
    }
}

impl Record for ToolAnnotations {
    fn member(&mut self, index: usize, reader: &mut Reader<'_>) -> Result<(), Fault> {
        match index {
            0 => self.destructive_hint.fill(reader),
            1 => self.read_only_hint.fill(reader),
            _ => self.title.fill(reader),
        }
    }

    fn extra(&mut self) -> Option<&mut Extra> {
        Some(&mut self.extra)
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
    fn blank() -> Self {
        Self {
            name: String::new(),
            input_schema: Decode::blank(),
            title: None,
            description: None,
            annotations: None,
            meta: None,
            extra: Map::new(),
        }
    }

    fn fill(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> {
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
        )
        .requiring(&[3, 4]);
        reader.record(&MEMBERS, self)
    }
}

impl Record for Tool {
    fn member(&mut self, index: usize, reader: &mut Reader<'_>) -> Result<(), Fault> {
        match index {
            0 => self.meta.fill(reader),
            1 => self.annotations.fill(reader),
            2 => self.description.fill(reader),
            3 => self.input_schema.fill(reader),
            4 => self.name.fill(reader),
            _ => self.title.fill(reader),
        }
    }

    fn extra(&mut self) -> Option<&mut Extra> {
        Some(&mut self.extra)
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
    fn blank() -> Self {
        Self {
            tools: Vec::new(),
            next_cursor: None,
            extra: Map::new(),
        }
    }

    fn fill(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> {
        static MEMBERS: Members =
            Members::open("ListToolsResult", &["nextCursor", "tools"]).requiring(&[1]);
        reader.record(&MEMBERS, self)
    }
}

impl Record for ListToolsResult {
    fn member(&mut self, index: usize, reader: &mut Reader<'_>) -> Result<(), Fault> {
        match index {
            0 => self.next_cursor.fill(reader),
            _ => self.tools.fill(reader),
        }
    }

    fn extra(&mut self) -> Option<&mut Extra> {
        Some(&mut self.extra)
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
    fn blank() -> Self {
        Self {
            text: String::new(),
            extra: Map::new(),
        }
    }

    fn fill(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> {
        static MEMBERS: Members =
            Members::open("TextContent", &["type", "text"]).requiring(&[0, 1]);
        reader.record(&MEMBERS, self)
    }
}

impl Record for TextContent {
    fn member(&mut self, index: usize, reader: &mut Reader<'_>) -> Result<(), Fault> {
        match index {
            0 => reader.constant("text"),
            _ => self.text.fill(reader),
        }
    }

    fn extra(&mut self) -> Option<&mut Extra> {
        Some(&mut self.extra)
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
    fn blank() -> Self {
        Self {
            data: String::new(),
            mime_type: String::new(),
            extra: Map::new(),
        }
    }

    fn fill(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> {
        static MEMBERS: Members =
            Members::open("ImageContent", &["type", "data", "mimeType"]).requiring(&[0, 1, 2]);
        reader.record(&MEMBERS, self)
    }
}

impl Record for ImageContent {
    fn member(&mut self, index: usize, reader: &mut Reader<'_>) -> Result<(), Fault> {
        match index {
            0 => reader.constant("image"),
            1 => self.data.fill(reader),
            _ => self.mime_type.fill(reader),
        }
    }

    fn extra(&mut self) -> Option<&mut Extra> {
        Some(&mut self.extra)
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
    fn blank() -> Self {
        Self::Image(Decode::blank())
    }

    fn fill(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> {
        static TAG: Tag = Tag::new("ContentBlock", "type", &["image", "text"]);
        match reader.tag(&TAG)? {
            Some(0) => *self = Self::Image(Decode::blank()),
            Some(_) => *self = Self::Text(Decode::blank()),
            None => return Err(reader.missing_tag(&TAG)),
        }
        match self {
            Self::Image(value) => value.fill(reader),
            Self::Text(value) => value.fill(reader),
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
    fn blank() -> Self {
        Self {
            text: String::new(),
            uri: String::new(),
            mime_type: None,
            extra: Map::new(),
        }
    }

    fn fill(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> {
        static MEMBERS: Members =
            Members::open("TextResourceContents", &["mimeType", "text", "uri"]).requiring(&[1, 2]);
        reader.record(&MEMBERS, self)
    }
}

impl Record for TextResourceContents {
    fn member(&mut self, index: usize, reader: &mut Reader<'_>) -> Result<(), Fault> {
        match index {
            0 => self.mime_type.fill(reader),
            1 => self.text.fill(reader),
            _ => self.uri.fill(reader),
        }
    }

    fn extra(&mut self) -> Option<&mut Extra> {
        Some(&mut self.extra)
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
    fn blank() -> Self {
        Self {
            blob: String::new(),
            uri: String::new(),
            mime_type: None,
            extra: Map::new(),
        }
    }

    fn fill(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> {
        static MEMBERS: Members =
            Members::open("BlobResourceContents", &["blob", "mimeType", "uri"]).requiring(&[0, 2]);
        reader.record(&MEMBERS, self)
    }
}

impl Record for BlobResourceContents {
    fn member(&mut self, index: usize, reader: &mut Reader<'_>) -> Result<(), Fault> {
        match index {
            0 => self.blob.fill(reader),
            1 => self.mime_type.fill(reader),
            _ => self.uri.fill(reader),
        }
    }

    fn extra(&mut self) -> Option<&mut Extra> {
        Some(&mut self.extra)
    }
}

/// A union decided by presence.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum ResourceContents {
    Text(TextResourceContents),
    Blob(BlobResourceContents),
}

impl Decode for ResourceContents {
    fn blank() -> Self {
        Self::Text(Decode::blank())
    }

    fn fill(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> {
        static PATHS: Paths = Paths::new("ResourceContents", &[&["text"], &["blob"]]);
        match reader.first_present(&PATHS)? {
            Some(0) => *self = Self::Text(Decode::blank()),
            Some(_) => *self = Self::Blob(Decode::blank()),
            None => return Err(reader.undecided(&PATHS)),
        }
        match self {
            Self::Text(value) => value.fill(reader),
            Self::Blob(value) => value.fill(reader),
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
    fn blank() -> Self {
        Self {
            contents: Vec::new(),
            extra: Map::new(),
        }
    }

    fn fill(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> {
        static MEMBERS: Members =
            Members::open("ReadResourceResult", &["contents"]).requiring(&[0]);
        reader.record(&MEMBERS, self)
    }
}

impl Record for ReadResourceResult {
    fn member(&mut self, _: usize, reader: &mut Reader<'_>) -> Result<(), Fault> {
        self.contents.fill(reader)
    }

    fn extra(&mut self) -> Option<&mut Extra> {
        Some(&mut self.extra)
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
    fn blank() -> Self {
        Self {
            name: String::new(),
            arguments: None,
            meta: None,
            extra: Map::new(),
        }
    }

    fn fill(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> {
        static MEMBERS: Members =
            Members::open("CallToolParams", &["_meta", "arguments", "name"]).requiring(&[2]);
        reader.record(&MEMBERS, self)
    }
}

impl Record for CallToolParams {
    fn member(&mut self, index: usize, reader: &mut Reader<'_>) -> Result<(), Fault> {
        match index {
            0 => self.meta.fill(reader),
            1 => self.arguments.fill(reader),
            _ => self.name.fill(reader),
        }
    }

    fn extra(&mut self) -> Option<&mut Extra> {
        Some(&mut self.extra)
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
    fn blank() -> Self {
        Self {
            id: Decode::blank(),
            params: Decode::blank(),
            extra: Map::new(),
        }
    }

    fn fill(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> {
        static MEMBERS: Members =
            Members::open("CallToolRequest", &["jsonrpc", "id", "method", "params"])
                .requiring(&[0, 1, 2, 3]);
        reader.record(&MEMBERS, self)
    }
}

impl Record for CallToolRequest {
    fn member(&mut self, index: usize, reader: &mut Reader<'_>) -> Result<(), Fault> {
        match index {
            0 => reader.constant("2.0"),
            1 => self.id.fill(reader),
            2 => reader.constant("tools/call"),
            _ => self.params.fill(reader),
        }
    }

    fn extra(&mut self) -> Option<&mut Extra> {
        Some(&mut self.extra)
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
    fn blank() -> Self {
        Self {
            progress: Decode::blank(),
            total: None,
            token: Decode::blank(),
            extra: Map::new(),
        }
    }

    fn fill(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> {
        static MEMBERS: Members = Members::open(
            "ProgressNotification",
            &["progress", "progressToken", "total"],
        )
        .requiring(&[0, 1]);
        reader.record(&MEMBERS, self)
    }
}

impl Record for ProgressNotification {
    fn member(&mut self, index: usize, reader: &mut Reader<'_>) -> Result<(), Fault> {
        match index {
            0 => self.progress.fill(reader),
            1 => self.token.fill(reader),
            _ => self.total.fill(reader),
        }
    }

    fn extra(&mut self) -> Option<&mut Extra> {
        Some(&mut self.extra)
    }
}
