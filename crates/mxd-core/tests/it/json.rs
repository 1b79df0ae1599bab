//! JSON read without doubt: places, repeated keys, limits, and the canonical spelling of RFC 8785.

use mxd_core::json::{
    Bounds, CanonicalError, Change, Difference, JsonError, Kind, Numbers, Position, canonical,
    canonical_form, differences, read,
};
use proptest::prelude::*;
use serde_json::Value;

const BOUNDS: Bounds = Bounds { bytes: 1 << 20, depth: 64 };

fn spelt(text: &str) -> String {
    canonical(&read(text, BOUNDS).unwrap()).unwrap()
}

/// The table of numbers in appendix B of RFC 8785: bits of a double, and how it is printed.
const NUMBERS: &[(u64, &str)] = &[
    (0x0000_0000_0000_0000, "0"),
    (0x8000_0000_0000_0000, "0"),
    (0x0000_0000_0000_0001, "5e-324"),
    (0x8000_0000_0000_0001, "-5e-324"),
    (0x7fef_ffff_ffff_ffff, "1.7976931348623157e+308"),
    (0xffef_ffff_ffff_ffff, "-1.7976931348623157e+308"),
    (0x4340_0000_0000_0000, "9007199254740992"),
    (0xc340_0000_0000_0000, "-9007199254740992"),
    (0x4430_0000_0000_0000, "295147905179352830000"),
    (0x44b5_2d02_c7e1_4af5, "9.999999999999997e+22"),
    (0x44b5_2d02_c7e1_4af6, "1e+23"),
    (0x44b5_2d02_c7e1_4af7, "1.0000000000000001e+23"),
    (0x444b_1ae4_d6e2_ef4e, "999999999999999700000"),
    (0x444b_1ae4_d6e2_ef4f, "999999999999999900000"),
    (0x444b_1ae4_d6e2_ef50, "1e+21"),
    (0x3eb0_c6f7_a0b5_ed8c, "9.999999999999997e-7"),
    (0x3eb0_c6f7_a0b5_ed8d, "0.000001"),
    (0x41b3_de43_5555_5553, "333333333.3333332"),
    (0x41b3_de43_5555_5554, "333333333.33333325"),
    (0x41b3_de43_5555_5555, "333333333.3333333"),
    (0x41b3_de43_5555_5556, "333333333.3333334"),
    (0x41b3_de43_5555_5557, "333333333.33333343"),
    (0xbecb_f647_612f_3696, "-0.0000033333333333333333"),
    (0x4314_3ff3_c1cb_0959, "1424953923781206.2"),
];

#[test]
fn numbers_are_printed_as_the_rfc_prints_them() {
    for (bits, expected) in NUMBERS {
        // An exponent, so that large ones are read as doubles and not as written-out whole numbers.
        let text = format!("{:e}", f64::from_bits(*bits));
        assert_eq!(&spelt(&text), expected, "{text}");
        assert_eq!(&spelt(expected), expected, "printed again");
    }
}

