//! Numbers beyond every machine word, and texts of millions of bytes.

use mcp_revisions_core::{v2025_11_25, v2026_07_28};
use mcp_tests::{parallel, text};
use mcp_wire::{RequestId, from_str, to_string};

use super::{assert_clear, every_type};

#[test]
fn numbers_that_no_float_holds_are_kept() {
    for spelled in [
        "1e999999",
        "-1e999999",
        "1e-999999",
        "1E+99999999999999999999999999999999999999999",
        "0.1e-99999999999999999999999999999999999999999",
        "0e99999999999999999999999999999999999999999",
        "123456789012345678901234567890.123456789012345678901234567890",
    ] {
        let text = format!(r#"{{"progress":{spelled},"progressToken":"t"}}"#);
        let params: v2025_11_25::ProgressNotificationParams = from_str(&text).unwrap();
        assert_eq!(to_string(&params), text);
        assert_eq!(params, params.clone());
        let text = format!(r#"{{"name":"a","arguments":{{"n":{spelled}}}}}"#);
        let params: v2025_11_25::CallToolRequestParams = from_str(&text).unwrap();
        assert!(text::same(&text, &to_string(&params)), "{text}");
    }
    let id: RequestId = from_str("1e999999").unwrap();
    assert_eq!(to_string(&id), "1e999999");
    assert!(
        from_str::<RequestId>("1e-999999").is_err(),
        "that is not a whole number"
    );
    assert!(from_str::<RequestId>("123456789012345678901234567890.5").is_err());
}

#[test]
fn long_numbers_and_strings_are_refused_clearly_or_kept_by_every_type() {
    let long = 64 * 1024;
    let texts = [
        "1".repeat(long),
        format!("-0.{}", "0".repeat(long)),
        format!("1e{}", "9".repeat(long)),
        format!("\"{}\"", "a".repeat(long)),
        format!("\"{}\"", "\\u00e9".repeat(long / 6)),
        format!("\"{}", "é".repeat(long / 2)),
        format!("{{\"{}\":1}}", "k".repeat(long)),
        format!("{{\"type\":\"{}\"}}", "t".repeat(long)),
        format!("{{\"method\":\"{}\"}}", "m".repeat(long)),
        format!("{}{{}}", " ".repeat(long)),
        format!("{}x", "\n".repeat(long)),
    ];
    parallel::map(&every_type(), |(revision, row)| {
        for text in &texts {
            match row.round_trip(text) {
                Ok(written) => assert!(
                    text::same(text, &written),
                    "{revision} {} loses some of it",
                    row.rust_name
                ),
                Err(error) => assert_clear(&error, text),
            }
        }
    });
}

#[test]
fn ten_megabytes_are_read_where_they_are_allowed() {
    let digits = "7".repeat(10_000_000);
    let text = format!(r#"{{"jsonrpc":"2.0","id":{digits},"method":"ping"}}"#);
    let seen = mcp_wire::peek(text.as_bytes()).unwrap();
    assert_eq!(seen.id.map(|id| id.text().len()), Some(digits.len()));
    let request: v2025_11_25::ClientRequest = from_str(&text).unwrap();
    assert_eq!(to_string(&request).len(), text.len());
    let error =
        from_str::<v2025_11_25::TextContent>(&format!(r#"{{"type":"text","text":{digits}}}"#))
            .unwrap_err();
    assert_eq!(error.found().chars().count(), 41, "forty digits and a mark");
    let data = "QUJD".repeat(2_500_000);
    let text = format!(r#"{{"data":"{data}","mimeType":"image/png","type":"image"}}"#);
    let image: v2026_07_28::ContentBlock = from_str(&text).unwrap();
    assert!(
        matches!(&image, v2026_07_28::ContentBlock::Image(image) if image.data.len() == data.len())
    );
    assert_eq!(to_string(&image).len(), text.len());
    // As a tag, it is looked at once and shown in part.
    let error =
        from_str::<v2026_07_28::ContentBlock>(&format!(r#"{{"type":"{data}"}}"#)).unwrap_err();
    assert_clear(&error, &text);
}
