//! Debug output of types that have parts without any.

/// Implements `Debug` for a type that shows only these parts; the first brackets hold its generics.
#[doc(hidden)]
#[macro_export]
macro_rules! debug_struct {
    ([$($generics:tt)*] $type:ty, $name:literal, $self:ident $(, $part:literal: $value:expr)* $(,)?) => {
        impl<$($generics)*> std::fmt::Debug for $type {
            fn fmt(&$self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.debug_struct($name)$(.field($part, &$value))*.finish_non_exhaustive()
            }
        }
    };
}
