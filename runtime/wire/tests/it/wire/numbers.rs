//! Numbers: spelling kept, value compared exactly.

use std::cmp::Ordering;
use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};

use mcp_wire::{ErrorKind, Integer, Number, RequestId, from_str, to_string};

fn number(text: &str) -> Number {
    text.parse().unwrap()
}

const SPELLINGS: &[&str] = &[
    "0",
    "-0",
    "0.0",
    "50",
    "50.0",
    "5e1",
    "-7",
    "1E400",
    "-1e-400",
    "123456789012345678",
    "9223372036854775807",
    "-9223372036854775808",
    "9223372036854775808",
    "18446744073709551615",
    "1234567890123456789012",
    "12345678901234567890123",
    "0.1234567890123456789012345",
    "1e99999999999999999999999999999999999999",
    "-999999999999999999",
    "-1000000000000000000",
];

#[test]
fn keeps_the_spelling() {
    assert!(
        size_of::<Integer>() <= 24
            && size_of::<Number>() <= 24
            && size_of::<Option<Integer>>() <= 24
    );
    for text in SPELLINGS {
        assert_eq!(to_string(&number(text)), *text);
        assert_eq!(number(text).to_string(), *text);
        assert_eq!(
            to_string(&from_str::<Vec<Number>>(&format!("[ {text} ]")).unwrap()),
            format!("[{text}]")
        );
        if let Ok(integer) = text.parse::<Integer>() {
            assert_eq!(to_string(&integer), *text);
        }
    }
}

#[test]
fn integers_have_no_fraction() {
    for text in [
        "0",
        "-0",
        "-0.0e-9",
        "5.0",
        "1e2",
        "100e-2",
        "1.50e1",
        "0.5e1",
        "1e999999999999999999999999999999999",
    ] {
        assert!(text.parse::<Integer>().is_ok(), "{text}");
    }
    for text in [
        "0.5",
        "5.01",
        "1e-2",
        "15e-1",
        "1e-999999999999999999999999999999999",
    ] {
        let error = text.parse::<Integer>().unwrap_err();
        assert_eq!(
            (error.kind(), error.expected(), error.found()),
            (
                ErrorKind::Kind,
                "an integer",
                text.get(..40).unwrap_or(text)
            )
        );
        assert!(Integer::try_from(number(text)).is_err());
    }
    let error = from_str::<Vec<Integer>>("[1, 2.5]").unwrap_err();
    assert_eq!((error.pointer(), error.offset()), ("/1", 4));
}

#[test]
fn compares_by_value() {
    // In ascending order; what is in one row is equal.
    let rows: &[&[&str]] = &[
        &["-1e999999999999999999999999999999999999999"],
        &["-1e400", "-10E+399"],
        &["-9223372036854775809"],
        &["-9223372036854775808", "-9223372036854775808.0"],
        &["-2", "-2.0"],
        &["-1.5", "-15e-1"],
        &["-1e-99999999999999999999999999999999999999999"],
        &[
            "0",
            "-0",
            "0.000",
            "0e99999999999999999999999999999999999999",
            "-0.0e-5",
        ],
        &[
            "1e-99999999999999999999999999999999999999999",
            "10e-100000000000000000000000000000000000000000",
        ],
        &["1e-88888888888888888888888888888888888888888"],
        &["0.001", "1e-3", "0.1e-2"],
        &["0.0010000000000000000000000000000000001"],
        &["5", "5.0", "50e-1", "0.5e1", "0.05E+2"],
        &["50", "5e1", "50.0"],
        &["9007199254740992", "9007199254740992.0"],
        &["9007199254740993", "9.007199254740993e15"],
        &["9223372036854775807"],
        &["9223372036854775808", "9223372036854775808.000"],
        &["18446744073709551615"],
        &["1e99999999999999999999999999998"],
        &[
            "1e99999999999999999999999999999",
            "10e99999999999999999999999999998",
        ],
        &[
            "10e99999999999999999999999999999",
            "1e100000000000000000000000000000",
            "100e99999999999999999999999999998",
            "0.1e100000000000000000000000000001",
        ],
        &["1.1e100000000000000000000000000000"],
        &[
            "1e999999999999999999999999999999999999999",
            "0.01e1000000000000000000000000000000000000001",
        ],
    ];
    let state = RandomState::new();
    for (i, a_row) in rows.iter().enumerate() {
        for (j, b_row) in rows.iter().enumerate() {
            for a in *a_row {
                for b in *b_row {
                    let (a, b) = (number(a), number(b));
                    assert_eq!(a.cmp(&b), i.cmp(&j), "{a} and {b}");
                    assert_eq!(a == b, i == j);
                    if i == j {
                        assert_eq!(state.hash_one(&a), state.hash_one(&b), "{a} and {b}");
                    }
                }
            }
        }
    }
}

#[test]
fn converts_within_range() {
    for (text, i64_value, u64_value) in [
        ("-0", Some(0), Some(0)),
        ("5.0", Some(5), Some(5)),
        ("-1e2", Some(-100), None),
        ("9223372036854775807", Some(i64::MAX), Some(i64::MAX as u64)),
        ("-9223372036854775808.0", Some(i64::MIN), None),
        ("9223372036854775808", None, Some(1 << 63)),
        ("18446744073709551615", None, Some(u64::MAX)),
        ("18446744073709551616", None, None),
        ("1e40", None, None),
        ("0.5", None, None),
    ] {
        assert_eq!(
            (number(text).as_i64(), number(text).as_u64()),
            (i64_value, u64_value),
            "{text}"
        );
    }
    assert_eq!(to_string(&Integer::from(u64::MAX)), "18446744073709551615");
    assert_eq!(to_string(&Integer::from(i64::MIN)), "-9223372036854775808");
    assert_eq!(Integer::from(7_u8), 7);
    assert_eq!(to_string(&Number::from(Integer::from(-7))), "-7");
    assert_eq!(number("1e400").as_f64(), f64::INFINITY);
    assert_eq!(number("0.1").as_f64(), 0.1);
}

#[test]
fn takes_finite_floats() {
    for value in [
        0.0,
        -0.0,
        50.0,
        0.1,
        1e300,
        -1.5e-9,
        f64::MAX,
        f64::MIN_POSITIVE,
    ] {
        let number = Number::from_f64(value).unwrap();
        assert_eq!(number.as_f64().to_bits(), value.to_bits());
        assert!(to_string(&number).parse::<Number>().is_ok(), "{number}");
    }
    assert!(Number::try_from(f64::NAN).is_err() && Number::try_from(f32::INFINITY).is_err());
    assert_eq!(to_string(&Number::try_from(0.1_f32).unwrap()), "0.1");
}

#[test]
fn ids_are_equal_by_value() {
    let id = |text: &str| from_str::<RequestId>(text).unwrap();
    assert_eq!(id("1"), id("1.0"));
    assert_ne!(id("1"), id(r#""1""#));
    assert_eq!(id(r#""\u0061""#), RequestId::from("a"));
    let ids: HashSet<RequestId> = ["1", "1.0", "10e-1", "2", r#""1""#].map(id).into();
    assert_eq!(ids.len(), 3);
    assert_eq!(id("7").cmp(&RequestId::from(7)), Ordering::Equal);
    assert_eq!(to_string(&id("1.0")), "1.0");
    for text in ["null", "true", "1.5", "{}", "[]"] {
        assert_eq!(
            from_str::<RequestId>(text).unwrap_err().kind(),
            ErrorKind::Kind,
            "{text}"
        );
    }
}
