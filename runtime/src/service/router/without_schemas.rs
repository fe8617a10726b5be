//! The stand-in for derived schemas, without feature `schemars`.

use mcp_wire::JsonObject;

use super::Described;

impl<T> Described for T {
    fn schema() -> Option<JsonObject> {
        None
    }
}
