//! Ids, lookup by prefix, and money: the small values.

use std::collections::BTreeMap;

use mxd_core::id::{Fresh, MessageId, ParseIdError, TaskId, Ulid};
use mxd_core::lookup::{LookupError, resolve};
use mxd_core::money::Usd;
use proptest::prelude::*;

fn id(text: &str) -> TaskId {
    text.parse().expect("an id")
}

fn nodes(ids: &[&str]) -> BTreeMap<TaskId, ()> {
    ids.iter().map(|text| (id(text), ())).collect()
}

#[test]
fn an_id_reads_in_either_case_and_prints_in_one() {
    let upper = "01JZ9K3M5N7P9R1S3T5V7W9XYZ";
    let parsed = id(&upper.to_lowercase());
    assert_eq!(parsed.to_string(), upper);
    assert_eq!(serde_json::to_string(&parsed).unwrap(), format!("\"{upper}\""));
    assert_eq!(serde_json::from_str::<TaskId>(&format!("\"{upper}\"")).unwrap(), parsed);
    assert_eq!(format!("{parsed:?}"), format!("TaskId({upper})"));
}

#[test]
fn what_is_not_an_id_says_why() {
    assert_eq!("01JZ".parse::<TaskId>(), Err(ParseIdError::Length { given: 4 }));
    assert_eq!("01JZ9K3M5N7P9R1S3T5V7W9XYU".parse::<TaskId>(), Err(ParseIdError::Character));
    assert_eq!("81JZ9K3M5N7P9R1S3T5V7W9XYZ".parse::<TaskId>(), Err(ParseIdError::TooLarge));
    assert!(serde_json::from_str::<TaskId>("\"nonsense\"").is_err());
}

#[test]
fn fresh_ids_count_up_from_their_seed() {
    let mut fresh = Fresh::from_seed(Ulid::from_parts(5, 9));
    let (first, second): (TaskId, MessageId) = (fresh.issue(), fresh.issue());
    assert_eq!(first, TaskId::from(Ulid::from_parts(5, 9)));
    assert_eq!(second, MessageId::from(Ulid::from_parts(5, 10)));
}

#[test]
fn a_prefix_finds_the_one_node_that_has_it() {
    let nodes =
        nodes(&["01JZ0000000000000000000001", "01JZ0000000000000000000002", "01JZ1111110000000000000000"]);
    assert_eq!(resolve("01jz1111", &nodes), Ok(id("01JZ1111110000000000000000")));
    let whole = "01JZ0000000000000000000001";
    assert_eq!(resolve(whole, &nodes), Ok(id(whole)));
}

#[test]
fn a_prefix_that_finds_none_or_several_says_which() {
    let all: Vec<String> = (1..8).map(|n| format!("01JZ000000000000000000000{n}")).collect();
    let nodes = nodes(&all.iter().map(String::as_str).collect::<Vec<_>>());
    let short = LookupError::TooShort { given: "01JZ000".into(), min: 8 };
    assert_eq!(resolve("01JZ000", &nodes), Err(short));
    assert_eq!(resolve("", &nodes), Err(LookupError::TooShort { given: String::new(), min: 8 }));
    assert_eq!(resolve("01JZ1234", &nodes), Err(LookupError::Unknown { prefix: "01JZ1234".into() }));
    for bad in ["01JZ-000", "u", "91JZ0000", "01JZ0000000000000000000001X", "ÄÖÜÄÖÜÄÖÜ"] {
        assert_eq!(resolve(bad, &nodes), Err(LookupError::NotAnId { given: bad.into() }), "{bad}");
    }
    let Err(LookupError::Ambiguous { candidates, total, .. }) = resolve("01JZ0000", &nodes) else {
        panic!("ambiguous");
    };
    assert_eq!((candidates.len(), total), (5, 7));
    let text = resolve("01JZ0000", &nodes).unwrap_err().to_string();
    assert!(text.contains("7 ids") && text.ends_with('…'), "{text}");
}

proptest! {
    #[test]
    fn the_range_query_finds_what_a_scan_finds(
        numbers in prop::collection::btree_set(0u128..1 << 20, 0..40),
        pick in 0u128..1 << 20,
        length in 8usize..=26,
    ) {
        let nodes: BTreeMap<TaskId, ()> =
            numbers.iter().map(|n| (TaskId::from(Ulid::from_parts(3, n << 40)), ())).collect();
        let prefix = &TaskId::from(Ulid::from_parts(3, pick << 40)).to_string()[..length];
        let found: Vec<TaskId> = nodes.keys().copied().filter(|id| id.to_string().starts_with(prefix)).collect();
        match (found.as_slice(), resolve(prefix, &nodes)) {
            ([], Err(LookupError::Unknown { .. })) => {}
            ([one], Ok(id)) => prop_assert_eq!(*one, id),
            (many, Err(LookupError::Ambiguous { total, .. })) => prop_assert_eq!(many.len(), total),
            (scan, range) => prop_assert!(false, "scan {:?}, range {:?}", scan, range),
        }
    }

    #[test]
    fn money_comes_back_from_json_exactly(micros in 0u64..=1_000_000_000_000_000) {
        let amount = Usd::from_micros(micros).unwrap();
        let text = serde_json::to_string(&amount).unwrap();
        prop_assert_eq!(serde_json::from_str::<Usd>(&text).unwrap(), amount, "{}", text);
    }
}

#[test]
fn money_is_never_negative_nor_beyond_what_json_carries() {
    let cent = Usd::from_cents(1).unwrap();
    assert_eq!(Usd::ZERO.checked_sub(cent), None);
    assert_eq!(Usd::MAX.checked_add(cent), None);
    assert_eq!(cent.checked_add(cent), Usd::from_cents(2));
    for bad in ["-1", "-0.5", "1000000000.5", "1e300", "\"1\"", "null"] {
        assert!(serde_json::from_str::<Usd>(bad).is_err(), "{bad}");
    }
    assert_eq!(serde_json::from_str::<Usd>("1.0").unwrap(), serde_json::from_str::<Usd>("1").unwrap());
}

#[test]
fn money_reads_as_dollars() {
    assert_eq!(Usd::from_cents(150).unwrap().to_string(), "$1.50");
    assert_eq!(Usd::from_micros(125).unwrap().to_string(), "$0.000125");
}
