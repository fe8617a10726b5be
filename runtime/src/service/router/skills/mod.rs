//! Skills of a router: folders of files, read when they are registered, as resources; and the answers of `skills/list`,
//! `skills/get` and `resources/directory/read`.

mod folder;
mod kinds;

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::Arc;

use mcp_revisions_core::errors::shortened;
use mcp_revisions_core::extensions::skills as ext;
use mcp_revisions_core::{Latest, latest as mcp};
use mcp_wire::args::Uri;
use mcp_wire::service::{ServerSide, Serves};
use mcp_wire::{Json, JsonObject};

use super::dynamic::page_of;
use super::handler::BoxedHandler;
use super::templates::RequestedUri;
use super::{IntoContents, RegisteredResource, Router};
use crate::service::skills::{SKILL_BYTES, SKILL_FILE, SKILL_FILES, digest_of, frontmatter_of};
use crate::service::{Error, RequestContext};
use folder::{FolderFile, FolderSkill, SkillFolder};

/// The MIME type of a directory.
const DIRECTORY: &str = "inode/directory";
/// The scheme of the URIs of skills and of their files.
const SCHEME: &str = "skill://";

/// The entries of skills, and the directories that they are in.
#[derive(Default)]
struct SkillIndex {
    entries: Vec<ext::Skill>,
    /// The children of each directory by name, by the URI of the directory.
    directories: HashMap<String, BTreeMap<String, mcp::Resource>>,
}

impl SkillIndex {
    /// Adds the entry of one skill. Returns the reason why clients would refuse it.
    fn add_entry(&mut self, skill: &FolderSkill, files: &[FolderFile]) -> Result<(), String> {
        let place = skill.place.display();
        let within = |file: &&FolderFile| file.uri.starts_with(&skill.directory);
        let own: Vec<&FolderFile> = files.iter().filter(within).collect();
        let uri = format!("{}{SKILL_FILE}", skill.directory);
        let found = own.iter().find(|file| file.uri == uri);
        let content = found.map_or(&[][..], |file| &file.content);
        let text = std::str::from_utf8(content)
            .map_err(|_| format!("`{place}` is not UTF-8: save it as such"))?;
        let fields = frontmatter_of(text).map_err(|why| format!("`{place}`: {why}"))?;
        let frontmatter: ext::SkillFrontmatter = Json::from(serde_json::Value::Object(fields))
            .read()
            .map_err(|why| format!("`{place}`: {why}"))?;
        let name = &frontmatter.name;
        if !is_skill_name(name) {
            return Err(format!(
                "`{place}` is called `{}`: expected 1 to 64 lower-case letters, digits and single hyphens",
                shortened(name)
            ));
        }
        if *name != skill.name {
            return Err(format!(
                "`{place}` is called `{name}`, and its folder `{}`: give both the same name",
                skill.name
            ));
        }
        if own.len() > SKILL_FILES {
            let number = own.len();
            return Err(format!(
                "the skill of `{place}` has {number} files, and clients need take no more than {SKILL_FILES}: split it"
            ));
        }
        let bytes: u64 = own.iter().map(|file| file.size()).sum();
        if bytes > SKILL_BYTES {
            return Err(format!(
                "the skill of `{place}` has {bytes} bytes, and clients need take no more than {SKILL_BYTES}: split it"
            ));
        }
        let resources = own.iter().map(|file| {
            let digest = digest_of(&file.content);
            ext::SkillResource::new(Uri(&*file.uri), digest, file.size())
        });
        let resources = ext::SkillResources::List(resources.collect());
        self.entries
            .push(ext::Skill::new(uri, frontmatter, resources));
        Ok(())
    }

    /// Returns the frontmatter of the skill whose `SKILL.md` is at a URI.
    fn frontmatter(&self, uri: &str) -> Option<&ext::SkillFrontmatter> {
        let entry = self.entries.iter().find(|entry| entry.uri == uri);
        entry.map(|entry| &entry.frontmatter)
    }

    /// Adds a file to its directory, and the directories above it.
    fn add_child(&mut self, child: mcp::Resource) {
        let uri = child.uri.clone();
        let (mut directory, mut name) = uri.rsplit_once('/').unwrap_or_default();
        let mut resource = child;
        loop {
            let children = self.directories.entry(directory.to_owned()).or_default();
            children.insert(name.to_owned(), resource);
            let above = directory.rsplit_once('/');
            let Some((parent, own)) = above.filter(|(parent, _)| parent.len() >= SCHEME.len())
            else {
                return;
            };
            resource = mcp::Resource::new(Uri(directory), kinds::decoded(own));
            resource.mime_type = Some(DIRECTORY.to_owned());
            (directory, name) = (parent, own);
        }
    }
}

/// Returns whether a text can be the name of a skill: 1 to 64 lower-case letters, digits and single hyphens within.
fn is_skill_name(name: &str) -> bool {
    let plain = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-');
    let is_edged = name.starts_with('-') || name.ends_with('-') || name.contains("--");
    (1..=64).contains(&name.len()) && name.bytes().all(plain) && !is_edged
}

/// Returns the resource of a file for lists; `SKILL.md` has the name and the description of its skill.
fn resource_of(file: &FolderFile, of: Option<&ext::SkillFrontmatter>) -> mcp::Resource {
    let name = of.map_or(&*file.name, |of| &*of.name);
    let mut resource = mcp::Resource::new(Uri(&*file.uri), name);
    resource.description = of.map(|of| of.description.clone());
    resource.mime_type = Some(kinds::mime_type(&file.name, &file.content).to_owned());
    resource.size = Some(file.size().into());
    resource
}

