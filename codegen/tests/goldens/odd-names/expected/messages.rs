//! Messages as a whole, and definitions that no method reaches.

use mcp_wire::{Extra, Integer, Map, Number};

/// `a b/c~d`, which has no doc line yet.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ABCD(pub String);

impl From<String> for ABCD {
    fn from(value: String) -> Self {
        Self(value)
    }
}

impl From<ABCD> for String {
    fn from(value: ABCD) -> Self {
        value.0
    }
}

impl From<&str> for ABCD {
    fn from(value: &str) -> Self {
        Self(value.to_owned())
    }
}

/// `größe`, which has no doc line yet.
#[derive(Clone, PartialEq, Eq)]
pub struct Größe {
    /// No doc line yet.
    pub größe: Number,
    /// No doc line yet.
    pub a_b: Option<String>,
    /// No doc line yet.
    pub n1st: Option<String>,
    /// Members that this revision does not name, in the order in which they stood.
    pub extra: Extra,
}

impl Größe {
    /// Creates a value with its required fields; the `with_*` methods set the others.
    #[must_use]
    pub fn new(größe: impl Into<Number>) -> Self {
        Self {
            größe: größe.into(),
            a_b: None,
            n1st: None,
            extra: Map::new(),
        }
    }

    /// Sets `a-b`.
    #[must_use]
    pub fn with_a_b(mut self, a_b: impl Into<String>) -> Self {
        self.a_b = Some(a_b.into());
        self
    }

    /// Sets `1st`.
    #[must_use]
    pub fn with_n1st(mut self, n1st: impl Into<String>) -> Self {
        self.n1st = Some(n1st.into());
        self
    }
}

/// `Quoted`, which has no doc line yet.
#[derive(Clone, PartialEq, Eq)]
pub struct Quoted {
    /// No doc line yet.
    pub a_b: Integer,
    /// No doc line yet.
    pub d: Option<String>,
    /// Members that this revision does not name, in the order in which they stood.
    pub extra: Extra,
}

impl Quoted {
    /// Creates a value with its required fields; the `with_*` methods set the others.
    #[must_use]
    pub fn new(a_b: impl Into<Integer>) -> Self {
        Self {
            a_b: a_b.into(),
            d: None,
            extra: Map::new(),
        }
    }

    /// Sets `d\`.
    #[must_use]
    pub fn with_d(mut self, d: impl Into<String>) -> Self {
        self.d = Some(d.into());
        self
    }
}

/// `Record<string,integer>`, which has no doc line yet.
pub type RecordStringInteger = Map<Integer>;

/// `Uses`, which has no doc line yet.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Uses {
    /// No doc line yet.
    pub record: Option<RecordStringInteger>,
    /// No doc line yet.
    pub text: Option<ABCD>,
    /// Members that this revision does not name, in the order in which they stood.
    pub extra: Extra,
}

impl Uses {
    /// Creates an empty value; the `with_*` methods set its fields.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets `record`.
    #[must_use]
    pub fn with_record(mut self, record: impl Into<RecordStringInteger>) -> Self {
        self.record = Some(record.into());
        self
    }

    /// Sets `text`.
    #[must_use]
    pub fn with_text(mut self, text: impl Into<ABCD>) -> Self {
        self.text = Some(text.into());
        self
    }
}
