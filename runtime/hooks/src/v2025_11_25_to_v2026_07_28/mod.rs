//! Between 2025-11-25 and 2026-07-28: structured content and schemas of any kind, lists that are too long, tasks.

mod booleans;
pub(crate) mod common;
mod properties;
mod references;
mod wrap;

use mcp_convert::Ruled;

pub use common::tasks::works_without_tasks;
pub use properties::spell_out_booleans;
pub use wrap::{
    structured_object, unwrap_output_schema, unwrap_structured, unwrap_structured_block,
    wrap_output_schema, wrap_structured, wrap_structured_block,
};

/// How many completion values a revision from 2026-07-28 on may carry.
const MOST_VALUES: usize = 100;

/// Cuts completion values off after 100, and reports that there are more.
pub fn truncate_values(
    completion: &mut mcp_2025_11_25::CompleteResultCompletion,
    cx: &mut Ruled<'_>,
) {
    if completion.values.len() <= MOST_VALUES {
        return;
    }
    cx.replace("/values", completion.values.clone());
    completion.values.truncate(MOST_VALUES);
    match completion.has_more {
        Some(true) => {}
        Some(false) => cx.lesser().replace("/hasMore", false),
        None => cx.lesser().add("/hasMore"),
    }
    completion.has_more = Some(true);
}
