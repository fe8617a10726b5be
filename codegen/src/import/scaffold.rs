//! Stubs in the rule files: a row or line for each open question, which fails until its author has filled it in.

use mcp_revisions_schema::sorted::SortedMap;

use super::directory::SpecDirectory;
use super::gaps::SpecGaps;
use super::sheet::{self, SheetEntry};
use mcp_revisions_schema::decision::{Decision, Scope};
use mcp_revisions_schema::{Error, Models, Undocumented};

impl SpecDirectory {
    /// Writes a stub for each open question; what is there already is not written twice.
    ///
    /// Writes the stubs, and returns their number for each file. Fails for a rule file that is not TOML.
    pub fn scaffold(&mut self, open: &SpecGaps) -> Result<SortedMap<String, usize>, Error> {
        let mut written = SortedMap::new();
        let undocumented = self.undocumented(open);
        for decision in &open.decisions {
            if self.stub(decision, &decision.settle.stub) {
                *written.entry(decision.settle.file.clone()).or_default() += 1;
            }
        }
        for Undocumented { file, missing, .. } in &undocumented {
            for (name, member) in missing {
                if self.doc_stub(file, name, member.as_deref())? {
                    *written.entry(file.clone()).or_default() += 1;
                }
            }
        }
        Ok(written)
    }

    /// Returns the items without a doc line once the proposed rows are taken: some of these make items opaque, which need none.
    fn undocumented(&self, open: &SpecGaps) -> Vec<Undocumented> {
        let mut taken = self.clone();
        let of_schemas = open.decisions.iter();
        for decision in of_schemas.filter(|one| !matches!(one.scope, Scope::Pair(_))) {
            let stub: String = (decision.settle.stub.lines())
                .filter(|line| !line.starts_with('#'))
                .map(|line| match line {
                    "reason = \"\"" => "reason = \"-\"\n".to_owned(),
                    "source = \"\"" => "source = \"-\"\n".to_owned(),
                    line => format!("{line}\n"),
                })
                .collect();
            // An empty value that is left is for a person to fill in.
            if !stub.contains("= \"\"") {
                taken.stub(decision, &stub);
            }
        }
        let mut undocumented = open.undocumented.clone();
        let spec = taken.spec();
        let models = spec.as_ref().map(Models::and_idle);
        if let Ok(Ok((models, _))) = models {
            for one in models.undocumented() {
                let mut own = undocumented.iter_mut();
                if let Some(own) = own.find(|own| (&own.of, &own.file) == (&one.of, &one.file)) {
                    own.missing = one.missing;
                }
            }
        }
        undocumented
    }

    /// Writes a stub of a decision, unless it is there already.
    fn stub(&mut self, decision: &Decision, stub: &str) -> bool {
        let trimmed = stub.trim_end();
        let text = self.files.entry(decision.settle.file.clone()).or_default();
        if text.contains(trimmed) {
            return false;
        }
        if let (true, Scope::Pair(pair)) = (text.is_empty(), &decision.scope) {
            *text = format!("# Decisions between {} and {}.\n", pair.old, pair.new);
        }
        close_last_line(text);
        let open = decision.open.replace(char::is_control, " ");
        let why = format!("# To decide: {open}.\n");
        // A line belongs into its table, which stands there once.
        let table = trimmed.split_once('\n').filter(|_| !is_row(decision));
        let place = table.and_then(|(header, line)| {
            let at = format!("\n{text}").find(&format!("\n{header}\n"))?;
            Some((at + header.len() + 1, line))
        });
        match place {
            Some((at, line)) if has_lines(text.get(at..).unwrap_or_default(), line) => {
                return false;
            }
            Some((at, line)) => text.insert_str(at, &format!("{why}{line}\n")),
            None => *text = sheet::with_block(text, text.len(), &format!("{why}{trimmed}\n")),
        }
        true
    }

    /// Returns an empty doc line for a type or for a member of it; not where there is one.
    fn doc_stub(&mut self, file: &str, section: &str, member: Option<&str>) -> Result<bool, Error> {
        let (table, key) = match member {
            Some(member) => (vec![section, "members"], member),
            None => (vec![section], "doc"),
        };
        let text = self.files.entry(file.to_owned()).or_default();
        let entries = sheet::entries(file, text)?;
        let last = |table: &[&str]| entries.iter().rfind(|entry| entry.table == table);
        if (entries.iter()).any(|entry| entry.table == table && entry.name == key) {
            return Ok(false);
        }
        close_last_line(text);
        let line = format!("{} = \"\"\n", sheet::key(key));
        let names: Vec<String> = table.iter().map(|name| sheet::key(name)).collect();
        let block = format!("[{}]\n{line}", names.join("."));
        // The end of the table, the end of what stands above it, the end of the file.
        let after = |entry: &SheetEntry| sheet::line_end(text, entry.span.end);
        match (last(&table), last(&[section])) {
            (Some(entry), _) => text.insert_str(after(entry), &line),
            (None, Some(entry)) => text.insert_str(after(entry), &block),
            (None, None) => *text = sheet::with_block(text, text.len(), &block),
        }
        Ok(true)
    }
}

/// Ends the last line, so that another one can stand below it.
fn close_last_line(text: &mut String) {
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
}

/// Returns whether lines stand in the table at the beginning of a text.
fn has_lines(text: &str, lines: &str) -> bool {
    let table = text.split("\n[").next().unwrap_or_default();
    format!("\n{table}\n").contains(&format!("\n{lines}\n"))
}

/// Returns whether its stub is a row, which can stand at the end of a file; a line goes into its table.
fn is_row(decision: &Decision) -> bool {
    let mut lines = decision.settle.stub.lines();
    let first = lines.find(|line| !line.starts_with('#'));
    first.is_some_and(|line| line.starts_with("[["))
}
