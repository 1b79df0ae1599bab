//! Our adapters speak to a server that we did not write: a LiteLLM proxy, which asks the scripted model for them.
//!
//! What the proxy answers is its own, and so is what it asks; the scripted model holds that to the rules of its wire.
#![expect(clippy::unwrap_used, reason = "a panic is how a test speaks")]

mod litellm;
#[path = "../../../../testing/python.rs"]
mod python;

use std::time::Duration;

use futures_util::StreamExt;
use litellm::LiteLlm;
use mxd_core::prompt::{
    Block, Cache, CacheTtl, Head, Image, OutputLimits, Reasoning, ResultPart, SystemText, Text, ToolCall,
    ToolResult, ToolSpec, Turn,
};
use mxd_core::raw::RawJson;
use mxd_llm::{
    Backoff, Chunk, EncodedPrefix, EncodedRequest, LlmError, Provider, ProviderConfig, Stop, Usage, Wire,
};
use rehearse::{Rehearsal, Script};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

const KEY: &str = "sk-0123456789abcdef0123456789abcdef";
const INTRODUCTION: &str = "I will look at both towns – one moment, please.";
const ANSWER: &str = "It is 21 degrees in Oslo 😀; Bergen did not answer.";
/// A red dot.
const PICTURE: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";

/// A way through the proxy: what we speak to it, and what it speaks to the model.
#[derive(Clone, Copy)]
struct Route {
    ours: Wire,
    theirs: rehearse::Wire,
}

/// Where both speak the same the proxy passes on, elsewhere it translates.
const ROUTES: [Route; 6] = [
    Route { ours: Wire::Anthropic, theirs: rehearse::Wire::Anthropic },
    Route { ours: Wire::Responses, theirs: rehearse::Wire::Responses },
    Route { ours: Wire::Chat, theirs: rehearse::Wire::Chat },
    Route { ours: Wire::Anthropic, theirs: rehearse::Wire::Responses },
    Route { ours: Wire::Responses, theirs: rehearse::Wire::Anthropic },
    Route { ours: Wire::Chat, theirs: rehearse::Wire::Anthropic },
];

impl Route {
    /// The model that we ask the proxy for.
    fn model(self) -> String {
        format!("{}-to-{}", self.ours, self.theirs)
    }

    /// The proxy's configuration of it.
    fn entry(self, model: &Rehearsal) -> Value {
        let vendor = match self.theirs {
            rehearse::Wire::Anthropic => "anthropic",
            rehearse::Wire::Responses | rehearse::Wire::Chat => "openai",
        };
        let name = self.model();
        json!({
            "model_name": name,
            "litellm_params": {
                "model": format!("{vendor}/{name}"), "api_base": model.base_url(self.theirs), "api_key": "none",
            },
        })
    }

    /// What the scripted model says on this way. The first words of the user tell which way it is.
    fn conversation(self) -> Value {
        let weather = |town: &str| json!({ "tool_call": { "name": "weather", "input": { "town": town } } });
        let failed = match (self.ours, self.theirs) {
            (Wire::Anthropic, rehearse::Wire::Anthropic) => json!({ "index": 1, "is_error": true }),
            // No other wire says so but in words.
            _ => json!({ "index": 1, "contains": "no such station" }),
        };
        json!({
            "first_message": { "contains": format!("by {}:", self.model()) },
            "turns": [
                {
                    "expect": {
                        "offers_tools": "weather", "system": { "contains": "Be brief." }, "image_count": 1,
                    },
                    "reply": {
                        "blocks": [
                            { "thinking": { "text": "Two towns.", "signature": "c2VhbGVk" } },
                            { "text": INTRODUCTION }, weather("Oslo"), weather("Bergen"),
                        ],
                        "usage": { "input_tokens": 100, "output_tokens": 40, "cache_read_tokens": 7 },
                    },
                },
                {
                    "expect": {
                        "tool_result_count": 2,
                        "tool_results": [{ "index": 0, "call": "weather", "contains": "Oslo" }, failed],
                    },
                    "capture": ["Oslo: (?<degrees>[0-9]+)"],
                    "reply": { "blocks": [{ "text": ANSWER.replace("21", "$degrees") }] },
                    "chunk_bytes": 7,
                },
                { "reply": { "blocks": [{ "text": "You are" }], "stop_reason": "max_tokens" } },
            ],
        })
    }

    fn provider(self, proxy: &LiteLlm) -> Provider {
        let mut config = ProviderConfig::new(self.ours, Some(KEY.into()));
        config.base_url = match self.ours {
            Wire::Anthropic => proxy.url().to_owned(),
            Wire::Responses | Wire::Chat => format!("{}/v1", proxy.url()),
        };
        config.backoff = Backoff { attempts: 1, base: Duration::ZERO, ..Backoff::default() };
        Provider::new(config).unwrap()
    }

    fn head(self) -> Head {
        let schema = r#"{"type":"object","properties":{"town":{"type":"string"}},"required":["town"]}"#;
        Head {
            model: self.model(),
            system: SystemText { stable: "Be brief.".to_owned(), variable: "You are a test.".to_owned() },
            tools: vec![ToolSpec {
                name: "weather".to_owned(),
                description: "The weather of a town.".to_owned(),
                schema: RawJson::parse(schema).unwrap(),
            }],
            limits: OutputLimits { max_output_tokens: 500, reasoning: Reasoning::Unset },
            cache: Cache { ttl: CacheTtl::FiveMinutes, key: Some("a-conversation".to_owned()) },
        }
    }
}