#[test]
fn the_examples_of_the_rfc_come_out() {
    let numbers = "[333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001]";
    assert_eq!(spelt(numbers), "[333333333.3333333,1e+30,4.5,0.002,1e-27]");
    let string = r#""\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/""#;
    assert_eq!(spelt(string), r#""€$\u000f\nA'B\"\\\\\"/""#);
    let keys = r#"{"\u20ac":"Euro Sign","\r":"Carriage Return","\ufb33":"Hebrew Letter Dalet With Dagesh",
        "1":"One","\ud83d\ude00":"Emoji: Grinning Face","\u0080":"Control","\u00f6":"Latin Small Letter O With Diaeresis"}"#;
    let expected = "{\"\\r\":\"Carriage Return\",\"1\":\"One\",\"\u{80}\":\"Control\",\
        \"ö\":\"Latin Small Letter O With Diaeresis\",\"€\":\"Euro Sign\",\"😀\":\"Emoji: Grinning Face\",\
        \"\u{fb33}\":\"Hebrew Letter Dalet With Dagesh\"}";
    assert_eq!(spelt(keys), expected);
    assert_eq!(spelt("[56, {\"d\": true, \"10\": null, \"1\": []}]"), r#"[56,{"1":[],"10":null,"d":true}]"#);
}

#[test]
fn control_characters_have_one_escape_each() {
    let text: String = (0..0x20).map(|code| format!("\\u{code:04X}")).collect();
    let expected = "\"\\u0000\\u0001\\u0002\\u0003\\u0004\\u0005\\u0006\\u0007\\b\\t\\n\\u000b\\f\\r\\u000e\\u000f\
        \\u0010\\u0011\\u0012\\u0013\\u0014\\u0015\\u0016\\u0017\\u0018\\u0019\\u001a\\u001b\\u001c\\u001d\\u001e\\u001f\"";
    assert_eq!(spelt(&format!("\"{text}\"")), expected);
}

#[test]
fn two_whole_numbers_never_have_one_spelling() {
    for text in ["9007199254740993", "9223372036854775807", "18446744073709551615", "-9223372036854775808"] {
        assert_eq!(spelt(text), text);
    }
    assert_ne!(spelt("9223372036854775807"), spelt("9223372036854775806"));
    assert_eq!(spelt("9007199254740991.0"), "9007199254740991");
}

#[test]
fn numbers_stay_as_written_where_that_is_asked_for() {
    let node = read("[1.0,1e2,-0]", BOUNDS).unwrap();
    assert_eq!(canonical_form(&node, Numbers::AsWritten).unwrap(), "[1.0,1e2,-0]");
    assert_eq!(canonical(&node).unwrap(), "[1,100,0]");
}

#[test]
fn what_has_no_spelling_is_refused() {
    let refused = |text| canonical(&read(text, BOUNDS).unwrap()).unwrap_err();
    assert!(matches!(refused("[1e400]"), CanonicalError::TooLarge { .. }));
    assert!(matches!(refused(r#"[{"a":1,"b":2,"\u0061":3}]"#), CanonicalError::RepeatedKey { .. }));
}

#[test]
fn values_know_their_place() {
    let text = "{\n  \"a\": [true,\n    \"x\"]\n}";
    let node = read(text, BOUNDS).unwrap();
    let Kind::Object(members) = &node.kind else { panic!("{node:?}") };
    let Kind::Array(elements) = &members[0].1.kind else { panic!("{node:?}") };
    assert_eq!(Position::of(text, elements[0].at), Position { line: 2, column: 9 });
    assert_eq!(Position::of(text, elements[1].at), Position { line: 3, column: 5 });
}

#[test]
fn what_is_no_json_is_told_with_its_place() {
    let syntax = |text| match read(text, BOUNDS).unwrap_err() {
        JsonError::Syntax { position, .. } => position,
        other => panic!("{other}"),
    };
    assert_eq!(syntax("{\n \"a\": 1,\n}").line, 3);
    assert_eq!(syntax("[1, // no\n2]"), Position { line: 1, column: 5 });
    assert_eq!(syntax("{} {}").line, 1);
    assert_eq!(syntax("[\n\"\\ud800\"]").line, 2);
    assert_eq!(syntax("").line, 1);
}

#[test]
fn there_is_a_limit_to_size_and_depth() {
    let small = Bounds { bytes: 10, depth: 2 };
    assert!(matches!(read("[1,2,3,4,5,6]", small), Err(JsonError::TooLong { given: 13, limit: 10 })));
    assert!(read("[[1]]", small).is_ok());
    assert!(matches!(read("[[[1]]]", small), Err(JsonError::TooDeep { limit: 2, .. })));
    let deep = "[".repeat(500_000) + &"]".repeat(500_000);
    assert!(matches!(read(&deep, BOUNDS), Err(JsonError::TooDeep { .. })));
}

#[test]
fn differences_name_every_place_once_and_in_order() {
    let was = read(r#"{"b":1,"a":{"x":[1,2,3],"y":"same"},"z.z":null}"#, BOUNDS).unwrap();
    let now = read(r#"{"a":{"y":"same","x":[1,5]},"b":"1","c":true}"#, BOUNDS).unwrap();
    let expected = [
        ("a.x[1]", Change::Replaced { was: "2".to_owned(), now: "5".to_owned() }),
        ("a.x[2]", Change::Removed { was: "3".to_owned() }),
        ("b", Change::Replaced { was: "1".to_owned(), now: "\"1\"".to_owned() }),
        ("c", Change::Added { now: "true".to_owned() }),
        ("[\"z.z\"]", Change::Removed { was: "null".to_owned() }),
    ];
    let expected = expected.map(|(path, change)| Difference { path: path.to_owned(), change });
    assert_eq!(differences(&was, &now), expected);
    assert_eq!(differences(&was, &was), []);
}

/// Any JSON value.
pub(super) fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::btree_map(any::<String>(), inner, 0..6).prop_map(Value::from_iter),
        ]
    })
}

proptest! {
    #[test]
    fn the_canonical_spelling_is_its_own(value in any_value()) {
        let once = spelt(&value.to_string());
        prop_assert_eq!(spelt(&once), once.clone());
        prop_assert_eq!(spelt(&serde_json::to_string_pretty(&value).unwrap()), once);
    }

    #[test]
    fn doubles_read_back(bits in any::<u64>()) {
        let value = f64::from_bits(bits);
        prop_assume!(value.is_finite());
        let printed = spelt(&format!("{value:e}"));
        prop_assert_eq!(printed.parse::<f64>().unwrap(), value);
    }

    #[test]
    fn a_value_differs_from_another_exactly_when_their_spellings_do(a in any_value(), b in any_value()) {
        let (a, b) = (a.to_string(), b.to_string());
        let (first, second) = (read(&a, BOUNDS).unwrap(), read(&b, BOUNDS).unwrap());
        prop_assert_eq!(differences(&first, &second).is_empty(), spelt(&a) == spelt(&b));
    }

    #[test]
    fn no_text_makes_the_reader_panic_and_it_takes_what_others_take(text in any::<String>()) {
        let others = serde_json::from_str::<Value>(&text).is_ok();
        prop_assert_eq!(read(&text, BOUNDS).is_ok(), others);
    }

    #[test]
    fn damaged_json_is_read_as_others_read_it(value in any_value(), at in any::<prop::sample::Index>(), c in any::<char>()) {
        let mut chars: Vec<char> = value.to_string().chars().collect();
        let at = at.index(chars.len());
        chars[at] = c;
        let text: String = chars.into_iter().collect();
        let taken = read(&text, BOUNDS);
        // Numbers beyond every double are kept as text here.
        if serde_json::from_str::<Value>(&text).is_ok() {
            prop_assert!(taken.is_ok());
        }
    }
}
