//! Reading and writing the types of `messages`.
