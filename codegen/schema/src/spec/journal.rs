//! What a command is about to change in a spec directory: noted first, so that an interruption loses nothing.

use std::collections::BTreeSet;
use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::Files;
use crate::Error;
use crate::files::write_file;

/// Hidden, so that it is no part of the spec.
const NAME: &str = ".journal.json";

/// The changes of one command.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Journal {
    /// Texts by path below the directory.
    pub(super) write: Files,
    /// Paths of files that go.
    pub(super) delete: BTreeSet<String>,
}

impl Journal {
    /// Carries out what an interrupted command has left behind; a note that it did not finish is dropped.
    pub(super) fn complete(dir: &Path) -> Result<(), Error> {
        let path = file(dir);
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(cause) if cause.kind() == ErrorKind::NotFound => return Ok(()),
            Err(cause) => return Err(Error::io("read", path, cause)),
        };
        match serde_json::from_str::<Self>(&text) {
            Ok(journal) if journal.is_below() => journal.carry_out(dir),
            _ => delete(&path),
        }
    }

    /// Whether it speaks of nothing outside its directory.
    fn is_below(&self) -> bool {
        let plain = |step: &str| !matches!(step, "" | "." | "..") && !step.contains('\\');
        let mut names = self.write.keys().chain(&self.delete);
        names.all(|name| name.split('/').all(plain))
    }

    /// Writes the note. Only one command at a time has one.
    pub(super) fn note(&self, dir: &Path) -> Result<(), Error> {
        fs::create_dir_all(dir).map_err(|cause| Error::io("create", dir, cause))?;
        let path = file(dir);
        let failed = |cause| Error::io("write", file(dir), cause);
        let text = serde_json::to_vec(self).map_err(|error| failed(error.into()))?;
        let made = OpenOptions::new().write(true).create_new(true).open(&path);
        let mut note = match made {
            Ok(note) => note,
            Err(cause) if cause.kind() == ErrorKind::AlreadyExists => {
                return Err(Error::File {
                    file: path.display().to_string().into(),
                    problem: "another command is at work on this directory; nothing was written"
                        .into(),
                    detail: "".into(),
                    help: "run the command again".into(),
                });
            }
            Err(cause) => return Err(failed(cause)),
        };
        note.write_all(&text)
            .and_then(|()| note.sync_all())
            .map_err(failed)
    }

    /// Does what it says, and then forgets it.
    pub(super) fn carry_out(&self, dir: &Path) -> Result<(), Error> {
        for (name, text) in &self.write {
            write_file(&dir.join(name), text.as_bytes())?;
        }
        for name in &self.delete {
            let path = dir.join(name);
            delete(&path)?;
            // A folder with something of the user's in it stays.
            if let Some(folder) = path.parent().filter(|folder| *folder != dir) {
                let _ = fs::remove_dir(folder);
            }
        }
        delete(&file(dir))
    }
}

fn file(dir: &Path) -> PathBuf {
    dir.join(NAME)
}

/// Deletes a file that may be gone already.
fn delete(path: &Path) -> Result<(), Error> {
    match fs::remove_file(path) {
        Err(cause) if cause.kind() != ErrorKind::NotFound => Err(Error::io("delete", path, cause)),
        _ => Ok(()),
    }
}
