//! Argument types for constructors that take several strings: `Resource::new(Uri("file:///notes"), "notes")` cannot be
//! called with its strings swapped.

macro_rules! arguments {
    ($($(#[$about:meta])+ $name:ident)*) => {$(
        $(#[$about])+
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub struct $name<S>(pub S);
    )*};
}

arguments! {
    /// When it was made.
    CreatedAt
    /// The description that people read.
    Description
    /// The identifier of a value.
    Id
    /// The time of the last change.
    LastUpdatedAt
    /// The media type of a content, such as `image/png`.
    MimeType
    /// The title that people read.
    Title
    /// The URI of a resource.
    Uri
    /// The URI template of resources, such as `users://{id}`.
    UriTemplate
    /// The URL of a page.
    Url
    /// The value of a member.
    Value
    /// The version of a program.
    Version
}
