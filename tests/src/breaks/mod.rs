//! A valid value, broken in one place: what is broken, how, and where a reader has to say so.

mod apply;
mod find;

use crate::tree::{Facts, Node, Standing, pointer};

pub use find::find;

/// A way to break a value in one place.
#[derive(Debug, Clone, PartialEq)]
pub struct Break {
    /// What is done.
    pub harm: Harm,
    /// Where: the steps of a JSON pointer.
    pub path: Vec<String>,
    /// What stood there.
    pub facts: Facts,
    /// What it was to its object, if that has it as a member.
    pub standing: Option<Standing>,
    /// Every type on the way, the outermost first, those of the place last.
    pub types: Vec<String>,
    /// The unions on the way, the outermost first.
    pub unions: Vec<Within>,
}

/// A union on the way to a place.
#[derive(Debug, Clone, PartialEq)]
pub struct Within {
    /// How many steps of the path lead to it.
    pub depth: usize,
    /// The union's type.
    pub union: String,
    /// The type of its variant, if that has a name.
    pub variant: Option<String>,
}

/// What is done to a value.
#[derive(Debug, Clone, PartialEq)]
pub enum Harm {
    /// A member that must be there is taken out of the object.
    Removed(String),
    /// Another value stands there: this JSON.
    Replaced(&'static str),
    /// A choice or a constant in upper case.
    Shouted,
    /// An integer is spelled with a fraction: the same value.
    Respelled,
    /// This member of the object comes a second time.
    Repeated(String),
    /// The value goes beyond this limit of the schema.
    Limit(String),
    /// This member, which tells another variant of the union, stands beside the variant's own; its value is this JSON.
    Stray {
        /// The union.
        union: String,
        /// The member.
        member: String,
        /// Its value.
        value: &'static str,
    },
    /// A schema that is carried as text says what the schema of schemas forbids: this JSON.
    SchemaText(&'static str),
}

impl Break {
    /// The JSON pointer where a reader has to complain.
    #[must_use]
    pub fn pointer(&self) -> String {
        match &self.harm {
            Harm::Repeated(member) | Harm::Stray { member, .. } => {
                let mut path = self.path.clone();
                path.push(member.clone());
                pointer(&path)
            }
            _ => pointer(&self.path),
        }
    }

    /// The broken value; none if the place is not in this one, or nothing changes.
    #[must_use]
    pub fn apply(&self, whole: &Node) -> Option<Node> {
        apply::apply(self, whole)
    }

    /// What is broken, whatever the index in a list: breaks of the same key are alike.
    #[must_use]
    pub fn key(&self) -> String {
        let steps = self.path.iter().map(|step| match step.parse::<usize>() {
            Ok(_) => "#",
            Err(_) => step,
        });
        let path: Vec<&str> = steps.collect();
        format!(
            "{:?} {} {}",
            self.harm,
            path.join("/"),
            self.types.join("/")
        )
    }
}
