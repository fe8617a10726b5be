//! JSON texts compared by meaning, but numbers by spelling: the order of members is free, `50` is not `50.0`.
//!
//! A reader of its own: what it compares is what `mcp-wire` read and wrote.

/// A JSON value with its numbers as they are spelled.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// `null`, `true`, `false`, or a number, as it stands.
    Word(String),
    /// A string, escapes taken apart.
    String(String),
    /// The elements.
    Array(Vec<Value>),
    /// The members, sorted by name; a name that comes twice is kept twice.
    Object(Vec<(String, Value)>),
}

/// Reads a text that is known to be JSON.
///
/// # Errors
/// The offset at which it is not.
pub fn parse(text: &str) -> Result<Value, usize> {
    let mut parser = Parser { text, at: 0 };
    let value = parser.value()?;
    parser.blanks();
    if parser.at == text.len() {
        Ok(value)
    } else {
        Err(parser.at)
    }
}

/// Whether two texts say the same, numbers in the same spelling.
#[must_use]
pub fn same(a: &str, b: &str) -> bool {
    match (parse(a), parse(b)) {
        (Ok(a), Ok(b)) => a == b,
        _ => false,
    }
}

struct Parser<'t> {
    text: &'t str,
    at: usize,
}

impl Parser<'_> {
    fn peek(&self) -> u8 {
        match self.text.as_bytes().get(self.at) {
            Some(byte) => *byte,
            None => 0,
        }
    }

    fn blanks(&mut self) {
        while matches!(self.peek(), b' ' | b'\t' | b'\n' | b'\r') {
            self.at += 1;
        }
    }

    /// Steps over `byte` and the blanks before it, if it stands there.
    fn take(&mut self, byte: u8) -> bool {
        self.blanks();
        let found = self.peek() == byte;
        self.at += usize::from(found);
        found
    }

    fn value(&mut self) -> Result<Value, usize> {
        self.blanks();
        match self.peek() {
            b'{' => self.object(),
            b'[' => self.array(),
            b'"' => self.string().map(Value::String),
            _ => self.word(),
        }
    }

    fn object(&mut self) -> Result<Value, usize> {
        self.at += 1;
        let mut members = Vec::new();
        if self.take(b'}') {
            return Ok(Value::Object(members));
        }
        loop {
            self.blanks();
            let name = self.string()?;
            if !self.take(b':') {
                return Err(self.at);
            }
            members.push((name, self.value()?));
            if self.take(b'}') {
                members.sort_by(|a, b| a.0.cmp(&b.0));
                return Ok(Value::Object(members));
            }
            if !self.take(b',') {
                return Err(self.at);
            }
        }
    }

    fn array(&mut self) -> Result<Value, usize> {
        self.at += 1;
        let mut items = Vec::new();
        if self.take(b']') {
            return Ok(Value::Array(items));
        }
        loop {
            items.push(self.value()?);
            if self.take(b']') {
                return Ok(Value::Array(items));
            }
            if !self.take(b',') {
                return Err(self.at);
            }
        }
    }

    fn string(&mut self) -> Result<String, usize> {
        let start = self.at;
        if self.peek() != b'"' {
            return Err(start);
        }
        let mut is_plain = true;
        loop {
            self.at += 1;
            match self.peek() {
                b'"' => break,
                0 => return Err(start),
                b'\\' => {
                    is_plain = false;
                    self.at += 1;
                }
                // No string has such a byte, as its reader below says.
                1..b' ' => is_plain = false,
                _ => {}
            }
        }
        self.at += 1;
        let quoted = self.text.get(start..self.at).unwrap_or_default();
        match quoted.get(1..quoted.len() - 1) {
            Some(content) if is_plain => Ok(content.to_owned()),
            _ => serde_json::from_str(quoted).map_err(|_| start),
        }
    }

    fn word(&mut self) -> Result<Value, usize> {
        let start = self.at;
        while matches!(self.peek(), b'a'..=b'z' | b'E' | b'0'..=b'9' | b'+' | b'-' | b'.') {
            self.at += 1;
        }
        let word = self.text.get(start..self.at).unwrap_or_default();
        if serde_json::from_str::<&serde_json::value::RawValue>(word).is_err() {
            return Err(start);
        }
        Ok(Value::Word(word.to_owned()))
    }
}
