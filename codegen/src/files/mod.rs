//! A set of files: compared with the disk, or written to it, and nothing of the disk touched that the set does not own.

use mcp_revisions_schema::sorted::{SortedMap, SortedSet};
use std::path::Path;
use std::{fs, io};

use mcp_revisions_schema::Error;

pub mod diff;
mod section;

pub use section::Section;

/// Maximum number of differing lines that a report shows of each changed file.
const SHOWN_LINES: usize = 10;

/// Files by their path relative to a root, with `/` between the segments.
///
/// The set owns directories: a file below one of them that is not in the set is an orphan.
/// `target/` and `Cargo.lock`, which cargo puts there, are not orphans.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileSet {
    files: SortedMap<String, Vec<u8>>,
    owned: Vec<String>,
}

impl FileSet {
    /// Creates an empty set that owns the given directories, relative to the root (`generated`).
    pub fn new(owned: Vec<String>) -> Self {
        Self {
            files: SortedMap::new(),
            owned,
        }
    }

    /// Puts a file into the set. Fails when the path is not a plain relative one below an owned directory, is taken, or differs
    /// from another one by case alone.
    pub fn insert(
        &mut self,
        path: impl Into<String>,
        bytes: impl Into<Vec<u8>>,
    ) -> Result<(), Error> {
        let path = path.into();
        let wrong = |problem: String| Error::file(path.as_str(), problem, "", "");
        if !path.split('/').all(is_plain_segment) {
            let problem = "an output path has to be relative, of plain names with `/` between them";
            return Err(wrong(problem.to_owned()));
        }
        if !self.owns(&path) {
            return Err(wrong(format!(
                "lies in none of the directories that the set owns: {}",
                self.owned.join(", ")
            )));
        }
        let is_twin = |other: &&String| other.eq_ignore_ascii_case(&path);
        if let Some(twin) = self.files.keys().find(is_twin) {
            return Err(wrong(format!(
                "`{twin}` is in the set already; on some file systems both are one file"
            )));
        }
        self.files.insert(path, bytes.into());
        Ok(())
    }

    fn owns(&self, path: &str) -> bool {
        self.owned.iter().any(|directory| is_below(path, directory))
    }

    /// Returns the bytes of a file of the set.
    pub fn get(&self, path: &str) -> Option<&[u8]> {
        self.files.get(path).map(Vec::as_slice)
    }

    /// Compares the set with the files below `root`, writing nothing. Fails with [`Error::Io`] for what cannot be read.
    pub fn compare(&self, root: &Path) -> Result<Comparison, Error> {
        let mut comparison = Comparison::default();
        for (path, wanted) in &self.files {
            match read_if_there(root, path)? {
                None => comparison.missing.push(path.clone()),
                Some(found) if found == *wanted => comparison.unchanged += 1,
                Some(found) => comparison.changed.push(Changed {
                    path: path.clone(),
                    diff: diff_of(&found, wanted),
                }),
            }
        }
        comparison.orphan = self.orphans(root)?;
        Ok(comparison)
    }

    /// Makes the disk below `root` equal to the set: deletes orphans, writes what differs, leaves the rest untouched.
    ///
    /// Each file is written beside its place and then moved there, so that a reader never meets half a file. Fails with
    /// [`Error::Io`]; what was done before stays done, and a second run completes it.
    pub fn write(&self, root: &Path) -> Result<Written, Error> {
        let mut written = Written::default();
        for path in self.orphans(root)? {
            let place = root.join(&path);
            fs::remove_file(&place).map_err(|cause| Error::io("delete", &place, cause))?;
            self.remove_empty_parents(root, &path);
            written.deleted.push(path);
        }
        for (path, wanted) in &self.files {
            if read_if_there(root, path)?.is_some_and(|found| found == *wanted) {
                written.unchanged += 1;
                continue;
            }
            write_file(&root.join(path), wanted)?;
            written.written.push(path.clone());
        }
        Ok(written)
    }

    fn orphans(&self, root: &Path) -> Result<Vec<String>, Error> {
        let mut found = SortedSet::new();
        for directory in &self.owned {
            if real_directory(root, directory)? {
                walk(root, directory, &mut found)?;
            }
        }
        let is_orphan = |path: &String| !self.files.contains_key(path);
        Ok(found.into_iter().filter(is_orphan).collect())
    }

    /// Removes directories that are empty now; one that is not empty, or not ours to remove, stays.
    fn remove_empty_parents(&self, root: &Path, path: &str) {
        let mut path = path;
        while let Some((parent, _)) = path.rsplit_once('/') {
            if !self.owns(parent) || fs::remove_dir(root.join(parent)).is_err() {
                return;
            }
            path = parent;
        }
    }
}

/// The differences between a set and the disk.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Comparison {
    /// Files whose bytes differ.
    pub changed: Vec<Changed>,
    /// Files of the set that are not on disk.
    pub missing: Vec<String>,
    /// Files on disk, in directories of the set, that the set does not have.
    pub orphan: Vec<String>,
    /// Number of equal files.
    pub unchanged: usize,
}

/// A file that differs from the one on disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Changed {
    /// Its path below the root.
    pub path: String,
    /// The first differing lines: `-` as on disk, `+` as in the set.
    pub diff: String,
}

