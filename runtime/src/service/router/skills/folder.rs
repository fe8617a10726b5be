//! A folder of skills on disk: which files it has, read once, within it and within limits.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{SCHEME, kinds};
use crate::service::skills::{SKILL_BYTES, SKILL_FILE};

/// Maximum number of bytes of the files of all skills, which stay in memory.
const ALL_BYTES: u64 = 256 << 20;
/// Maximum number of files and folders that are looked at.
const ENTRIES: usize = 20_000;

/// The skills in a folder, and their files, in the order of their URIs.
pub(super) struct SkillFolder {
    pub(super) skills: Vec<FolderSkill>,
    pub(super) files: Vec<FolderFile>,
}

/// A folder with a `SKILL.md`.
pub(super) struct FolderSkill {
    /// The `SKILL.md`, as errors name it.
    pub(super) place: PathBuf,
    /// The name of the folder.
    pub(super) name: String,
    /// Its URI with a slash at its end.
    pub(super) directory: String,
}

/// A file of a skill.
pub(super) struct FolderFile {
    pub(super) uri: String,
    pub(super) name: String,
    pub(super) content: Arc<[u8]>,
}

impl FolderFile {
    /// Returns its number of bytes.
    pub(super) fn size(&self) -> u64 {
        u64::try_from(self.content.len()).unwrap_or(u64::MAX)
    }
}

/// A file that was found and not read yet.
struct FoundFile {
    path: PathBuf,
    uri: String,
    name: String,
}

/// A walk through a folder.
struct FolderWalk {
    /// The folder, without links in its path.
    root: PathBuf,
    found: Vec<FoundFile>,
    skills: Vec<FolderSkill>,
    /// Folders that are still to be looked at: the path, the name, and the URI with a slash at its end.
    open: Vec<(PathBuf, String, String)>,
    entries: usize,
    problems: Vec<String>,
}

impl SkillFolder {
    /// Reads the folder. Returns the faults of the folder, each with help.
    pub(super) fn read(folder: &Path) -> Result<Self, Vec<String>> {
        let place = folder.display();
        let root = fs::canonicalize(folder)
            .map_err(|why| vec![format!("cannot read the folder of skills `{place}`: {why}")])?;
        let mut walk = FolderWalk::of(root)?;
        while let Some((path, name, directory)) = walk.open.pop() {
            walk.look_at(&path, &name, &directory);
        }
        let FolderWalk {
            found,
            mut skills,
            mut problems,
            ..
        } = walk;
        if skills.is_empty() && problems.is_empty() {
            problems.push(format!(
                "no skill is in `{place}`: expected a folder with a {SKILL_FILE} in it, or that it has one itself"
            ));
        }
        let is_served = |file: &FoundFile| {
            skills
                .iter()
                .any(|skill| file.uri.starts_with(&skill.directory))
        };
        let (mut files, mut bytes) = (Vec::new(), 0_u64);
        for file in found.into_iter().filter(is_served) {
            let FoundFile { path, uri, name } = file;
            match content(&path) {
                Ok(content) => {
                    let file = FolderFile { uri, name, content };
                    bytes = bytes.saturating_add(file.size());
                    files.push(file);
                }
                Err(problem) => problems.push(problem),
            }
            if bytes > ALL_BYTES {
                problems.push(format!(
                    "the skills in `{place}` have more than {ALL_BYTES} bytes, which stay in memory: serve fewer"
                ));
                break;
            }
        }
        if !problems.is_empty() {
            return Err(problems);
        }
        skills.sort_by(|one, other| one.directory.cmp(&other.directory));
        files.sort_by(|one, other| one.uri.cmp(&other.uri));
        Ok(Self { skills, files })
    }
}

