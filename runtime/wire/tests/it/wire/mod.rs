//! What mcp-wire promises, one module for each promise.
mod bridge;
mod corpus;
mod decide;
mod envelope;
mod errors;
mod grammar;
mod json;
mod map;
mod members;
mod mend;
mod messages;
mod meta;
mod numbers;
mod strings;
mod written;
