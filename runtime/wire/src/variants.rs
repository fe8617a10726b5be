//! Enums as tables: a line per variant says what it holds, or its string.

/// Implements [`Decode`](crate::Decode), [`Encode`](crate::Encode) and `From` for an enum by a table of its variants.
///
/// The first line has the variant that reading starts from; with `decide` after it, the enum has a function of that name
/// which chooses the variant before it is read. A variant that is named without a type has no `From`. A name behind the type is
/// that of its accessor.
///
/// ```
/// use mcp_wire::{Decode, Fault, Integer, Kind, Reader};
///
/// #[derive(Debug, PartialEq)]
/// enum Token {
///     Text(String),
///     Number(Box<Integer>),
/// }
///
/// impl Token {
///     fn decide(&mut self, reader: &mut Reader<'_>) -> Result<(), Fault> {
///         if reader.kind()? != Kind::String {
///             *self = Self::Number(Decode::blank());
///         }
///         Ok(())
///     }
/// }
///
/// mcp_wire::variants! {
///     Token {
///         blank Text decide;
///         Text(String) as_text;
///         Number(box Integer) as_number;
///     }
/// }
///
/// let token: Token = mcp_wire::from_str("7")?;
/// assert_eq!(token, Token::from(Integer::from(7)));
/// assert_eq!(token.as_number(), Some(&Integer::from(7)));
/// assert_eq!(token.as_text(), None);
/// # Ok::<(), mcp_wire::Error>(())
/// ```
#[macro_export]
macro_rules! variants {
    ($type:ident {
        blank $blank:ident $($decide:ident)?;
        $($variant:ident $(($($held:tt)+))? $($accessor:ident)?;)*
    }) => {
        impl $crate::Decode for $type {
            fn blank() -> Self {
                Self::$blank($crate::Decode::blank())
            }

            fn fill(&mut self, reader: &mut $crate::Reader<'_>) -> ::core::result::Result<(), $crate::Fault> {
                $(self.$decide(reader)?;)?
                match self {
                    $(Self::$variant(value) => $crate::Decode::fill(value, reader),)*
                }
            }
        }

        impl $crate::Encode for $type {
            fn encode(&self, writer: &mut $crate::Writer) {
                match self {
                    $(Self::$variant(value) => $crate::Encode::encode(value, writer),)*
                }
            }
        }

        $($($crate::variants!(@from $type $variant $($held)+);)?)*

        impl $type {
            $($crate::variants!(@as $variant $(($($held)+))? $($accessor)?);)*
        }
    };
    (@as $variant:ident (box $held:ty) $accessor:ident) => {
        $crate::variants!(@as $variant ($held) $accessor);
    };
    (@as $variant:ident ($held:ty) $accessor:ident) => {
        #[doc = ::core::concat!("Returns the value of `", ::core::stringify!($variant), "`, if it is one.")]
        #[must_use]
        pub fn $accessor(&self) -> ::core::option::Option<&$held> {
            match self {
                Self::$variant(value) => ::core::option::Option::Some(value),
                _ => ::core::option::Option::None,
            }
        }
    };
    (@as $variant:ident $(($($held:tt)+))?) => {};
    (@from $type:ident $variant:ident box $held:ty) => {
        impl ::core::convert::From<$held> for $type {
            fn from(value: $held) -> Self {
                Self::$variant(::std::boxed::Box::new(value))
            }
        }
    };
    (@from $type:ident $variant:ident $held:ty) => {
        impl ::core::convert::From<$held> for $type {
            fn from(value: $held) -> Self {
                Self::$variant(value)
            }
        }
    };
}