impl Comparison {
    /// Returns whether nothing differs.
    pub fn is_clean(&self) -> bool {
        self.changed.is_empty() && self.missing.is_empty() && self.orphan.is_empty()
    }

    /// Describes what differs, with the command that mends it as the last line.
    pub fn report(&self, command: &str) -> String {
        let (missing, orphan, unchanged) = (&self.missing, &self.orphan, self.unchanged);
        if self.is_clean() {
            return format!("{unchanged} files up to date\n");
        }
        let mut out = String::new();
        for Changed { path, diff } in &self.changed {
            out.push_str(&format!("changed: {path}\n"));
            out.extend(diff.lines().map(|line| format!("    {line}\n")));
        }
        out.extend(missing.iter().map(|path| format!("missing: {path}\n")));
        out.extend(orphan.iter().map(|path| format!("orphan:  {path}\n")));
        out.push_str(&format!(
            "{} changed, {} missing, {} orphan, {unchanged} up to date\nrun: {command}\n",
            self.changed.len(),
            missing.len(),
            orphan.len(),
        ));
        out
    }
}

/// The result of writing a set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// Files that were written.
    pub written: Vec<String>,
    /// Orphans that were deleted.
    pub deleted: Vec<String>,
    /// Number of files that were right already.
    pub unchanged: usize,
}

/// Writes one file by way of a temporary one beside it; missing directories are made. Fails with [`Error::Io`]; the file is
/// then as it was.
pub fn write_file(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    if let Some(directory) = path.parent() {
        fs::create_dir_all(directory).map_err(|cause| Error::io("create", directory, cause))?;
    }
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let temporary = path.with_file_name(format!(".{name}.{}.new", std::process::id()));
    let moved = fs::write(&temporary, bytes).and_then(|()| fs::rename(&temporary, path));
    moved.map_err(|cause| {
        // The failure to tell is the first one; a left-over is an orphan of the next run.
        let _ = fs::remove_file(&temporary);
        Error::io("write", path, cause)
    })
}

fn is_plain_segment(segment: &str) -> bool {
    !matches!(segment, "" | "." | "..") && !segment.contains(['\\', ':', '\0'])
}

fn is_below(path: &str, directory: &str) -> bool {
    path.strip_prefix(directory)
        .is_some_and(|rest| rest.starts_with('/'))
}

/// Cargo's own, wherever it stands.
fn is_cargos(name: &str, is_directory: bool) -> bool {
    name == if is_directory { "target" } else { "Cargo.lock" }
}

/// Returns whether the directory is there; a symbolic link on the way to it would lead out of the tree, and is an error.
fn real_directory(root: &Path, path: &str) -> Result<bool, Error> {
    let mut place = root.to_owned();
    for segment in path.split('/') {
        place.push(segment);
        match fs::symlink_metadata(&place) {
            Ok(found) if found.is_symlink() => {
                let problem = "a symbolic link stands where a directory of the set has to be";
                return Err(Error::io("enter", place, io::Error::other(problem)));
            }
            Ok(found) if found.is_dir() => {}
            Ok(_) => return Ok(false),
            Err(cause) if is_absent(&cause) => return Ok(false),
            Err(cause) => return Err(Error::io("read", place, cause)),
        }
    }
    Ok(true)
}

/// Returns the bytes of a plain file; none when something else, or nothing, stands there.
fn read_if_there(root: &Path, path: &str) -> Result<Option<Vec<u8>>, Error> {
    if let Some((parent, _)) = path.rsplit_once('/')
        && !real_directory(root, parent)?
    {
        return Ok(None);
    }
    let place = root.join(path);
    match fs::symlink_metadata(&place) {
        Ok(found) if found.is_file() => fs::read(&place).map(Some),
        Ok(_) => Ok(None),
        Err(cause) if is_absent(&cause) => Ok(None),
        Err(cause) => Err(cause),
    }
    .map_err(|cause| Error::io("read", place, cause))
}

fn is_absent(cause: &io::Error) -> bool {
    matches!(
        cause.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}

fn walk(root: &Path, directory: &str, found: &mut SortedSet<String>) -> Result<(), Error> {
    let place = root.join(directory);
    let unreadable = |cause| Error::io("read", &place, cause);
    for listed in fs::read_dir(&place).map_err(unreadable)? {
        let entry = listed.map_err(unreadable)?;
        let kind = entry.file_type().map_err(unreadable)?;
        // A name that is not text cannot be ours, and a lossy one could name another file.
        let Ok(name) = entry.file_name().into_string() else {
            continue;
        };
        if is_cargos(&name, kind.is_dir()) {
            continue;
        }
        let path = format!("{directory}/{name}");
        if kind.is_dir() {
            walk(root, &path, found)?;
        } else {
            found.insert(path);
        }
    }
    Ok(())
}

fn diff_of(found: &[u8], wanted: &[u8]) -> String {
    match (std::str::from_utf8(found), std::str::from_utf8(wanted)) {
        (Ok(found), Ok(wanted)) => diff::lines(found, wanted, SHOWN_LINES),
        _ => {
            let (found, wanted) = (found.len(), wanted.len());
            format!("not text: {found} bytes on disk, {wanted} bytes wanted\n")
        }
    }
}
