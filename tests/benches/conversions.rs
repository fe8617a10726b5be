//! The messages that are converted, at each revision, and how.

use mcp_revisions_core::{v2024_11_05, v2025_03_26, v2025_06_18, v2025_11_25, v2026_07_28};
use std::any::Any;

use mcp_revisions_core::values::convert_value;
use mcp_revisions_core::{Context, Outcome, Versioned};
use mcp_wire::{Decode, Encode};

use crate::messages::{Lifecycle, Messages};

/// A value of a type that only its conversion knows.
pub(crate) type Value = Box<dyn Any>;

/// A conversion of one message.
pub(crate) struct Conversion {
    /// The message, and from where to where.
    pub(crate) name: String,
    /// What is read.
    pub(crate) text: String,
    /// Reads a number of values.
    pub(crate) read: fn(&str, usize) -> Vec<Value>,
    /// Converts them, all at once; the results are kept so that dropping them is not timed.
    pub(crate) convert: fn(Vec<Value>) -> Vec<Value>,
}

fn read<A: Decode + 'static>(text: &str, count: usize) -> Vec<Value> {
    let mut values = Vec::with_capacity(count);
    for _ in 0..count {
        let value: A =
            mcp_wire::from_str(std::hint::black_box(text)).expect("our own messages are valid");
        values.push(Box::new(value) as Value);
    }
    values
}

fn convert<A: Versioned, B: Versioned>(values: Vec<Value>) -> Vec<Value> {
    let mut converted = Vec::with_capacity(values.len());
    for value in values {
        let value = value.downcast::<A>().expect("what was read");
        let outcome: Outcome<B> = convert_value(*value, Context::default());
        converted.push(Box::new(outcome.value().expect("nothing in it stops")) as Value);
    }
    converted
}

/// The text of a message at a revision, from that of the revision that it was written for.
fn at<A: Versioned + Decode, B: Versioned + Encode>(text: &str) -> String {
    let value: A = mcp_wire::from_str(text).expect("our own messages are valid");
    let value: Outcome<B> = convert_value(value, Context::default());
    mcp_wire::to_string(&value.value().expect("nothing in it stops"))
}

macro_rules! conversions {
    ($message:literal, $ty:ident, $text:expr; $($from:ident $to:ident;)+) => {
        vec![$(Conversion {
            name: format!("{}, {} to {}", $message, $from::REVISION, $to::REVISION),
            text: at::<v2026_07_28::$ty, $from::$ty>($text),
            read: read::<$from::$ty>,
            convert: convert::<$from::$ty, $to::$ty>,
        }),+]
    };
}

macro_rules! every_way {
    ($message:literal, $ty:ident, $text:expr) => {
        conversions! { $message, $ty, $text;
            v2024_11_05 v2025_03_26;
            v2025_03_26 v2025_06_18;
            v2025_06_18 v2025_11_25;
            v2025_11_25 v2026_07_28;
            v2024_11_05 v2026_07_28;
            v2026_07_28 v2025_11_25;
            v2025_11_25 v2025_06_18;
            v2025_06_18 v2025_03_26;
            v2025_03_26 v2024_11_05;
            v2026_07_28 v2024_11_05;
        }
    };
}

/// A list of 100 tools and a result of 50 blocks, between all adjacent revisions and all the way, up and down.
pub(crate) fn conversions() -> Vec<Conversion> {
    let texts = Messages::new(Lifecycle::PerRequest);
    let mut all = every_way!("tools/list", ListToolsResult, &texts.list_tools);
    all.extend(every_way!("tools/call", CallToolResult, &texts.tool_result));
    all
}
