//! A named scalar is a type of its own, that goes to the scalar and back.

use mcp_newtype::{Count, Cursor, Flag, Ratio};

use crate::{again, refusal};

#[test]
fn it_is_the_scalar_on_the_wire() {
    assert_eq!(again::<Cursor>(r#""c""#), r#""c""#);
    assert_eq!(again::<Count>("9007199254740993"), "9007199254740993");
    assert_eq!(again::<Ratio>("1.50"), "1.50");
    assert_eq!(again::<Flag>("true"), "true");
    refusal::<Count>("1.5");
    refusal::<Cursor>("null");
    let text: String = Cursor::from("c").into();
    assert_eq!(text, "c");
}