/// Returns a handler that answers with the content of a file.
fn reader(content: Arc<[u8]>) -> BoxedHandler<RequestedUri, mcp::ReadResourceOutcome> {
    Box::new(move |asked, _| {
        let contents = match std::str::from_utf8(&content) {
            Ok(text) => text.to_owned().into_contents(asked.uri, asked.mime_type),
            Err(_) => content.to_vec().into_contents(asked.uri, asked.mime_type),
        };
        Box::pin(std::future::ready(contents))
    })
}

/// The handlers of the extension.
struct SkillHandlers {
    index: Arc<SkillIndex>,
    page_size: Option<usize>,
}

impl ext::ServerHandlers<RequestContext<Latest>> for SkillHandlers {
    async fn list_skills(
        &self,
        params: mcp::PaginatedRequestParams,
        _: RequestContext<Latest>,
    ) -> Result<ext::ListSkillsResult, Error> {
        let entries = self.index.entries.iter().cloned();
        let (page, next) = page_of(entries, params.cursor.as_deref(), self.page_size)?;
        let mut result = ext::ListSkillsResult::new(page);
        result.next_cursor = next;
        Ok(result)
    }

    async fn get_skill(
        &self,
        params: ext::GetSkillRequestParams,
        _: RequestContext<Latest>,
    ) -> Result<ext::GetSkillResult, Error> {
        let found = self
            .index
            .entries
            .iter()
            .find(|entry| entry.uri == params.uri);
        let entry = found.ok_or_else(|| {
            let uri = shortened(&params.uri);
            Error::InvalidParams(format!("no skill is at `{uri}`"))
        })?;
        Ok(ext::GetSkillResult::new(entry.clone()))
    }

    async fn read_resource_directory(
        &self,
        params: ext::ReadResourceDirectoryRequestParams,
        _: RequestContext<Latest>,
    ) -> Result<ext::ReadResourceDirectoryResult, Error> {
        let found = self.index.directories.get(&params.uri);
        let children = found.ok_or_else(|| {
            let uri = shortened(&params.uri);
            Error::InvalidParams(format!("`{uri}` is not a directory of a skill"))
        })?;
        let resources = children.values().cloned();
        let (page, next) = page_of(resources, params.cursor.as_deref(), self.page_size)?;
        let mut result = ext::ReadResourceDirectoryResult::new(page);
        result.next_cursor = next;
        Ok(result)
    }
}

/// Returns the handler of a method of the extension.
fn method_handler(name: &'static str, index: Arc<SkillIndex>) -> super::MethodHandler {
    Box::new(move |(params, page_size), cx| {
        let index = Arc::clone(&index);
        let stated = cx.with_declared(&params);
        Box::pin(async move {
            type Context = RequestContext<Latest>;
            let handlers = SkillHandlers { index, page_size };
            <ext::Protocol as Serves<ServerSide, SkillHandlers, Context>>::request(
                &handlers, name, &stated, cx,
            )
            .await
        })
    })
}

impl Router {
    /// Serves the skills in a folder: each folder with a `SKILL.md`, at any depth, or the folder itself if it has one. Declares
    /// the extension `io.modelcontextprotocol/skills`, and answers `skills/list`, `skills/get` and `resources/directory/read`.
    /// Feature `skills`.
    ///
    /// The file `refunds/examples/email.md` is the resource `skill://refunds/examples/email.md`; `resources/list` has each
    /// `SKILL.md`. All files are read now and stay in memory, so that they fit their digests: a change needs a new server.
    /// Hidden files, whose names begin with a dot, and files outside of skills are not served.
    ///
    /// [`build`](Self::build) reports what cannot be served: a link that leads out of the folder or to a folder, a `SKILL.md`
    /// without a name or a description or with a name that its folder does not have, a skill of more than 512 files or 16 MiB,
    /// more than 256 MiB in all, and a second folder.
    ///
    /// ```no_run
    /// # use mcp_revisions::service::{Router, ServeError};
    /// # fn main() -> Result<(), ServeError> {
    /// let server = Router::new().skills("skills").build("docs", "1.0")?;
    /// # drop(server);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// [Specification](https://github.com/modelcontextprotocol/ext-skills/blob/main/specification/beta/skills.mdx)
    pub fn skills(mut self, folder: impl AsRef<Path>) -> Self {
        if self.extensions.contains_key(ext::IDENTIFIER) {
            let problem = "`skills` is called twice: serve one folder that has all skills in it";
            self.problems.push(problem.to_owned());
            return self;
        }
        let SkillFolder { skills, files } = match SkillFolder::read(folder.as_ref()) {
            Ok(read) => read,
            Err(problems) => {
                self.problems.extend(problems);
                return self;
            }
        };
        let mut index = SkillIndex::default();
        for skill in &skills {
            if let Err(problem) = index.add_entry(skill, &files) {
                self.problems.push(problem);
            }
        }
        for file in files {
            let frontmatter = index.frontmatter(&file.uri);
            let (resource, is_listed) = (resource_of(&file, frontmatter), frontmatter.is_some());
            index.add_child(resource.clone());
            let read = reader(file.content);
            let registered = RegisteredResource {
                resource,
                is_listed,
                read,
            };
            let is_free = self.resources.add(&file.uri, registered);
            self.report_taken(is_free, "resources", &file.uri);
        }
        let index = Arc::new(index);
        for method in ext::METHODS {
            let handler = method_handler(method.name, Arc::clone(&index));
            self.methods.push((method.name, handler));
        }
        let settings = ext::SkillsServerSettings::new().with_directory_read(true);
        let declared = JsonObject::try_from(Json::of(&settings)).unwrap_or_default();
        self.with_extension(ext::IDENTIFIER, declared)
    }
}
