//! The Rust blocks of the Markdown pages as documentation tests: each compiles, and runs unless it says `no_run`.
//!
//! `tests/it/pages.rs` fails if a page with a Rust block is missing here.

macro_rules! pages {
    ($($page:ident = $file:literal)*) => {$(
        #[doc = include_str!($file)]
        pub struct $page;
    )*};
}

pages! {
    Readme = "../../README.md"
    Client = "../../docs/client.md"
    Core = "../../docs/core.md"
    Deploy = "../../docs/deploy.md"
    Rules = "../../docs/rules.md"
    Server = "../../docs/server.md"
    ServerAuth = "../../docs/server-auth.md"
    SignIn = "../../docs/sign-in.md"
    Types = "../../docs/types.md"
    Wire = "../../runtime/wire/README.md"
}