/// Implements [`Decode`](crate::Decode), [`Encode`](crate::Encode), `Display`, `ALL` and `as_str` for an enum of strings.
///
/// ```
/// #[derive(Debug, Clone, Copy, PartialEq)]
/// enum Role {
///     Assistant,
///     User,
/// }
///
/// mcp_wire::strings! {
///     Role {
///         Assistant "assistant";
///         User "user";
///     }
/// }
///
/// assert_eq!(mcp_wire::from_str::<Role>(r#""user""#)?, Role::User);
/// assert_eq!(Role::ALL.map(Role::as_str), ["assistant", "user"]);
/// # Ok::<(), mcp_wire::Error>(())
/// ```
///
/// `open` names the variant that keeps any other string. Such an enum has no `ALL`; `From` takes texts, and a text and its
/// variant are equal.
///
/// ```
/// #[derive(Debug, Clone)]
/// enum Unit {
///     Celsius,
///     Other(String),
/// }
///
/// mcp_wire::strings! {
///     Unit open Other {
///         Celsius "C";
///     }
/// }
///
/// assert!(matches!(mcp_wire::from_str(r#""C""#)?, Unit::Celsius));
/// assert_eq!(Unit::from("K").as_str(), "K");
/// assert_eq!(Unit::Other("C".to_owned()), Unit::Celsius);
/// # Ok::<(), mcp_wire::Error>(())
/// ```
#[macro_export]
macro_rules! strings {
    ($type:ident open $other:ident { $($variant:ident $choice:literal;)+ }) => {
        impl $type {
            /// Returns the string that stands for it.
            #[must_use]
            pub fn as_str(&self) -> &str {
                match self {
                    $(Self::$variant => $choice,)+
                    Self::$other(text) => text,
                }
            }
        }

        impl ::core::fmt::Display for $type {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                f.pad(self.as_str())
            }
        }

        // A string that has a name is the value of that name, whichever variant holds it.
        impl ::core::cmp::PartialEq for $type {
            fn eq(&self, other: &Self) -> bool {
                self.as_str() == other.as_str()
            }
        }

        impl ::core::cmp::Eq for $type {}

        impl ::core::hash::Hash for $type {
            fn hash<H: ::core::hash::Hasher>(&self, state: &mut H) {
                ::core::hash::Hash::hash(self.as_str(), state);
            }
        }

        impl ::core::cmp::PartialEq<str> for $type {
            fn eq(&self, other: &str) -> bool {
                self.as_str() == other
            }
        }

        impl ::core::cmp::PartialEq<&str> for $type {
            fn eq(&self, other: &&str) -> bool {
                self.as_str() == *other
            }
        }

        impl ::core::convert::From<&str> for $type {
            fn from(text: &str) -> Self {
                match text {
                    $($choice => Self::$variant,)+
                    other => Self::$other(::std::borrow::ToOwned::to_owned(other)),
                }
            }
        }

        impl ::core::convert::From<::std::string::String> for $type {
            fn from(text: ::std::string::String) -> Self {
                match text.as_str() {
                    $($choice => Self::$variant,)+
                    _ => Self::$other(text),
                }
            }
        }

        impl ::core::convert::From<$type> for ::std::string::String {
            fn from(value: $type) -> Self {
                match value {
                    $type::$other(text) => text,
                    known => ::std::borrow::ToOwned::to_owned(known.as_str()),
                }
            }
        }

        impl $crate::Decode for $type {
            fn blank() -> Self {
                Self::$other(::std::string::String::new())
            }

            fn fill(&mut self, reader: &mut $crate::Reader<'_>) -> ::core::result::Result<(), $crate::Fault> {
                *self = Self::from(&*reader.text_of_string()?);
                Ok(())
            }
        }

        impl $crate::Encode for $type {
            fn encode(&self, writer: &mut $crate::Writer) {
                $crate::Encode::encode(self.as_str(), writer);
            }
        }
    };
    ($type:ident { $($variant:ident $choice:literal;)+ }) => {
        impl $type {
            /// All values.
            pub const ALL: [Self; <[&str]>::len(&[$($choice),+])] = [$(Self::$variant),+];

            /// Returns the string that stands for it.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $choice,)+
                }
            }
        }

        impl ::core::fmt::Display for $type {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                f.pad(self.as_str())
            }
        }

        impl $crate::Decode for $type {
            fn blank() -> Self {
                let [first, ..] = Self::ALL;
                first
            }

            fn fill(&mut self, reader: &mut $crate::Reader<'_>) -> ::core::result::Result<(), $crate::Fault> {
                let place = reader.string_enum(&[$($choice),+])?;
                if let Some(value) = Self::ALL.get(place) {
                    *self = *value;
                }
                Ok(())
            }
        }

        impl $crate::Encode for $type {
            fn encode(&self, writer: &mut $crate::Writer) {
                $crate::Encode::encode(self.as_str(), writer);
            }
        }
    };
}
