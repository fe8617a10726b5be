//! Messages as a whole, and definitions that no method reaches.

use mcp_wire::{Extra, Integer, Map};

/// `FormParams`, which has no doc line yet.
#[derive(Debug, Clone, PartialEq)]
pub struct FormParams {
    /// No doc line yet.
    pub fields: Integer,
    /// No doc line yet.
    pub mode: Option<FormParamsMode>,
    /// Members that this revision does not name, in the order in which they stood.
    pub extra: Extra,
}

impl FormParams {
    /// Creates a value with its required fields; the `with_*` methods set the others.
    #[must_use]
    pub fn new(fields: impl Into<Integer>) -> Self {
        Self {
            fields: fields.into(),
            mode: None,
            extra: Map::new(),
        }
    }

    /// Sets `mode`.
    #[must_use]
    pub fn with_mode(mut self, mode: impl Into<FormParamsMode>) -> Self {
        self.mode = Some(mode.into());
        self
    }
}

/// `FormParamsMode`, which has no doc line yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FormParamsMode {
    /// `form`
    Form,
}

/// `Params`, which has no doc line yet.
#[derive(Debug, Clone, PartialEq)]
pub enum Params {
    /// `FormParams`, which has no doc line yet.
    Form(FormParams),
    /// `UrlParams`, which has no doc line yet.
    Url(UrlParams),
}

/// `UrlParams`, which has no doc line yet.
#[derive(Debug, Clone, PartialEq)]
pub struct UrlParams {
    /// No doc line yet.
    pub url: String,
    /// Members that this revision does not name, in the order in which they stood.
    pub extra: Extra,
}

impl UrlParams {
    /// Creates a value with its fields.
    #[must_use]
    pub fn new(url: impl Into<String>) -> Self {
        Self {
            url: url.into(),
            extra: Map::new(),
        }
    }
}
