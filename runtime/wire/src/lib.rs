//! JSON text to typed values and back.