impl FolderWalk {
    fn of(root: PathBuf) -> Result<Self, Vec<String>> {
        let first = if root.join(SKILL_FILE).is_file() {
            let utf8 = root.file_name().and_then(|name| name.to_str());
            let name = utf8.ok_or_else(|| {
                vec![format!(
                    "the folder of the skill `{}` has no name in UTF-8: rename it",
                    root.display()
                )]
            })?;
            (
                root.clone(),
                name.to_owned(),
                format!("{SCHEME}{}/", kinds::encoded(name)),
            )
        } else {
            (root.clone(), String::new(), SCHEME.to_owned())
        };
        Ok(Self {
            root,
            found: Vec::new(),
            skills: Vec::new(),
            open: vec![first],
            entries: 0,
            problems: Vec::new(),
        })
    }

    /// Notes the files of a folder, and the folders in it.
    fn look_at(&mut self, path: &Path, name: &str, directory: &str) {
        let listed = match fs::read_dir(path) {
            Ok(listed) => listed,
            Err(why) => {
                self.problems.push(format!(
                    "cannot read the folder `{}`: {why}",
                    path.display()
                ));
                return;
            }
        };
        for entry in listed {
            self.entries += 1;
            if self.entries > ENTRIES {
                self.problems.push(format!(
                    "`{}` has more than {ENTRIES} files and folders: serve a smaller folder",
                    self.root.display()
                ));
                self.open.clear();
                return;
            }
            let found =
                entry.map_err(|why| format!("cannot read the folder `{}`: {why}", path.display()));
            let noted = found.and_then(|entry| self.note(&entry.path(), (name, directory)));
            if let Err(problem) = noted {
                self.problems.push(problem);
            }
        }
    }

    /// Notes one file or folder.
    fn note(&mut self, path: &Path, (folder, directory): (&str, &str)) -> Result<(), String> {
        let place = path.display();
        let utf8 = path.file_name().and_then(|name| name.to_str());
        let name = utf8.ok_or_else(|| format!("the name of `{place}` is not UTF-8: rename it"))?;
        if name.starts_with('.') {
            return Ok(());
        }
        let kind =
            fs::symlink_metadata(path).map_err(|why| format!("cannot read `{place}`: {why}"))?;
        let segment = kinds::encoded(name);
        if kind.is_dir() {
            let directory = format!("{directory}{segment}/");
            self.open
                .push((path.to_owned(), name.to_owned(), directory));
            return Ok(());
        }
        let path = if kind.is_symlink() {
            self.within(path)?
        } else if kind.is_file() {
            path.to_owned()
        } else {
            return Err(format!(
                "`{place}` is neither a file nor a folder: remove it"
            ));
        };
        // A file beside the skills, at the top of the folder, has no URI.
        if directory == SCHEME {
            return Ok(());
        }
        if name == SKILL_FILE {
            self.skills.push(FolderSkill {
                place: path.clone(),
                name: folder.to_owned(),
                directory: directory.to_owned(),
            });
        }
        self.found.push(FoundFile {
            path,
            uri: format!("{directory}{segment}"),
            name: name.to_owned(),
        });
        Ok(())
    }

    /// Returns the file that a link leads to, if it is within the folder.
    fn within(&self, link: &Path) -> Result<PathBuf, String> {
        let place = link.display();
        let target = fs::canonicalize(link)
            .map_err(|why| format!("the link `{place}` leads nowhere: {why}; remove it"))?;
        if !target.starts_with(&self.root) {
            return Err(format!(
                "the link `{place}` leads out of `{}`: put the file there itself",
                self.root.display()
            ));
        }
        if !target.is_file() {
            return Err(format!(
                "the link `{place}` does not lead to a file: put what it leads to there itself"
            ));
        }
        Ok(target)
    }
}

/// Reads a file; one that no skill can have is not read to its end.
fn content(path: &Path) -> Result<Arc<[u8]>, String> {
    let place = path.display();
    let failed = |why: std::io::Error| format!("cannot read `{place}`: {why}");
    let mut content = Vec::new();
    let file = File::open(path).map_err(failed)?;
    file.take(SKILL_BYTES + 1)
        .read_to_end(&mut content)
        .map_err(failed)?;
    if u64::try_from(content.len()).unwrap_or(u64::MAX) > SKILL_BYTES {
        return Err(format!(
            "`{place}` has more than {SKILL_BYTES} bytes, which no client needs to take: leave it out"
        ));
    }
    Ok(content.into())
}
