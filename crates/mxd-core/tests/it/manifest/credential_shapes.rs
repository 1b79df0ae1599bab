//! Keys of well-known services are found under any name. The values are made up here, from a seed, so that no
//! file holds anything that looks like a key to a scanner.

use super::literals::in_env;

/// Which characters a part of a key is made of.
#[derive(Clone, Copy)]
enum Made {
    Letters,
    Hex,
    Digits,
    Upper,
}

/// Made up, with digits and letters at fixed places so that it has both.
fn made(kind: Made, length: usize) -> String {
    let alphabet: &[u8] = match kind {
        Made::Letters => b"a8B3c9D2e7F1g6H5j4K0lM2nO9pQ7rS5tU3vW1xYz",
        Made::Hex => b"a8b3c9d2e7f1a6b5c4d0",
        Made::Digits => b"4719203856",
        Made::Upper => b"A8B3C9D2E7F1G6H5J4K0",
    };
    (0..length).map(|at| char::from(alphabet[(at * 7 + at / 3) % alphabet.len()])).collect()
}

/// Prefixes with the length and the characters of what follows.
const PREFIXED: &[(&str, Made, usize)] = &[
    ("sk-ant-api03-", Made::Letters, 95),
    ("sk-proj-", Made::Letters, 74),
    ("sk-or-v1-", Made::Hex, 64),
    ("sk-lf-", Made::Hex, 36),
    ("gsk_", Made::Letters, 52),
    ("xai-", Made::Letters, 80),
    ("pplx-", Made::Letters, 48),
    ("r8_", Made::Letters, 37),
    ("hf_", Made::Letters, 34),
    ("tgp_v1_", Made::Letters, 43),
    ("lsv2_pt_", Made::Hex, 32),
    ("pcsk_", Made::Letters, 70),
    ("tvly-", Made::Letters, 32),
    ("jina_", Made::Hex, 32),
    ("fc-", Made::Hex, 32),
    ("apify_api_", Made::Letters, 36),
    ("e2b_", Made::Hex, 40),
    ("bb_live_", Made::Letters, 28),
    ("sk_live_", Made::Letters, 24),
    ("rk_test_", Made::Letters, 24),
    ("sk_", Made::Hex, 48),
    ("whsec_", Made::Letters, 32),
    ("shpat_", Made::Hex, 32),
    ("sq0atp-", Made::Letters, 22),
    ("ghp_", Made::Letters, 36),
    ("github_pat_", Made::Letters, 82),
    ("glpat-", Made::Letters, 20),
    ("gldt-", Made::Letters, 20),
    ("glrt-", Made::Letters, 20),
    ("ATATT3xFfGF0", Made::Letters, 180),
    ("ATBB", Made::Letters, 32),
    ("npm_", Made::Letters, 36),
    ("pypi-", Made::Letters, 150),
    ("rubygems_", Made::Hex, 48),
    ("CLOJARS_", Made::Hex, 60),
    ("oy2", Made::Hex, 43),
    ("dckr_pat_", Made::Letters, 27),
    ("bkua_", Made::Hex, 40),
    ("CCIPAT_", Made::Letters, 40),
    ("squ_", Made::Hex, 40),
    ("PMAK-", Made::Hex, 59),
    ("AKCp", Made::Letters, 69),
    ("AKIA", Made::Upper, 16),
    ("ASIA", Made::Upper, 16),
    ("AIza", Made::Letters, 35),
    ("GOCSPX-", Made::Letters, 28),
    ("ya29.", Made::Letters, 60),
    ("LTAI", Made::Letters, 20),
    ("dop_v1_", Made::Hex, 64),
    ("HRKU-", Made::Hex, 36),
    ("nfp_", Made::Letters, 36),
    ("rnd_", Made::Letters, 28),
    ("fo1_", Made::Letters, 43),
    ("dapi", Made::Hex, 32),
    ("pul-", Made::Hex, 40),
    ("sbp_", Made::Hex, 40),
    ("sb_secret_", Made::Letters, 31),
    ("napi_", Made::Letters, 64),
    ("pscale_tkn_", Made::Letters, 43),
    ("pscale_pw_", Made::Letters, 43),
    ("hvs.", Made::Letters, 90),
    ("dp.pt.", Made::Letters, 43),
    ("ops_eyJ", Made::Letters, 250),
    ("AGE-SECRET-KEY-1", Made::Upper, 58),
    ("xoxb-", Made::Letters, 50),
    ("xapp-1-", Made::Upper, 50),
    ("ntn_", Made::Letters, 46),
    ("secret_", Made::Letters, 43),
    ("lin_api_", Made::Letters, 40),
    ("figd_", Made::Letters, 40),
    ("tfp_", Made::Letters, 59),
    ("CFPAT-", Made::Letters, 43),
    ("re_", Made::Letters, 33),
    ("key-", Made::Hex, 32),
    ("pat-na1-", Made::Hex, 36),
    ("NRAK-", Made::Upper, 27),
    ("sntrys_", Made::Letters, 120),
    ("glsa_", Made::Letters, 41),
    ("eyJrIjoi", Made::Letters, 80),
    ("sk.eyJ", Made::Letters, 80),
    ("SK", Made::Hex, 32),
];

/// Keys that are known by their parts.
fn composed() -> Vec<String> {
    let (letters, hex) = (|n| made(Made::Letters, n), |n| made(Made::Hex, n));
    vec![
        format!("SG.{}.{}", letters(22), letters(43)),
        format!("{}:{}", made(Made::Digits, 9), letters(35)),
        format!("https://api.telegram.org/bot{}:{}/getMe", made(Made::Digits, 10), letters(35)),
        format!("M{}.{}.{}", letters(23), letters(6), letters(38)),
        format!("pat{}.{}", letters(14), hex(64)),
        format!("a8B8Q~{}", letters(34)),
        format!("{}-us21", hex(32)),
        format!("{}.atlasv1.{}", letters(14), letters(67)),
        format!(
            "https://hooks.slack.com/services/T{}/B{}/{}",
            made(Made::Upper, 8),
            made(Made::Upper, 8),
            letters(24)
        ),
        format!("https://discord.com/api/webhooks/{}/{}", made(Made::Digits, 18), letters(68)),
        format!("eyJ{}.eyJ{}.{}", letters(33), letters(40), letters(43)),
        format!("-----BEGIN {} KEY-----", ["EC", "PRIVATE"].join(" ")),
    ]
}

#[test]
fn well_known_keys_are_found_under_any_name() {
    let prefixed = PREFIXED.iter().map(|(prefix, kind, length)| format!("{prefix}{}", made(*kind, *length)));
    let keys: Vec<String> = prefixed.chain(composed()).collect();
    assert!(keys.len() >= 60);
    for key in keys {
        for item in
            [format!("SETTING={key}"), format!("SETTING=use {key} here"), format!("SETTING=[\"{key}\"]")]
        {
            let found = in_env(&item);
            assert!(found.is_some(), "{item}");
            let (what, hint) = found.unwrap();
            assert!(!what.contains(&key) && !hint.contains(&key), "{item}");
        }
    }
}
