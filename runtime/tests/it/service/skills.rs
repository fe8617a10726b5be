//! Skills: folders that a router serves, and a client that uses nothing that it has not verified.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use mcp_revisions::Revision;
use mcp_revisions::core::extensions::skills::{self as ext, CallServer as _};
use mcp_revisions::latest::{self as mcp, CallServer as _};
use mcp_revisions::mcp_wire::{Json, JsonObject};
use mcp_revisions::service::client::skills::SkillError;
use mcp_revisions::service::{Client, Error, McpServer, Router};
use mcp_revisions::{Latest, RevisionSet};
use serde_json::{Value, json};
use tokio::io::split;

use crate::service::peer::revisions;
use crate::support::served;

/// A folder that is removed at the end of its test.
struct TestFolder(PathBuf);

impl TestFolder {
    fn new() -> Self {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let folder =
            std::env::temp_dir().join(format!("mcp-skills-{}-{number}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }

    fn with(self, path: &str, content: impl AsRef<[u8]>) -> Self {
        let path = self.0.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
        self
    }

    fn path(&self, path: &str) -> PathBuf {
        self.0.join(path)
    }

    /// Returns what `build` says of its skills.
    fn problem(&self) -> String {
        let built = Router::new().skills(&self.0).build("example", "1");
        built.unwrap_err().to_string()
    }
}

impl Drop for TestFolder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn of_skill(name: &str) -> String {
    format!("---\nname: {name}\ndescription: Does {name}\n---\n\n# {name}\n")
}

const REFUNDS: &str = "---\nname: refunds\ndescription: >-\n  Process refunds\n  by policy\nlicense: Apache-2.0\nmetadata:\n  version: \"2.10\"\n  rank: 1.50\nallowed-tools: [Read, Bash]\n---\n\nSee `examples/e mail.md`.\n";

/// Two skills, one of them with a nested one, beside what is not served.
fn folder() -> TestFolder {
    TestFolder::new()
        .with("git-workflow/SKILL.md", of_skill("git-workflow"))
        .with("acme/billing/refunds/SKILL.md", REFUNDS)
        .with("acme/billing/refunds/examples/e mail.md", "Dear \u{e9}\r\n")
        .with(
            "acme/billing/refunds/examples/logo.png",
            [0x89, 0x50, 0xff, 0x00],
        )
        .with(
            "acme/billing/refunds/chargebacks/SKILL.md",
            of_skill("chargebacks"),
        )
        .with("acme/billing/refunds/.secret", "hidden")
        .with("acme/README.md", "beside the skills")
        .with("README.md", "beside the skills")
}

fn connect_to(server: McpServer<Latest>, revision: Revision) -> Client {
    let (input, output) = split(served(server));
    let client = Client::builder(&mcp_revisions::program!()).with_custom_methods();
    let client = client.with_revisions(RevisionSet::from_iter([revision]));
    client.lines(input, output)
}

fn connect(router: Router, revision: Revision) -> Client {
    connect_to(router.build("example", "1").unwrap(), revision)
}

/// Returns the code and the message of an error that the server sent.
fn rpc(error: Error) -> (Option<i64>, String) {
    match error {
        Error::Rpc(error) => (error.code.as_i64(), error.message),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn the_skills_of_a_folder_are_listed_loaded_and_read_by_clients_of_every_revision() {
    let folder = folder();
    for revision in revisions() {
        let client = connect(Router::new().skills(&folder.0), revision);
        let entries = client.list_all_skills().await.unwrap();
        let uris: Vec<&str> = entries.iter().map(|entry| entry.uri.as_str()).collect();
        let expected = [
            "skill://acme/billing/refunds/SKILL.md",
            "skill://acme/billing/refunds/chargebacks/SKILL.md",
            "skill://git-workflow/SKILL.md",
        ];
        assert_eq!(uris, expected, "{revision}");
        let refunds = entries[0].clone();
        let frontmatter: Value = Json::of(&refunds.frontmatter).parse().unwrap();
        let expected = json!({
            "name": "refunds", "description": "Process refunds by policy", "license": "Apache-2.0",
            "metadata": { "version": "2.10", "rank": 1.5 }, "allowed-tools": ["Read", "Bash"],
        });
        assert_eq!(frontmatter, expected, "{revision}");
        let ext::SkillResources::List(files) = &refunds.resources else {
            panic!("{revision}: {:?}", refunds.resources)
        };
        let files: Vec<&str> = files
            .iter()
            .map(|file| file.uri.rsplit("refunds/").next().unwrap())
            .collect();
        let expected = [
            "SKILL.md",
            "chargebacks/SKILL.md",
            "examples/e%20mail.md",
            "examples/logo.png",
        ];
        assert_eq!(files, expected, "{revision}");
        let skill = client.load_skill(refunds.clone()).await.unwrap();
        assert_eq!(skill.text(), REFUNDS, "{revision}");
        assert_eq!(
            skill.read("examples/e%20mail.md").await.unwrap(),
            "Dear \u{e9}\r\n".as_bytes()
        );
        assert_eq!(
            skill.read("./examples/logo.png").await.unwrap(),
            [0x89, 0x50, 0xff, 0x00]
        );
        let params = ext::GetSkillRequestParams::new(&*refunds.uri);
        assert_eq!(
            client.get_skill(params).await.unwrap().skill,
            refunds,
            "{revision}"
        );
        let listed = client.list_all_resources().await.unwrap();
        let listed: Vec<_> = listed
            .iter()
            .map(|one| (&*one.name, one.description.as_deref()))
            .collect();
        assert_eq!(
            listed[0],
            ("refunds", Some("Process refunds by policy")),
            "{revision}"
        );
        assert_eq!(listed.len(), 3, "{revision}: only each SKILL.md is listed");
        let children = async |uri: &str| {
            let children = client.list_directory(uri).await.unwrap();
            let child = |one: &mcp::Resource| (one.name.clone(), one.mime_type.clone().unwrap());
            children.iter().map(child).collect::<Vec<_>>()
        };
        let one = |name: &str, kind: &str| (name.to_owned(), kind.to_owned());
        let directory = "inode/directory";
        assert_eq!(
            children("skill://acme").await,
            [one("billing", directory)],
            "{revision}"
        );
        let expected = [
            one("refunds", "text/markdown"),
            one("chargebacks", directory),
            one("examples", directory),
        ];
        assert_eq!(
            children("skill://acme/billing/refunds").await,
            expected,
            "{revision}"
        );
        let expected = [
            one("e mail.md", "text/markdown"),
            one("logo.png", "image/png"),
        ];
        assert_eq!(
            children("skill://acme/billing/refunds/examples").await,
            expected,
            "{revision}"
        );
        let settings = client.capabilities().unwrap().extensions.unwrap();
        let settings = settings.get(ext::IDENTIFIER).cloned().unwrap();
        assert_eq!(settings.text(), r#"{"directoryRead":true}"#, "{revision}");
        assert!(
            client.capabilities().unwrap().resources.is_some(),
            "{revision}"
        );
    }
}

#[tokio::test]
async fn a_request_reaches_no_file_that_is_not_of_a_skill() {
    let folder = folder();
    let router = Router::new().skills(&folder.0);
    let client = connect(router, Revision::V2026_07_28);
    let directory = folder.0.display().to_string();
    for uri in [
        "skill://git-workflow/../README.md",
        "skill://git-workflow/..%2FREADME.md",
        "skill://git-workflow/%2e%2e/README.md",
        "skill://README.md",
        "skill://acme/README.md",
        "skill://acme/billing/refunds/.secret",
        "skill://git-workflow//SKILL.md",
        "skill://git-workflow",
        "skill://",
        &format!("file://{directory}/README.md"),
    ] {
        let read = client
            .read_resource(mcp::ReadResourceRequestParams::new(uri))
            .await;
        assert_eq!(rpc(read.unwrap_err()).0, Some(-32602), "{uri}");
        let got = client.get_skill(ext::GetSkillRequestParams::new(uri)).await;
        assert_eq!(rpc(got.unwrap_err()).0, Some(-32602), "{uri}");
    }
    for uri in [
        "skill://git-workflow/SKILL.md",
        "skill://git-workflow/",
        "skill://nothing",
        "skill://",
    ] {
        let params = ext::ReadResourceDirectoryRequestParams::new(uri);
        let (code, message) = rpc(client.read_resource_directory(params).await.unwrap_err());
        assert_eq!(code, Some(-32602), "{uri}");
        assert!(
            message.contains("is not a directory of a skill"),
            "{message}"
        );
    }
}

#[tokio::test]
async fn skills_and_directories_are_listed_in_pages() {
    let folder = folder();
    let router = Router::new().skills(&folder.0).with_page_size(1);
    let client = connect(router, Revision::V2026_07_28);
    let page = client
        .list_skills(mcp::PaginatedRequestParams::new())
        .await
        .unwrap();
    assert_eq!(
        (page.skills.len(), page.next_cursor.as_deref()),
        (1, Some("1"))
    );
    assert_eq!(client.list_all_skills().await.unwrap().len(), 3);
    assert_eq!(
        client
            .list_directory("skill://acme/billing/refunds")
            .await
            .unwrap()
            .len(),
        3
    );
    let params = mcp::PaginatedRequestParams::new().with_cursor("x");
    assert_eq!(
        rpc(client.list_skills(params).await.unwrap_err()).0,
        Some(-32602)
    );
}

#[tokio::test]
async fn a_folder_with_a_skill_file_is_one_skill() {
    let folder = TestFolder::new().with("notes/SKILL.md", of_skill("notes"));
    let client = connect(
        Router::new().skills(folder.path("notes")),
        Revision::V2026_07_28,
    );
    let entries = client.list_all_skills().await.unwrap();
    assert_eq!(entries[0].uri, "skill://notes/SKILL.md");
}

#[test]
fn what_clients_could_not_take_is_reported_when_the_server_is_built() {
    let says = |folder: TestFolder, part: &str| {
        let problem = folder.problem();
        assert!(problem.contains(part), "{part:?} is not in: {problem}");
    };
    let with = |content: &str| TestFolder::new().with("notes/SKILL.md", content);
    says(TestFolder::new(), "no skill is in");
    says(
        TestFolder::new().with("notes/readme.md", ""),
        "no skill is in",
    );
    says(with("# Notes"), "the first line is expected to be `---`");
    says(
        with("---\nname: notes\n"),
        "a line `---` is expected after it",
    );
    says(with("---\nname: notes\n---\n"), "has no `description`");
    says(
        with("---\nname: notes\ndescription: ''\n---\n"),
        "`description` in the YAML at its start is empty",
    );
    says(
        with("---\nname: notes\ndescription: 5\n---\n"),
        "`description` in the YAML at its start is not a text",
    );
    says(
        with("---\nname: notes\ndescription: [\n---\n"),
        "the YAML at its start",
    );
    says(
        with("---\nname: notes\nname: notes\ndescription: x\n---\n"),
        "line 3: `name` stands there twice",
    );
    says(
        with("---\nname: notes\ndescription: x\nrank: .inf\n---\n"),
        "line 4: JSON has no number `.inf`",
    );
    says(
        with("---\nname: other\ndescription: x\n---\n"),
        "is called `other`, and its folder `notes`",
    );
    says(
        TestFolder::new().with("No_tes/SKILL.md", of_skill("No_tes")),
        "expected 1 to 64 lower-case letters",
    );
    says(
        with("---\nname: no--tes\ndescription: x\n---\n"),
        "expected 1 to 64 lower-case letters",
    );
    says(
        TestFolder::new().with("notes/SKILL.md", [0xff]),
        "is not UTF-8",
    );
    says(
        TestFolder(PathBuf::from("/nothing/is/here")),
        "cannot read the folder of skills",
    );
    let mut many = with(&of_skill("notes"));
    for number in 0..512 {
        many = many.with(&format!("notes/{number}"), "");
    }
    says(
        many,
        "has 513 files, and clients need take no more than 512",
    );
    let large = vec![b'x'; (16 << 20) + 1];
    says(
        with(&of_skill("notes")).with("notes/large", &large),
        "has more than 16777216 bytes",
    );
    let two = with(&of_skill("notes"))
        .with("notes/one", &large[..9 << 20])
        .with("notes/two", &large[..9 << 20]);
    says(two, "bytes, and clients need take no more than 16777216");
    let folder = with(&of_skill("notes"));
    let twice = Router::new()
        .skills(&folder.0)
        .skills(&folder.0)
        .build("example", "1");
    let problem = twice.unwrap_err().to_string();
    assert!(problem.contains("`skills` is called twice"), "{problem}");
    let beside =
        Router::new()
            .skills(&folder.0)
            .resource("skill://notes/SKILL.md", "x", || async { "" });
    let problem = beside.build("example", "1").unwrap_err().to_string();
    assert!(
        problem.contains("two resources are called `skill://notes/SKILL.md`"),
        "{problem}"
    );
}

#[cfg(unix)]
#[tokio::test]
async fn a_link_is_followed_to_a_file_of_the_folder_only() {
    use std::os::unix::fs::symlink;
    let outside = TestFolder::new().with("secret", "outside");
    let with = |link: &str, target: &Path| {
        let folder = TestFolder::new()
            .with("notes/SKILL.md", of_skill("notes"))
            .with("notes/real", "inside");
        symlink(target, folder.path(link)).unwrap();
        folder
    };
    for (target, part) in [
        (outside.path("secret"), "leads out of"),
        (outside.0.clone(), "leads out of"),
        (PathBuf::from("../../nothing"), "leads nowhere"),
        (PathBuf::from("../notes"), "does not lead to a file"),
    ] {
        let problem = with("notes/link", &target).problem();
        assert!(problem.contains(part), "{part}: {problem}");
    }
    let folder = with("notes/link", Path::new("real"));
    let client = connect(Router::new().skills(&folder.0), Revision::V2026_07_28);
    let entry = client.list_all_skills().await.unwrap().remove(0);
    let skill = client.load_skill(entry).await.unwrap();
    assert_eq!(skill.read("link").await.unwrap(), b"inside");
}

const URI: &str = "skill://pdf/SKILL.md";
const FORMS: &str = "skill://pdf/FORMS.md";
const TEXT: &str =
    "---\nname: pdf\ndescription: Fills forms\nmetadata: { rank: 1.0 }\n---\n\nBody.\n";

/// A server that says one thing of its skill, and sends another one; the URIs that clients read are noted.
struct LyingServer {
    entry: Value,
    sends: String,
    reads: Arc<Mutex<Vec<String>>>,
}

impl LyingServer {
    fn honest() -> Self {
        let digest = |text: &str| {
            let bytes = hmac_sha256::Hash::hash(text.as_bytes());
            let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            format!("sha256:{hex}")
        };
        let file = |uri: &str, text: &str| json!({ "uri": uri, "digest": digest(text), "size": text.len() });
        Self {
            entry: json!({
                "uri": URI,
                "frontmatter": { "name": "pdf", "description": "Fills forms", "metadata": { "rank": 1 } },
                "resources": [file(URI, TEXT), file(FORMS, "forms")],
            }),
            sends: TEXT.to_owned(),
            reads: Arc::default(),
        }
    }

    /// Connects a client, which lists the skills and loads the first one.
    async fn load(
        &self,
    ) -> Result<mcp_revisions::service::client::skills::LoadedSkill, SkillError> {
        let (sends, reads) = (self.sends.clone(), Arc::clone(&self.reads));
        let list = || async { Vec::<mcp::Resource>::new() };
        let read = move |uri: String| {
            let text = if uri == URI {
                sends.clone()
            } else {
                "forms".to_owned()
            };
            reads.lock().unwrap().push(uri);
            async move { Ok::<_, Error>(text) }
        };
        let result = json!({
            "resultType": "complete", "ttlMs": 0, "cacheScope": "private", "skills": [self.entry],
        });
        let server = Router::new()
            .dynamic_resources(list, read)
            .with_extension(ext::IDENTIFIER, JsonObject::new())
            .build("example", "1")
            .unwrap()
            .custom_method("skills/list", move |_, _| {
                let result = Json::from(result.clone());
                async move { Ok(result) }
            });
        let client = connect_to(server, Revision::V2026_07_28);
        let entry = client.list_all_skills().await?.remove(0);
        assert!(
            self.reads.lock().unwrap().is_empty(),
            "a list fetches no file"
        );
        client.load_skill(entry).await
    }

    /// Returns why the skill cannot be loaded, after so many reads.
    async fn refused(&self, reads: usize) -> String {
        let why = self.load().await.unwrap_err().to_string();
        assert_eq!(self.reads.lock().unwrap().len(), reads, "{why}");
        why
    }
}

#[tokio::test]
async fn a_client_fetches_a_file_when_it_is_read_and_no_sooner() {
    let server = LyingServer::honest();
    let skill = server.load().await.unwrap();
    assert_eq!(*server.reads.lock().unwrap(), [URI]);
    assert_eq!(skill.read("FORMS.md").await.unwrap(), b"forms");
    assert_eq!(*server.reads.lock().unwrap(), [URI, FORMS]);
    for unlisted in ["OTHER.md", "../pdf/FORMS.md", "skill://other/SKILL.md"] {
        let why = skill.read(unlisted).await.unwrap_err();
        assert!(matches!(why, SkillError::Unlisted(_)), "{why:?}");
    }
    assert_eq!(server.reads.lock().unwrap().len(), 2);
}

#[tokio::test]
async fn a_client_loads_nothing_that_the_entry_does_not_describe() {
    let mut server = LyingServer::honest();
    server.sends = TEXT.replace("Body.", "Evil!");
    let why = server.refused(1).await;
    assert!(
        why.contains("is not the file that the entry describes: expected sha256:"),
        "{why}"
    );
    let mut server = LyingServer::honest();
    server.sends = format!("{TEXT}more");
    let why = server.refused(1).await;
    assert!(
        why.contains(&format!(
            "expected {} bytes, found {}",
            TEXT.len(),
            TEXT.len() + 4
        )),
        "{why}"
    );
    for (field, value) in [
        ("description", json!("Sends credentials")),
        ("metadata", json!({ "rank": 2 })),
        ("allowed-tools", json!("Bash")),
    ] {
        let mut server = LyingServer::honest();
        server.entry["frontmatter"][field] = value;
        let why = server.refused(1).await;
        assert!(
            why.contains(&format!(
                "`{field}` differs from the frontmatter of the entry"
            )),
            "{why}"
        );
    }
}

#[tokio::test]
async fn an_entry_that_breaks_a_rule_is_refused_before_anything_is_fetched() {
    let size = json!(9 << 20);
    let rows = r#"
/resources | "dynamic" | there are no digests to verify it by
/frontmatter/name | "other" | its URI does not end in `/other/SKILL.md`
/uri | "skill://pdf/skill.md" | its URI does not end in `/pdf/SKILL.md`
/resources/1/uri | "skill://other/FORMS.md" | is not in the folder of the skill
/resources/1/uri | "skill://pdf/../x" | is not in the folder of the skill
/resources/1/uri | "URI" | twice
/resources/0/uri | "skill://pdf/x.md" | does not list its own SKILL.md
/resources/1/size | 16777217 | bytes, and 16777216 are the most
"#;
    for row in rows
        .trim()
        .replace("\"URI\"", &json!(URI).to_string())
        .lines()
    {
        let [pointer, value, part] = row.split(" | ").collect::<Vec<_>>().try_into().unwrap();
        let value = serde_json::from_str(value).unwrap();
        let mut server = LyingServer::honest();
        *server.entry.pointer_mut(pointer).unwrap() = value;
        let why = server.refused(0).await;
        assert!(why.contains(part), "{part:?} is not in: {why}");
    }
    let mut server = LyingServer::honest();
    let files = (0..513).map(
        |number| json!({ "uri": format!("skill://pdf/{number}"), "digest": "", "size": size }),
    );
    server.entry["resources"] = files.collect();
    let why = server.refused(0).await;
    assert!(
        why.contains("it has 513 files, and 512 are the most"),
        "{why}"
    );
}

#[tokio::test]
async fn a_client_asks_for_skills_only_where_they_are_declared() {
    let client = connect(
        Router::new().resource("x://y", "y", || async { "" }),
        Revision::V2026_07_28,
    );
    for why in [
        client.list_all_skills().await.unwrap_err(),
        client.list_directory("skill://pdf").await.unwrap_err(),
    ] {
        assert!(matches!(why, SkillError::NotDeclared(_)), "{why:?}");
    }
}
