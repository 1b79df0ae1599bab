//! Signatures: who vouches for a manifest, and that nothing changed passes.

use std::collections::BTreeSet;

use mxd_core::manifest::{
    AgentManifest, DidKey, Fault, ManifestSignature, Placeholders, RequiredSigners, SignatureError, sign,
    verify,
};
use proptest::prelude::*;
use secrecy::SecretBox;
use serde_json::{Value, json};

use super::fixtures::{good, parse};

fn seed(bytes: [u8; 32]) -> SecretBox<[u8; 32]> {
    SecretBox::new(Box::new(bytes))
}

/// The first key of RFC 8032.
const SEED: [u8; 32] = [
    0x9d, 0x61, 0xb1, 0x9d, 0xef, 0xfd, 0x5a, 0x60, 0xba, 0x84, 0x4a, 0xf4, 0x92, 0xec, 0x2c, 0xc4, 0x44,
    0x49, 0xc5, 0x69, 0x7b, 0x32, 0x69, 0x19, 0x70, 0x3b, 0xac, 0x03, 0x1c, 0xae, 0x7f, 0x60,
];
const DID: &str = "did:key:z6MktwupdmLXVVqTzCw4i46r4uGyosGXRnR3XjN4Zq7oMMsw";

fn required(signer: DidKey) -> RequiredSigners {
    RequiredSigners::OneOf(BTreeSet::from([signer]))
}

fn small() -> AgentManifest {
    parse(&json!({"schema_version": 1, "agent": "matrix://agent/a", "description": "x"}))
}

#[test]
fn a_signed_manifest_is_vouched_for() {
    let manifest = parse(&good());
    let signature = sign(&manifest, &seed(SEED));
    assert_eq!(signature.signer.to_string(), DID);
    assert_eq!(verify(&manifest, &signature, &required(signature.signer)), Ok(()));
    assert_eq!(verify(&manifest, &signature, &RequiredSigners::Nobody), Ok(()));
    assert_eq!(signature, sign(&manifest, &seed(SEED)), "signing is deterministic");
    let read = ManifestSignature::parse(signature.to_string().as_bytes()).unwrap();
    assert_eq!(read, signature);
    // Spaces and the order of keys are not signed.
    let pretty = serde_json::to_string_pretty(&good()).unwrap();
    let pretty = AgentManifest::parse(pretty.as_bytes(), Placeholders::Refuse).unwrap();
    assert_eq!(verify(&pretty, &signature, &required(signature.signer)), Ok(()));
}

#[test]
fn only_required_signers_count() {
    let manifest = small();
    let (ours, theirs) = (sign(&manifest, &seed(SEED)), sign(&manifest, &seed([7; 32])));
    let refused = verify(&manifest, &theirs, &required(ours.signer));
    assert_eq!(refused, Err(SignatureError::OtherSigner { signer: theirs.signer }));
    assert_eq!(required(ours.signer).admit_unsigned(), Err(SignatureError::Unsigned));
    assert_eq!(RequiredSigners::Nobody.admit_unsigned(), Ok(()));
    // Saying to be somebody else does not help.
    let mut forged: Value = serde_json::from_str(&theirs.to_string()).unwrap();
    forged["signer"] = json!(DID);
    let forged = ManifestSignature::parse(forged.to_string().as_bytes()).unwrap();
    let refused = verify(&manifest, &forged, &required(ours.signer));
    assert_eq!(refused, Err(SignatureError::Forged { signer: ours.signer }));
    let no_one = RequiredSigners::OneOf(BTreeSet::new());
    assert!(verify(&manifest, &ours, &no_one).is_err(), "an empty list accepts nobody");
}

#[test]
fn any_changed_bit_of_a_manifest_fails() {
    let manifest = small();
    let signature = sign(&manifest, &seed(SEED));
    let text = manifest.canonical().as_bytes();
    let (mut read, mut refused) = (0, 0);
    for at in 0..text.len() {
        for bit in 0..8 {
            let mut changed = text.to_vec();
            changed[at] ^= 1 << bit;
            let Ok(changed) = AgentManifest::parse(&changed, Placeholders::Refuse) else {
                refused += 1;
                continue;
            };
            read += 1;
            let error = verify(&changed, &signature, &RequiredSigners::Nobody).unwrap_err();
            assert!(matches!(error, SignatureError::OtherManifest { .. }), "{error}");
        }
    }
    assert!(read > 0 && refused > 0, "{read} {refused}");
}

