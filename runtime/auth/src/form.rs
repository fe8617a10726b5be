//! Forms: parameters of requests and of the query that a browser comes back with.

use url::form_urlencoded;

/// Parameters as `application/x-www-form-urlencoded`.
pub(crate) fn encode<'a>(parameters: impl IntoIterator<Item = (&'a str, &'a str)>) -> String {
    let mut form = form_urlencoded::Serializer::new(String::new());
    form.extend_pairs(parameters).finish()
}

/// Returns the only value of a parameter; `None` if it is absent or given twice.
pub(crate) fn only(query: &str, name: &str) -> Option<String> {
    let mut values = form_urlencoded::parse(query.as_bytes()).filter(|(one, _)| one == name);
    let value = values.next()?.1.into_owned();
    values.next().is_none().then_some(value)
}

/// Returns whether a parameter is given.
pub(crate) fn has(query: &str, name: &str) -> bool {
    form_urlencoded::parse(query.as_bytes()).any(|(one, _)| one == name)
}

/// Returns a text encoded as in a form.
pub(crate) fn encoded(text: &str) -> String {
    form_urlencoded::byte_serialize(text.as_bytes()).collect()
}
