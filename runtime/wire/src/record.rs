//! Structs as tables: a line per member says how it is read and how it is written.

use std::fmt::{Debug, Formatter, Result};

/// Writes the fields of a struct for people, and its unknown members if there are some.
#[doc(hidden)]
pub fn debug(
    f: &mut Formatter<'_>,
    name: &str,
    fields: &[(&str, &dyn Debug)],
    extra: Option<&dyn Debug>,
) -> Result {
    let mut shown = f.debug_struct(name);
    for (field, value) in fields {
        shown.field(field, value);
    }
    if let Some(extra) = extra {
        shown.field("extra", extra);
    }
    shown.finish()
}

/// Implements [`Decode`](crate::Decode), [`Encode`](crate::Encode) and `Debug` for a struct by a table of its members. `Debug`
/// leaves out `extra` where that is empty.
///
/// A line has the place at which a reader looks for the member, its name in JSON, whether it is `required` or
/// `optional` (`json`, or `nullable` for an `Option<Option<T>>`, where `null` is a value), and the field. Lines that begin with `const`
/// are constants, which are not fields; they come first. A value that is kept as text has `in` and the frame of its schema behind its field. Members are written in the order of the lines, constants
/// before all, and looked for in the order of the places. Unknown members of an `open` struct are kept in its field
/// `extra`; those of a `typed` one are read as the values of that map; a `closed` one refuses them.
///
/// ```
/// use mcp_wire::{Extra, Map};
///
/// #[derive(PartialEq)]
/// struct Point {
///     label: Option<String>,
///     name: String,
///     extra: Extra,
/// }
///
/// mcp_wire::record! {
///     Point open {
///         const 0 "kind": constant("point");
///         2 "label": optional label;
///         1 "name": required name;
///     }
/// }
///
/// let text = r#"{"kind":"point","name":"a","x":1.50}"#;
/// let point: Point = mcp_wire::from_str(text)?;
/// assert_eq!(point.name, "a");
/// assert_eq!(mcp_wire::to_string(&point), text);
/// assert_eq!(format!("{:?}", mcp_wire::from_str::<Point>(r#"{"kind":"point","name":"a"}"#)?), r#"Point { label: None, name: "a" }"#);
/// # Ok::<(), mcp_wire::Error>(())
/// ```
#[macro_export]
macro_rules! record {
    ($type:ident open $lines:tt) => {
        $crate::record!(@all $type open [extra: $crate::Map::new()] $lines);
    };
    ($type:ident typed $lines:tt) => {
        $crate::record!(@all $type typed [extra: $crate::Map::new()] $lines);
    };
    ($type:ident closed $lines:tt) => {
        $crate::record!(@all $type closed [] $lines);
    };
    (@all $type:ident $rest:ident [$($extra:tt)*] {
        $(const $const_at:literal $const_wire:literal: $const_kind:ident($value:expr);)*
        $($at:literal $wire:literal: $kind:ident $field:ident $(in $frame:expr)?;)*
    }) => {
        impl $crate::Decode for $type {
            fn blank() -> Self {
                Self { $($field: $crate::Decode::blank(),)* $($extra)* }
            }

            fn fill(&mut self, reader: &mut $crate::Reader<'_>) -> ::core::result::Result<(), $crate::Fault> {
                const COUNT: usize = <[usize]>::len(&[$($const_at,)* $($at,)*]);
                const NAMES: [&str; COUNT] = {
                    #[allow(unused_mut)]
                    let mut names = [""; COUNT];
                    $(names[$const_at] = $const_wire;)*
                    $(names[$at] = $wire;)*
                    names
                };
                const REQUIRED: u128 = 0 $(| 1 << $const_at)* $(| $crate::record!(@required $kind) << $at)*;
                static MEMBERS: $crate::Members = $crate::Members::table(
                    ::core::stringify!($type),
                    &NAMES,
                    REQUIRED,
                    $crate::record!(@closed $rest),
                );
                $crate::record!(@fill $rest self reader MEMBERS)
            }
        }

        impl $crate::Record for $type {
            fn member(
                &mut self,
                index: usize,
                reader: &mut $crate::Reader<'_>,
            ) -> ::core::result::Result<(), $crate::Fault> {
                match index {
                    $($const_at => reader.$const_kind($value),)*
                    $($at => {
                        $({
                            static FRAME: $crate::Frame = $frame;
                            reader.framed(&FRAME)?;
                        })?
                        $crate::record!(@read $kind self.$field, reader)
                    })*
                    _ => reader.skip(),
                }
            }

            $crate::record!(@extra $rest);
        }

        impl ::core::fmt::Debug for $type {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                $crate::__private::debug(
                    f,
                    ::core::stringify!($type),
                    &[$((::core::stringify!($field), &self.$field),)*],
                    $crate::record!(@debug $rest self),
                )
            }
        }

        impl $crate::Encode for $type {
            fn encode(&self, writer: &mut $crate::Writer) {
                #[allow(unused_mut)]
                let mut object = writer.object();
                $($crate::record!(@constant $const_kind object, $const_wire, $value);)*
                $($crate::record!(@write $kind object, $wire, &self.$field);)*
                $crate::record!(@rest $rest object, self);
                object.end();
            }
        }
    };
    (@required required) => { 1 };
    (@required $optional:ident) => { 0 };
    (@closed closed) => { true };
    (@closed $open:ident) => { false };
    (@fill typed $self:ident $reader:ident $members:ident) => {{
        let mut extra = $crate::Map::new();
        $reader.record_with(&$members, $self, &mut extra)?;
        $self.extra = extra;
        Ok(())
    }};
    (@fill $rest:ident $self:ident $reader:ident $members:ident) => {
        $reader.record(&$members, $self)
    };
    // `null` is a value where any JSON may stand.
    (@read json $field:expr, $reader:ident) => {
        $crate::Decode::fill($field.insert(<$crate::Json as $crate::Decode>::blank()), $reader)
    };
    (@read nullable $field:expr, $reader:ident) => {
        $crate::Decode::fill($field.insert($crate::Decode::blank()), $reader)
    };
    (@read $kind:ident $field:expr, $reader:ident) => {
        $crate::Decode::fill(&mut $field, $reader)
    };
    (@extra open) => {
        fn extra(&mut self) -> ::core::option::Option<&mut $crate::Extra> {
            Some(&mut self.extra)
        }
    };
    (@extra $rest:ident) => {};
    // A name that needs escapes is rare, and is known when the crate is compiled.
    (@constant constant $object:ident, $wire:literal, $value:expr) => {
        if const { $crate::is_plain($wire) && $crate::is_plain($value) } {
            $object.constant($wire, $value);
        } else {
            $object.entry($wire, $value);
        }
    };
    (@constant $kind:ident $object:ident, $wire:literal, $value:expr) => { $object.$kind($wire, $value); };
    (@write required $object:ident, $wire:literal, $value:expr) => {
        if const { $crate::is_plain($wire) } {
            $object.member($wire, $value);
        } else {
            $object.entry($wire, $value);
        }
    };
    (@write $kind:ident $object:ident, $wire:literal, $value:expr) => {
        if const { $crate::is_plain($wire) } {
            $object.optional($wire, $value);
        } else if let ::core::option::Option::Some(value) = $value {
            $object.entry($wire, value);
        }
    };
    (@debug closed $self:ident) => { ::core::option::Option::None };
    (@debug $rest:ident $self:ident) => {
        (!$self.extra.is_empty()).then_some(&$self.extra as &dyn ::core::fmt::Debug)
    };
    (@rest closed $object:ident, $self:ident) => {};
    (@rest $rest:ident $object:ident, $self:ident) => { $object.extra(&$self.extra) };
}