#[test]
fn a_changed_manifest_fails_also_when_its_address_was_changed_with_it() {
    let signature = sign(&small(), &seed(SEED));
    let other = parse(&json!({"schema_version": 1, "agent": "matrix://agent/a", "description": "y"}));
    let mut file: Value = serde_json::from_str(&signature.to_string()).unwrap();
    file["manifest"] = json!(format!("sha256:{}", other.address()));
    let moved = ManifestSignature::parse(file.to_string().as_bytes()).unwrap();
    let refused = verify(&other, &moved, &required(signature.signer));
    assert_eq!(refused, Err(SignatureError::Forged { signer: signature.signer }));
}

#[test]
fn any_changed_byte_of_a_signature_file_fails() {
    let manifest = small();
    let signature = sign(&manifest, &seed(SEED));
    let compact: Value = serde_json::from_str(&signature.to_string()).unwrap();
    let text = compact.to_string();
    for at in 0..text.len() {
        for replacement in [b'0', b'1', b'a', b'Z', b' ', b'"', 0xff] {
            let mut changed = text.as_bytes().to_vec();
            if changed[at] == replacement {
                continue;
            }
            changed[at] = replacement;
            if let Ok(changed) = ManifestSignature::parse(&changed) {
                let result = verify(&manifest, &changed, &required(signature.signer));
                assert!(result.is_err(), "byte {at} as {replacement}");
            }
        }
    }
}

#[test]
fn a_signature_file_is_read_strictly() {
    let good: Value = serde_json::from_str(&sign(&small(), &seed(SEED)).to_string()).unwrap();
    let problem = |key: &str, value: Value| {
        let mut file = good.clone();
        file[key] = value;
        let problems = ManifestSignature::parse(file.to_string().as_bytes()).unwrap_err();
        let [problem] = &problems.problems[..] else { panic!("{problems}") };
        (problem.path.clone(), problem.fault.clone())
    };
    assert!(matches!(problem("schema_version", json!(2)).1, Fault::SchemaVersion { .. }));
    assert!(matches!(problem("comment", json!("x")).1, Fault::UnknownKey { .. }));
    assert!(matches!(problem("manifest", json!("sha256:12")).1, Fault::Digest { .. }));
    assert!(matches!(problem("manifest", json!("1.0.0")).1, Fault::Digest { .. }));
    for signature in ["", "00", &"0".repeat(127), &"g".repeat(128), &"A".repeat(128), &"é".repeat(64)] {
        assert_eq!(problem("signature", json!(signature)), ("signature".to_owned(), Fault::SignatureForm));
    }
    for key in ["schema_version", "signer", "manifest", "signature"] {
        let mut file = good.clone();
        file.as_object_mut().unwrap().shift_remove(key);
        let problems = ManifestSignature::parse(file.to_string().as_bytes()).unwrap_err();
        assert!(matches!(problems.problems[0].fault, Fault::Missing { .. }), "{problems}");
    }
}

#[test]
fn a_signer_is_an_ed25519_key_and_nothing_else() {
    for did in [DID, "did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK"] {
        assert_eq!(did.parse::<DidKey>().unwrap().to_string(), did);
    }
    let bad = [
        "",
        "did:key:",
        "did:key:z",
        "did:web:example.com",
        "did:key:u6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK",
        "did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2do0",
        "did:key:z16MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK",
        // A key of another kind, one that is a byte short, and one for which anybody can sign.
        "did:key:z6DtcHQYE8h631D7sY9TnXRWusFsyJr7A7ypfWCaWwCt8HpD",
        "did:key:z2DQYFhy74hg5eM3VNHKxySLj7rqfiJ7SZ3Gyokjx1w6yGc",
        "did:key:z6MkeXATEjyXENzBXBxgC5EHk2JE5aqd7qMGGtDpLUH1e2Sj",
    ];
    for did in bad {
        assert!(matches!(did.parse::<DidKey>(), Err(Fault::Signer { .. })), "{did}");
    }
    assert!(format!("did:key:z{}", "z".repeat(100_000)).parse::<DidKey>().is_err());
}

proptest! {
    #[test]
    fn any_signer_reads_back(bytes in any::<[u8; 32]>()) {
        let signer = sign(&small(), &seed(bytes)).signer;
        prop_assert_eq!(signer.to_string().parse::<DidKey>().unwrap(), signer);
        prop_assert!(signer.to_string().starts_with("did:key:z6Mk"));
    }

    #[test]
    fn no_bytes_make_the_readers_panic(bytes in prop::collection::vec(any::<u8>(), 0..200), text in any::<String>()) {
        prop_assert!(ManifestSignature::parse(&bytes).is_err());
        prop_assert!(text.parse::<DidKey>().is_err());
    }
}
