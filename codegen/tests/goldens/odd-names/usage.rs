//! Names outside ASCII, with blanks, with what a JSON pointer or a URI escapes.

use mcp_odd_names::{ABCD, Größe, Quoted, RecordStringInteger, Uses};

use crate::{again, refusal};

#[test]
fn the_wire_keeps_them_and_rust_gets_what_it_takes() {
    let size = Größe::new(1).with_a_b("b").with_n1st("1");
    assert_eq!(
        mcp_wire::to_string(&size),
        r#"{"1st":"1","a-b":"b","größe":1}"#
    );
    let mut record = RecordStringInteger::new();
    record.insert("k", 1.into());
    let uses = Uses::new().with_record(record).with_text(ABCD::from("t"));
    assert_eq!(
        mcp_wire::to_string(&uses),
        r#"{"record":{"k":1},"text":"t"}"#
    );
    assert_eq!(again::<Uses>(r#"{"record":{}}"#), r#"{"record":{}}"#);
    assert!(refusal::<Größe>(r#"{"größe":"x"}"#).starts_with("at /größe: "));
}

#[test]
fn a_name_or_a_constant_that_needs_escapes_is_written_with_them() {
    let text = r#"{"c":"x\"y","e\u0001":1,"a\"b":1,"d\\":"\\"}"#;
    let quoted = Quoted::new(1).with_d("\\");
    assert_eq!(mcp_wire::to_string(&quoted), text);
    assert_eq!(again::<Quoted>(text), text);
}
