//! The comparison of a header with the argument that it repeats.

use mcp_wire::{Json, Kind};

use mcp_revisions_core::headers::decoded;
use mcp_revisions_sansio::driver::params::{PREFIX, Param, text_of};
use mcp_revisions_sansio::errors::{self, Refusal};

/// Refuses a header that does not say what the arguments say.
pub(super) fn agree(
    param: &Param,
    arguments: Option<&Json>,
    header: Option<&str>,
) -> Result<(), Box<Refusal>> {
    let Param { name, .. } = param;
    let refuse = |why: &str| Err(errors::header_mismatch(&format!("{PREFIX}{name} {why}")));
    let said = match header.map(|header| decoded(header.trim_matches([' ', '\t']))) {
        Some(None) => return refuse("is not what base64 of UTF-8 gives"),
        said => said.flatten(),
    };
    let value = arguments.and_then(|arguments| param.find(arguments));
    match (value, said) {
        (None, None) => Ok(()),
        (Some(value), Some(said)) if same(&value, &said) => Ok(()),
        (Some(_), None) => refuse("is missing"),
        _ => refuse("is not what the body says"),
    }
}

/// Returns whether a header says a value: `7` and `7.0` are the same integer, and no text is a number.
fn same(value: &Json, said: &str) -> bool {
    let number = |text: &str| mcp_wire::from_str::<mcp_wire::Integer>(text).ok();
    text_of(value.clone()) == said
        || (matches!(value.kind(), Kind::Integer | Kind::Number)
            && number(value.text()).is_some_and(|value| number(said) == Some(value)))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test says what it found and stops")]

    use mcp_wire::Json;

    use super::Param;

    #[test]
    fn a_header_says_what_the_argument_says_or_neither_says_anything() {
        let param = Param {
            name: "Region".to_owned(),
            path: vec!["region".to_owned()],
        };
        let with = |value: &str| Json::from_text(&format!(r#"{{"region":{value}}}"#)).unwrap();
        let agree = |value: &str, header| super::agree(&param, Some(&with(value)), header).is_ok();
        assert!(
            agree(r#""Hello""#, Some("Hello")) && agree(r#""Hello""#, Some("=?base64?SGVsbG8=?="))
        );
        assert!(agree("7", Some("7")) && agree("7.0", Some("7")) && agree("true", Some("true")));
        // A number may be spelled in another way; a JSON string is compared as it is, even if it looks like a number.
        assert!(agree("1e2", Some("100")) && !agree(r#""1e2""#, Some("100")));
        assert!(agree("null", None) && super::agree(&param, None, None).is_ok());
        assert!(
            !agree(r#""Hello""#, None)
                && !agree("null", Some("Hello"))
                && !agree(r#""a""#, Some("b"))
        );
        for broken in ["=?base64?SGVsbG8?=", "=?base64?SGVs!!!bG8=?="] {
            assert!(!agree(r#""Hello""#, Some(broken)), "{broken}");
        }
        // Without both marks it is plain.
        assert!(
            agree(r#""SGVsbG8=""#, Some("SGVsbG8="))
                && agree(r#""=?base64?SGVsbG8=""#, Some("=?base64?SGVsbG8="))
        );
    }
}
