//! Words for texts that stand beside others: `Resource::new(Uri("file:///notes"), "notes")` cannot be said the wrong way
//! round.

macro_rules! words {
    ($($(#[$about:meta])+ $word:ident)*) => {$(
        $(#[$about])+
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub struct $word<S>(pub S);
    )*};
}

words! {
    /// When it was made.
    CreatedAt
    /// What tells one from others of its kind.
    Id
    /// When it changed last.
    LastUpdatedAt
    /// What a content is of: `image/png`.
    MimeType
    /// What a person reads.
    Title
    /// Where a thing is.
    Uri
    /// Where things of one kind are: `users://{id}`.
    UriTemplate
    /// A page to visit.
    Url
    /// What a member is to be.
    Value
    /// Which version of a program.
    Version
}