/// What a call gave.
#[derive(Debug, Default, PartialEq)]
struct Answer {
    /// The text as it was streamed.
    streamed: String,
    blocks: Vec<Block>,
    usage: Usage,
    stop: Option<Stop>,
}

async fn ask(provider: &Provider, request: EncodedRequest) -> Result<Answer, LlmError> {
    let mut answer = Answer::default();
    let mut stream = provider.stream(request, CancellationToken::new());
    while let Some(chunk) = stream.next().await {
        match chunk? {
            Chunk::TextDelta(text) => answer.streamed += &text,
            Chunk::ThinkingDelta(_) => {}
            Chunk::Item(block) => answer.blocks.push(block),
            Chunk::Usage(usage) => answer.usage = usage,
            Chunk::End { stop, .. } => answer.stop = Some(stop),
            Chunk::Retrying(again) => panic!("{again:?}"),
        }
    }
    Ok(answer)
}

/// Oslo answers, Bergen does not.
fn weather(call: &ToolCall) -> Block {
    let input: Value = serde_json::from_str(call.input.get()).unwrap();
    let (is_error, text) = match input["town"].as_str().unwrap() {
        "Oslo" => (false, "Oslo: 21 degrees"),
        _ => (true, "no such station"),
    };
    let content = vec![ResultPart::Text(Text { text: text.to_owned() })];
    Block::ToolResult(ToolResult { call_id: call.id.clone(), is_error, content })
}

/// A thought; the Responses wire gives it as an item that goes back unread.
fn is_thought(block: &Block) -> bool {
    match block {
        Block::Thinking(thought) => thought.text == "Two towns.",
        Block::Opaque(item) => item.json.get().contains("Two towns."),
        _ => false,
    }
}

/// A thought, words and two calls, their results, an answer, and one that is cut short.
async fn converse(route: Route, proxy: &LiteLlm) -> Result<(), LlmError> {
    let name = route.model();
    let provider = route.provider(proxy);
    let mut live = EncodedPrefix::new(route.ours, &route.head())?;
    let picture = Image { media_type: "image/png".to_owned(), data: PICTURE.to_owned() };
    let question = format!("by {name}: what is the weather in Oslo and Bergen?");
    live.push(&Turn::user(vec![Block::text(question), Block::Image(picture)]))?;

    let first = ask(&provider, live.request()).await?;
    assert_eq!((first.streamed.as_str(), &first.stop), (INTRODUCTION, &Some(Stop::ToolUse)), "{name}");
    // The proxy estimates what was thought when it translates.
    let used =
        Usage { input: 100, output: 40, cache_read: 7, reasoning: first.usage.reasoning, ..Usage::default() };
    assert_eq!(first.usage, used, "{name}");
    assert!(first.blocks.contains(&Block::text(INTRODUCTION)), "{name}: {:?}", first.blocks);
    assert!(first.blocks.first().is_some_and(is_thought), "{name}: {:?}", first.blocks);
    let call = |block: &Block| if let Block::ToolCall(call) = block { Some(call.clone()) } else { None };
    let calls: Vec<ToolCall> = first.blocks.iter().filter_map(call).collect();
    assert_eq!((calls.len(), first.blocks.len()), (2, 4), "{name}: {:?}", first.blocks);
    live.push(&Turn::assistant(first.blocks))?;
    live.push(&Turn::user(calls.iter().map(weather).collect()))?;

    let second = ask(&provider, live.request()).await?;
    assert_eq!((second.streamed.as_str(), second.stop), (ANSWER, Some(Stop::EndTurn)), "{name}");
    assert_eq!(second.blocks, [Block::text(ANSWER)], "{name}");
    live.push(&Turn::assistant(second.blocks))?;
    live.push(&Turn::user(vec![Block::text("Thanks!")]))?;

    let third = ask(&provider, live.request()).await?;
    assert_eq!((third.streamed.as_str(), third.stop), ("You are", Some(Stop::MaxTokens)), "{name}");
    Ok(())
}

#[tokio::test]
async fn our_adapters_converse_through_a_proxy_on_all_three_wires() {
    let conversations: Vec<Value> = ROUTES.iter().map(|route| route.conversation()).collect();
    let script = json!({ "conversations": conversations }).to_string();
    let model = Rehearsal::start(Script::parse("script", &script).unwrap()).unwrap();
    let config = json!({
        "model_list": ROUTES.iter().map(|route| route.entry(&model)).collect::<Vec<_>>(),
        // What the other wire does not know, the proxy is to leave out.
        "litellm_settings": { "telemetry": false, "num_retries": 0, "drop_params": true },
    });
    let proxy = LiteLlm::start(&config, KEY);
    for route in ROUTES {
        if let Err(error) = converse(route, &proxy).await {
            panic!("{}: {error:?}\n{}\n{}", route.model(), model.report(), proxy.told());
        }
    }
    let spoken: Vec<rehearse::Wire> = model.requests().iter().map(|request| request.wire).collect();
    assert_eq!(spoken, ROUTES.map(|route| [route.theirs; 3]).concat());
    model.finish().unwrap_or_else(|report| panic!("{report}"));
}
