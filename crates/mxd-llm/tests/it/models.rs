//! Models as data, and what calls cost.

use mxd_core::money::Usd;
use mxd_core::prompt::{Effort, Reasoning};
use mxd_llm::{Class, Model, Models, Usage, cost};

fn model(name: &str) -> Model {
    Models::built_in().unwrap().get(name).unwrap().clone()
}

fn micros(name: &str, usage: Usage) -> u64 {
    cost(&model(name), &usage).unwrap().micros()
}

#[test]
fn the_data_file_holds_what_it_must() {
    let models = Models::built_in().unwrap();
    for model in models.iter() {
        let prices = &model.prices;
        assert!(prices.cache_read < prices.input && prices.input < prices.output, "{model:?}");
        assert!(prices.input < prices.cache_write_5m, "{model:?}");
        assert!(prices.cache_write_5m <= prices.cache_write_1h, "{model:?}");
        assert!(u64::from(model.max_output_tokens) < model.context_window, "{model:?}");
    }
    let vendors: std::collections::BTreeSet<_> = models.iter().map(|model| model.vendor.as_str()).collect();
    assert_eq!(vendors.into_iter().collect::<Vec<_>>(), ["anthropic", "openai"]);
}

#[test]
fn an_unknown_model_is_an_error_that_says_how_to_add_it() {
    let error = Models::built_in().unwrap().get("claude-nonesuch").unwrap_err();
    assert_eq!(error.class, Class::UnknownModel);
    assert!(error.message.contains("`claude-nonesuch`"), "{error}");
    assert!(error.hint().contains("`models`"), "{}", error.hint());
    // The example in the message is one that works.
    let example = &error.message[error.message.find('{').unwrap()..];
    let parsed = Models::parse_overrides(&format!("[{example}]")).unwrap();
    assert_eq!(parsed[0].prices.cache_write_5m, Usd::from_micros(1_250_000).unwrap());
}

#[test]
fn a_snapshot_is_priced_like_its_model_and_nothing_else_is() {
    let models = Models::built_in().unwrap();
    assert_eq!(models.get("claude-haiku-4-5-20251001").unwrap().name, "claude-haiku-4-5");
    assert_eq!(models.get("gpt-6.1-sol-2026-09-29").unwrap().name, "gpt-6.1-sol");
    for unknown in
        ["claude-haiku-4-5-2025100", "gpt-6.1-sol-2026-9-29", "claude-haiku", "", "20251001", "é-20251001"]
    {
        models.get(unknown).unwrap_err();
    }
}

#[test]
fn the_users_entries_replace_and_add() {
    let overrides = Models::parse_overrides(
        r#"[{"name": "claude-opus-5-5", "vendor": "proxy", "contextWindow": 5, "maxOutputTokens": 4,
             "thinking": "none", "images": false,
             "prices": {"input": 1, "output": 2, "cacheRead": 0, "cacheWrite5m": 0, "cacheWrite1h": 0, "reasoning": 3}},
            {"name": "mine", "vendor": "me", "contextWindow": 5, "maxOutputTokens": 4, "thinking": "effort",
             "images": true, "prices": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite5m": 0, "cacheWrite1h": 0}}]"#,
    );
    let models = Models::built_in().unwrap().with(overrides.unwrap());
    assert_eq!(models.get("claude-opus-5-5").unwrap().vendor, "proxy");
    assert_eq!(models.get("mine").unwrap().vendor, "me");
    let usage = Usage { output: 3_000_000, reasoning: 1_000_000, ..Usage::default() };
    assert_eq!(cost(models.get("claude-opus-5-5").unwrap(), &usage), Usd::from_micros(7_000_000));
    let wrong = Models::parse_overrides(r#"[{"name": "x", "price": 1}]"#).unwrap_err();
    assert_eq!(wrong.class, Class::Config);
}

#[test]
fn every_kind_of_token_has_its_price() {
    let million = 1_000_000;
    let cases = [
        (Usage { input: million, ..Usage::default() }, 4_000_000),
        (Usage { output: million, ..Usage::default() }, 20_000_000),
        (Usage { cache_read: million, ..Usage::default() }, 200_000),
        (Usage { cache_write_5m: million, ..Usage::default() }, 5_000_000),
        (Usage { cache_write_1h: million, ..Usage::default() }, 8_000_000),
        (Usage { output: million, reasoning: million, ..Usage::default() }, 20_000_000),
        (Usage::default(), 0),
    ];
    for (usage, expected) in cases {
        assert_eq!(micros("claude-opus-5-5", usage), expected, "{usage:?}");
    }
    let all = Usage {
        input: 1,
        cache_read: 10,
        cache_write_5m: 100,
        cache_write_1h: 1_000,
        output: 7,
        reasoning: 3,
        fault: None,
    };
    // 4 + 2 + 500 + 8,000 + 140 millionths.
    assert_eq!(micros("claude-opus-5-5", all), 8_646);
    // Less than a millionth is not nothing.
    assert_eq!(micros("claude-haiku-5-5", Usage { cache_read: 1, ..Usage::default() }), 1);
}

#[test]
fn a_long_prompt_has_the_price_of_a_long_prompt() {
    let short = Usage { input: 1_000, cache_read: 99_000, output: 1_000_000, ..Usage::default() };
    assert_eq!(micros("claude-haiku-5-5", short), 100 + 990 + 500_000);
    let long = Usage { input: 1_001, ..short };
    assert_eq!(micros("claude-haiku-5-5", long), 2_505_451);
}

#[test]
fn a_cost_beyond_all_money_is_none() {
    let usage = Usage { output: u64::MAX, ..Usage::default() };
    assert_eq!(cost(&model("claude-opus-5-5"), &usage), None);
}

#[test]
fn effort_takes_the_form_the_model_knows() {
    assert_eq!(model("claude-opus-5-5").reasoning(Effort::High, 64_000), Reasoning::Effort(Effort::High));
    assert_eq!(model("claude-haiku-4-5").reasoning(Effort::High, 64_000), Reasoning::Budget(16_000));
    assert_eq!(model("claude-haiku-4-5").reasoning(Effort::Low, 8_000), Reasoning::Unset);
}
