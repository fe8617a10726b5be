//! Stubs in the rule files: a row or line for each open question, which fails until its author has filled it in.

use crate::sorted::SortedMap;

use super::directory::Directory;
use super::sheet::{self, Entry};
use crate::Error;
use crate::decision::{Decision, Scope};
use crate::open::{Open, Undocumented};

impl Directory {
    /// Writes a stub for each open question; what is there already is not written twice.
    ///
    /// Returns how many stubs each file got.
    ///
    /// # Errors
    /// A rule file that is not TOML.
    pub fn scaffold(&mut self, open: &Open) -> Result<SortedMap<String, usize>, Error> {
        let mut written = SortedMap::new();
        for decision in &open.decisions {
            let name = &decision.settle.file;
            let stub = decision.settle.stub.trim_end();
            let text = self.files.entry(name.clone()).or_default();
            if text.contains(stub) {
                continue;
            }
            if let (true, Scope::Pair(pair)) = (text.is_empty(), &decision.scope) {
                *text = format!("# Decisions between {} and {}.\n", pair.old, pair.new);
            }
            let why = format!("# To decide: {}.\n", decision.open.replace('\n', " "));
            // A line belongs into its table, which stands there once.
            let table = stub.split_once('\n').filter(|_| !is_row(decision));
            let place = table.and_then(|(header, line)| {
                let at = format!("\n{text}").find(&format!("\n{header}\n"))?;
                Some((at + header.len() + 1, line))
            });
            match place {
                Some((_, line)) if text.contains(line) => continue,
                Some((at, line)) => text.insert_str(at, &format!("{why}{line}\n")),
                None => *text = sheet::with_block(text, text.len(), &format!("{why}{stub}\n")),
            }
            *written.entry(name.clone()).or_default() += 1;
        }
        for Undocumented { file, names, .. } in &open.undocumented {
            for name in names {
                if self.doc_stub(file, name)? {
                    *written.entry(file.clone()).or_default() += 1;
                }
            }
        }
        Ok(written)
    }

    /// An empty doc line for `Type` or `Type.member`; not where there is one.
    fn doc_stub(&mut self, file: &str, name: &str) -> Result<bool, Error> {
        let (section, table, key) = match name.split_once('.') {
            Some((section, member)) => (section, vec![section, "members"], member),
            None => (name, vec![name], "doc"),
        };
        let text = self.files.entry(file.to_owned()).or_default();
        let entries = sheet::entries(file, text)?;
        let last = |table: &[&str]| entries.iter().rfind(|entry| entry.table == table);
        if (entries.iter()).any(|entry| entry.table == table && entry.name == key) {
            return Ok(false);
        }
        let line = format!("{} = \"\"\n", sheet::key(key));
        let names: Vec<String> = table.iter().map(|name| sheet::key(name)).collect();
        let block = format!("[{}]\n{line}", names.join("."));
        // The end of the table, the end of what stands above it, the end of the file.
        let after = |entry: &Entry| sheet::line_end(text, entry.span.end);
        match (last(&table), last(&[section])) {
            (Some(entry), _) => text.insert_str(after(entry), &line),
            (None, Some(entry)) => text.insert_str(after(entry), &block),
            (None, None) => *text = sheet::with_block(text, text.len(), &block),
        }
        Ok(true)
    }
}

/// Whether its stub is a row, which can stand at the end of a file; a line goes into its table.
fn is_row(decision: &Decision) -> bool {
    let mut lines = decision.settle.stub.lines();
    let first = lines.find(|line| !line.starts_with('#'));
    first.is_some_and(|line| line.starts_with("[["))
}
