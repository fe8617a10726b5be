//! On which line of a file a part of its schema stands, so that an annotation can point there.

use std::collections::BTreeMap;

/// The lines of a file, by JSON pointer in canonical form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Lines {
    /// The file, as it was named.
    pub(crate) file: String,
    at: BTreeMap<String, usize>,
}

/// What a scan is inside of.
enum Inside {
    /// An object, and the length of the pointer to it.
    Object(usize),
    /// A list, the length of the pointer to it, and the number of the next item.
    List(usize, usize),
}

impl Lines {
    /// Scans a text that is known to be JSON.
    pub(crate) fn of(file: &str, text: &str) -> Self {
        let mut scan = Scan {
            at: BTreeMap::from([(String::new(), 1)]),
            pointer: String::new(),
            inside: Vec::new(),
            line: 1,
        };
        scan.run(text);
        Self {
            file: file.to_owned(),
            at: scan.at,
        }
    }

    /// The line of a part, or of what is nearest around it.
    pub(crate) fn of_pointer(&self, pointer: &str) -> usize {
        let mut pointer = pointer;
        loop {
            if let Some(line) = self.at.get(pointer) {
                return *line;
            }
            pointer = pointer.rsplit_once('/').map_or("", |(around, _)| around);
        }
    }
}

struct Scan {
    at: BTreeMap<String, usize>,
    pointer: String,
    inside: Vec<Inside>,
    line: usize,
}

impl Scan {
    fn run(&mut self, text: &str) {
        let mut bytes = text.bytes().enumerate().peekable();
        // Whether the next string names a member.
        let mut awaits_name = false;
        while let Some((start, byte)) = bytes.next() {
            match byte {
                b'\n' => self.line += 1,
                b'{' => {
                    self.item();
                    self.inside.push(Inside::Object(self.pointer.len()));
                    awaits_name = true;
                }
                b'[' => {
                    self.item();
                    self.inside.push(Inside::List(self.pointer.len(), 0));
                    awaits_name = false;
                }
                b'}' | b']' => {
                    if let Some(Inside::Object(length) | Inside::List(length, _)) =
                        self.inside.pop()
                    {
                        self.pointer.truncate(length);
                    }
                    awaits_name = false;
                }
                b',' => awaits_name = matches!(self.inside.last(), Some(Inside::Object(_))),
                b'"' => {
                    let mut end = start + 1;
                    while let Some((at, byte)) = bytes.next() {
                        end = at;
                        match byte {
                            b'\\' => {
                                bytes.next();
                            }
                            b'"' => break,
                            _ => {}
                        }
                    }
                    if std::mem::take(&mut awaits_name) {
                        let literal = text.get(start..=end).unwrap_or_default();
                        self.member(&serde_json::from_str::<String>(literal).unwrap_or_default());
                    } else {
                        self.item();
                    }
                }
                b':' | b' ' | b'\t' | b'\r' => {}
                _ => {
                    // A number or a word: its first letter counts as the item.
                    self.item();
                    while bytes
                        .peek()
                        .is_some_and(|(_, next)| !matches!(next, b',' | b'}' | b']' | b'\n' | b' '))
                    {
                        bytes.next();
                    }
                }
            }
        }
    }

    fn member(&mut self, name: &str) {
        if let Some(Inside::Object(length)) = self.inside.last() {
            self.pointer.truncate(*length);
        }
        // Older schemas say `definitions`; the canonical form does not.
        let name = match (self.inside.len(), name) {
            (1, "definitions") => "$defs",
            (_, name) => name,
        };
        self.pointer.push('/');
        self.pointer.push_str(&crate::pointer::escaped(name));
        self.at.insert(self.pointer.clone(), self.line);
    }

    /// A value begins: in a list it is the next item.
    fn item(&mut self) {
        if let Some(Inside::List(length, next)) = self.inside.last_mut() {
            self.pointer.truncate(*length);
            self.pointer.push_str(&format!("/{next}"));
            *next += 1;
            self.at.insert(self.pointer.clone(), self.line);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Lines;

    #[test]
    fn parts_are_found_on_their_lines_and_others_near() {
        let text = "{\n \"definitions\": {\n  \"A/B\": {\"x\": [1,\n   {\"y\\\"\": true}]},\n  \"C\": \"{\"\n }\n}";
        let lines = Lines::of("a.json", text);
        for (pointer, line) in [
            ("", 1),
            ("/$defs", 2),
            ("/$defs/A~1B", 3),
            ("/$defs/A~1B/x/0", 3),
            ("/$defs/A~1B/x/1", 4),
            ("/$defs/A~1B/x/1/y\"", 4),
            ("/$defs/C", 5),
            ("/$defs/C/gone/too", 5),
            ("/$defs/D", 2),
        ] {
            assert_eq!(lines.of_pointer(pointer), line, "{pointer}");
        }
    }
}
