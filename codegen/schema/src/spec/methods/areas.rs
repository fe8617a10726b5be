//! The area that a method belongs to: the source file that its types live in.

use crate::naming::snake_case;

/// What an area has to be.
const AREA: &str = "the name of a module: lower-case letters, digits and `_`, no reserved word, none of lib, main, methods, mod, services and wire";

/// The first segment of a method, after `notifications/`.
pub(super) fn default_area(method: &str) -> &str {
    let method = method.strip_prefix("notifications/").unwrap_or(method);
    method.split('/').next().unwrap_or(method)
}

/// What is wrong with a row that gives a method an area.
pub(super) fn fault(method: &str, area: &str) -> Option<String> {
    if default_area(method) == area {
        return Some("it is in that area by default".to_owned());
    }
    (!is_area(area)).then(|| format!("the area is no file name: it has to be {AREA}"))
}

/// The file of an area: its own, or the nearest name that a file can have, or that of messages as a whole.
pub(crate) fn module(area: &str) -> String {
    let near = snake_case(&area.to_ascii_lowercase());
    match [area, near.as_str()].into_iter().find(|name| is_area(name)) {
        Some(name) => name.to_owned(),
        None => "messages".to_owned(),
    }
}

/// Whether an area can be a file and a module of a generated crate, beside those that every crate has.
pub(crate) fn is_area(area: &str) -> bool {
    let own = ["lib", "main", "methods", "mod", "services", "wire"];
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    area.bytes().all(plain)
        && area
            .bytes()
            .next()
            .is_some_and(|first| first.is_ascii_lowercase())
        && !own.contains(&area)
        && snake_case(area) == area
}
