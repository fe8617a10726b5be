//! A store in a folder: a file and a lock per server and client, which several processes share.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};

use mcp_revisions_auth::StoredSignIn;

use super::store::{StoreError, StoreGuard, TokenStore};

/// Maximum size of a file that is read.
const FILE_BYTES: u64 = 256 << 10;

/// A store in a folder that only its owner can read: a file per key.
#[derive(Debug)]
pub struct FileStore {
    folder: PathBuf,
    name: String,
}

/// A file of a store, and what it keeps, or why it cannot be read.
pub type KeptFile = (PathBuf, Result<StoredSignIn, StoreError>);

impl FileStore {
    /// Creates the store of a server. `key` are the texts that tell sign-ins apart, such as the URL, the client's id and a
    /// profile. The folder is made when something is stored.
    #[must_use]
    pub fn new(folder: impl Into<PathBuf>, key: &[&str]) -> Self {
        let mut digest = hmac_sha256::Hash::new();
        for part in key {
            digest.update((part.len() as u64).to_be_bytes());
            digest.update(part);
        }
        let name: String = digest
            .finalize()
            .iter()
            .take(16)
            .map(|byte| format!("{byte:02x}"))
            .collect();
        Self {
            folder: folder.into(),
            name,
        }
    }

    /// Returns the contents of all files of a folder, in no order. A file that cannot be read is an entry with its path and the
    /// reason.
    ///
    /// # Errors
    /// Returns an error if the folder cannot be read; a missing one is empty.
    pub fn list(folder: &Path) -> Result<Vec<KeptFile>, StoreError> {
        let entries = match std::fs::read_dir(folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(StoreError::io(folder, error)),
        };
        let mut all = Vec::new();
        for entry in entries.flatten() {
            let path = entry.path();
            if path.extension().is_some_and(|it| it == "json")
                && let Some(kept) = read(&path).transpose()
            {
                all.push((path, kept));
            }
        }
        Ok(all)
    }

    /// Removes what is stored.
    ///
    /// # Errors
    /// Returns an error if the file cannot be removed.
    pub fn clear(&self) -> Result<(), StoreError> {
        match std::fs::remove_file(self.path()) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(StoreError::io(self.path(), error))
            }
            _ => Ok(()),
        }
    }

    fn path(&self) -> PathBuf {
        self.folder.join(format!("{}.json", self.name))
    }
}

impl TokenStore for FileStore {
    fn load(&self) -> Result<Option<StoredSignIn>, StoreError> {
        match std::fs::symlink_metadata(&self.folder) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(StoreError::io(&self.folder, error)),
            Ok(metadata) => {
                check(&self.folder, &metadata, true)?;
                read(&self.path())
            }
        }
    }

    fn save(&self, kept: &StoredSignIn) -> Result<(), StoreError> {
        make_folder(&self.folder)?;
        let path = self.path();
        // Each process writes a file of its own; the last one to rename it wins.
        let new = self
            .folder
            .join(format!("{}.{}.new", self.name, std::process::id()));
        let written = || -> std::io::Result<()> {
            let _ = std::fs::remove_file(&new);
            let mut options = OpenOptions::new();
            options.write(true).create_new(true);
            let mut file = private(&mut options).open(&new)?;
            file.write_all(kept.to_json().as_bytes())?;
            file.sync_all()?;
            std::fs::rename(&new, &path)
        };
        written().map_err(|error| {
            let _ = std::fs::remove_file(&new);
            StoreError::io(&path, error)
        })
    }

    fn try_lock(&self) -> Result<Option<StoreGuard>, StoreError> {
        make_folder(&self.folder)?;
        let path = self.folder.join(format!("{}.lock", self.name));
        let wrong = |error: std::io::Error| StoreError::io(&path, error);
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        let file = private(&mut options).open(&path).map_err(wrong)?;
        // The operating system gives it back when the process ends, however it does.
        match file.try_lock() {
            Ok(()) => Ok(Some(Box::new(FileGuard(file)))),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(wrong(error)),
        }
    }
}

/// The lock of a file.
struct FileGuard(File);

impl Drop for FileGuard {
    fn drop(&mut self) {
        let _ = self.0.unlock();
    }
}

/// Reads a file that only its owner may read.
fn read(path: &Path) -> Result<Option<StoredSignIn>, StoreError> {
    let wrong = |error: std::io::Error| StoreError::io(path, error);
    let file = match std::fs::symlink_metadata(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(wrong(error)),
        Ok(metadata) => {
            check(path, &metadata, false)?;
            File::open(path).map_err(wrong)?
        }
    };
    let mut text = String::new();
    let read = file.take(FILE_BYTES).read_to_string(&mut text);
    read.map_err(wrong)?;
    let kept = StoredSignIn::from_json(&text);
    kept.map(Some).map_err(|error| StoreError::Invalid {
        path: path.to_owned(),
        error,
    })
}

#[cfg(unix)]
fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    use std::os::unix::fs::OpenOptionsExt as _;
    options.mode(0o600)
}

#[cfg(not(unix))]
fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    options
}

/// Checks that a file or a folder is what it seems, and is not for others.
fn check(path: &Path, metadata: &std::fs::Metadata, is_folder: bool) -> Result<(), StoreError> {
    let wrong = |why: String| {
        Err(StoreError::Unsafe {
            path: path.to_owned(),
            why,
        })
    };
    if metadata.file_type().is_symlink() {
        return wrong("it is a symbolic link: remove it".to_owned());
    }
    if metadata.is_dir() != is_folder {
        return wrong("it is not of the expected kind: remove it".to_owned());
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        if metadata.mode() & 0o077 != 0 {
            let mode = metadata.mode() & 0o777;
            return wrong(format!(
                "others can read it (mode {mode:o}): remove it, or make it yours with chmod go="
            ));
        }
    }
    Ok(())
}

fn make_folder(folder: &Path) -> Result<(), StoreError> {
    let wrong = |error: std::io::Error| StoreError::io(folder, error);
    if let Some(above) = folder.parent() {
        std::fs::create_dir_all(above).map_err(wrong)?;
    }
    let mut builder = std::fs::DirBuilder::new();
    #[cfg(unix)]
    {
        use std::os::unix::fs::DirBuilderExt as _;
        builder.mode(0o700);
    }
    match builder.create(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => {
            return Err(wrong(error));
        }
        _ => {}
    }
    let metadata = std::fs::symlink_metadata(folder).map_err(wrong)?;
    check(folder, &metadata, true)
}
