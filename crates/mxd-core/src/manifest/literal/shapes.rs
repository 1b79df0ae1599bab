//! Credentials that are recognised by how they are written, whatever name stands beside them.

use super::HOLE;

/// A known shape: a prefix, and how many characters of its kind follow at least.
struct Shape {
    prefix: &'static str,
    rest: usize,
    what: &'static str,
}

const fn shape(prefix: &'static str, rest: usize, what: &'static str) -> Shape {
    Shape { prefix, rest, what }
}

/// Longer prefixes first, so that the message names the right one.
const SHAPES: &[Shape] = &[
    // Model providers.
    shape("sk-ant-", 16, "an Anthropic key"),
    shape("sk-or-", 16, "an OpenRouter key"),
    shape("sk-lf-", 16, "a Langfuse key"),
    shape("sk-", 20, "an OpenAI key"),
    shape("gsk_", 20, "a Groq key"),
    shape("xai-", 20, "an xAI key"),
    shape("pplx-", 20, "a Perplexity key"),
    shape("r8_", 20, "a Replicate token"),
    shape("hf_", 24, "a Hugging Face token"),
    shape("tgp_v1_", 20, "a Together key"),
    shape("lsv2_", 20, "a LangSmith key"),
    shape("pcsk_", 20, "a Pinecone key"),
    shape("tvly-", 16, "a Tavily key"),
    shape("jina_", 20, "a Jina key"),
    shape("fc-", 24, "a Firecrawl key"),
    shape("apify_api_", 16, "an Apify token"),
    shape("e2b_", 20, "an E2B key"),
    shape("bb_live_", 16, "a Browserbase key"),
    // Money.
    shape("sk_live_", 16, "a Stripe key"),
    shape("sk_test_", 16, "a Stripe key"),
    shape("rk_live_", 16, "a Stripe key"),
    shape("rk_test_", 16, "a Stripe key"),
    shape("whsec_", 20, "a Stripe key"),
    shape("sk_", 32, "a secret key"),
    shape("shpat_", 20, "a Shopify token"),
    shape("shpss_", 20, "a Shopify token"),
    shape("shpca_", 20, "a Shopify token"),
    shape("shppa_", 20, "a Shopify token"),
    shape("sq0atp-", 16, "a Square token"),
    shape("sq0csp-", 16, "a Square token"),
    // Code.
    shape("github_pat_", 20, "a GitHub token"),
    shape("ghp_", 20, "a GitHub token"),
    shape("gho_", 20, "a GitHub token"),
    shape("ghu_", 20, "a GitHub token"),
    shape("ghs_", 20, "a GitHub token"),
    shape("ghr_", 20, "a GitHub token"),
    shape("glpat-", 16, "a GitLab token"),
    shape("gldt-", 16, "a GitLab token"),
    shape("glrt-", 16, "a GitLab token"),
    shape("glptt-", 16, "a GitLab token"),
    shape("glcbt-", 16, "a GitLab token"),
    shape("glsoat-", 16, "a GitLab token"),
    shape("ATATT", 40, "an Atlassian token"),
    shape("ATCTT", 40, "an Atlassian token"),
    shape("ATBB", 24, "a Bitbucket password"),
    shape("npm_", 30, "an npm token"),
    shape("pypi-", 30, "a PyPI token"),
    shape("rubygems_", 30, "a RubyGems key"),
    shape("CLOJARS_", 30, "a Clojars token"),
    shape("oy2", 40, "a NuGet key"),
    shape("dckr_pat_", 16, "a Docker token"),
    shape("dckr_oat_", 16, "a Docker token"),
    shape("bkua_", 20, "a Buildkite token"),
    shape("CCIPAT_", 20, "a CircleCI token"),
    shape("CCIPRJ_", 20, "a CircleCI token"),
    shape("squ_", 30, "a SonarQube token"),
    shape("sqp_", 30, "a SonarQube token"),
    shape("PMAK-", 24, "a Postman key"),
    shape("AKCp", 60, "an Artifactory key"),
    // Clouds.
    shape("AKIA", 16, "an AWS key"),
    shape("ASIA", 16, "an AWS key"),
    shape("ABSK", 40, "an AWS key"),
    shape("AIza", 30, "a Google key"),
    shape("GOCSPX-", 20, "a Google client secret"),
    shape("ya29.", 20, "a Google token"),
    shape("LTAI", 16, "an Alibaba key"),
    shape("dop_v1_", 30, "a DigitalOcean token"),
    shape("doo_v1_", 30, "a DigitalOcean token"),
    shape("dor_v1_", 30, "a DigitalOcean token"),
    shape("HRKU-", 24, "a Heroku key"),
    shape("nfp_", 20, "a Netlify token"),
    shape("rnd_", 20, "a Render key"),
    shape("fo1_", 20, "a Fly token"),
    shape("fm2_", 20, "a Fly token"),
    shape("dapi", 32, "a Databricks token"),
    shape("pul-", 30, "a Pulumi token"),
    shape("sbp_", 30, "a Supabase token"),
    shape("sb_secret_", 16, "a Supabase key"),
    shape("napi_", 30, "a Neon key"),
    shape("pscale_tkn_", 20, "a PlanetScale token"),
    shape("pscale_pw_", 20, "a PlanetScale password"),
    shape("pscale_oauth_", 20, "a PlanetScale token"),
    // Secret stores.
    shape("hvs.", 20, "a Vault token"),
    shape("hvb.", 20, "a Vault token"),
    shape("hvr.", 20, "a Vault token"),
    shape("dp.pt.", 20, "a Doppler token"),
    shape("dp.st.", 20, "a Doppler token"),
    shape("dp.ct.", 20, "a Doppler token"),
    shape("dp.sa.", 20, "a Doppler token"),
    shape("ops_eyJ", 20, "a 1Password token"),
    shape("AGE-SECRET-KEY-1", 40, "an age key"),
    // Services people work with.
    shape("xoxa-", 10, "a Slack token"),
    shape("xoxb-", 10, "a Slack token"),
    shape("xoxc-", 10, "a Slack token"),
    shape("xoxd-", 10, "a Slack token"),
    shape("xoxe-", 10, "a Slack token"),
    shape("xoxe.", 10, "a Slack token"),
    shape("xoxp-", 10, "a Slack token"),
    shape("xoxr-", 10, "a Slack token"),
    shape("xoxs-", 10, "a Slack token"),
    shape("xapp-", 10, "a Slack token"),
    shape("ntn_", 30, "a Notion token"),
    shape("secret_", 40, "a Notion token"),
    shape("lin_api_", 20, "a Linear key"),
    shape("lin_oauth_", 20, "a Linear token"),
    shape("figd_", 20, "a Figma token"),
    shape("tfp_", 30, "a Typeform token"),
    shape("CFPAT-", 30, "a Contentful token"),
    shape("SG.", 30, "a SendGrid key"),
    shape("re_", 24, "a Resend key"),
    shape("key-", 32, "a Mailgun key"),
    shape("pat-na1-", 24, "a HubSpot token"),
    shape("pat-eu1-", 24, "a HubSpot token"),
    shape("NRAK-", 20, "a New Relic key"),
    shape("sntrys_", 30, "a Sentry token"),
    shape("sntryu_", 30, "a Sentry token"),
    shape("glsa_", 20, "a Grafana token"),
    shape("glc_", 30, "a Grafana token"),
    shape("eyJrIjoi", 30, "a Grafana key"),
    shape("sk.eyJ", 30, "a Mapbox token"),
];

/// Pieces of addresses behind which the rest of the address is the credential.
const ADDRESSES: &[(&str, &str)] = &[
    ("hooks.slack.com/services/T", "a Slack webhook"),
    ("discord.com/api/webhooks/", "a Discord webhook"),
    ("discordapp.com/api/webhooks/", "a Discord webhook"),
    ("mcp.zapier.com/api/mcp/s/", "a Zapier address"),
];

/// Schemes that a credential follows.
const SCHEMES: &[&str] = &["bearer ", "basic ", "token "];

/// The credential that a text holds, by its shape.
pub(super) fn find(text: &str) -> Option<&'static str> {
    known_prefix(text)
        .or_else(|| private_key(text))
        .or_else(|| json_web_token(text))
        .or_else(|| address(text))
        .or_else(|| in_parts(text))
        .or_else(|| password_in_url(text))
        .or_else(|| behind_scheme(text))
}

/// Positions at which a word begins.
fn word_starts(value: &str) -> impl Iterator<Item = &str> {
    let part_of_word = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let starts = value.char_indices().filter(move |(at, _)| !value[..*at].ends_with(part_of_word));
    starts.map(|(at, _)| &value[at..])
}

fn is_key_character(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.')
}

fn known_prefix(value: &str) -> Option<&'static str> {
    word_starts(value)
        .find_map(|word| SHAPES.iter().find(|shape| has_shape(word, shape)).map(|shape| shape.what))
}

fn has_shape(word: &str, shape: &Shape) -> bool {
    let Some(rest) = word.strip_prefix(shape.prefix) else { return false };
    let rest: String = rest.chars().take_while(|c| is_key_character(*c)).collect();
    // Names of packages are long words, too; keys have digits among their letters.
    rest.len() >= shape.rest && rest.contains(|c: char| c.is_ascii_digit()) && !is_words(&rest)
}

/// Whether it is made of short words and numbers, as names of packages are: `learn-utils-2-extra`.
pub(super) fn is_words(text: &str) -> bool {
    let is_word = |part: &str| {
        let letters = part.chars().all(|c| c.is_ascii_lowercase());
        let digits = part.len() <= 4 && part.chars().all(|c| c.is_ascii_digit());
        part.len() <= 14 && (letters || digits)
    };
    text.contains(['-', '_', '.']) && text.split(['-', '_', '.']).all(is_word)
}

fn private_key(value: &str) -> Option<&'static str> {
    let (_, rest) = value.split_once("-----BEGIN ")?;
    let (label, _) = rest.split_once("-----")?;
    (label.contains("KEY") && !label.contains("PUBLIC")).then_some("a private key")
}

fn json_web_token(value: &str) -> Option<&'static str> {
    let is_token = |word: &str| {
        let end = word.find(|c: char| !is_key_character(c));
        let mut parts = word[..end.unwrap_or(word.len())].split('.');
        let (head, body) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
        head.starts_with("eyJ") && head.len() >= 12 && body.len() >= 8
    };
    word_starts(value).any(is_token).then_some("a JSON web token")
}

fn address(value: &str) -> Option<&'static str> {
    let is_given = |piece: &str| {
        let rest = value.split_once(piece).map_or("", |(_, rest)| rest);
        rest.chars().take_while(|c| c.is_ascii_alphanumeric() || matches!(c, '/' | '-' | '_')).count() >= 16
    };
    ADDRESSES.iter().find(|(piece, _)| is_given(piece)).map(|(_, what)| *what)
}

/// Whether a word is a key of one kind.
type Test = fn(&str) -> bool;

const WITHOUT_PREFIX: [(Test, &str); 7] = [
    (is_telegram, "a Telegram token"),
    (is_discord, "a Discord token"),
    (is_airtable, "an Airtable token"),
    (is_azure, "an Azure client secret"),
    (is_mailchimp, "a Mailchimp key"),
    (is_terraform, "a Terraform token"),
    (is_twilio, "a Twilio key"),
];

/// Keys without a prefix of their own, known by their parts and the marks between them.
fn in_parts(value: &str) -> Option<&'static str> {
    let end_of_word = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '/' | ',' | ';' | '=' | '&');
    value.split(end_of_word).find_map(|word| {
        let word = word.strip_prefix("bot").filter(|rest| rest.contains(':')).unwrap_or(word);
        WITHOUT_PREFIX.iter().find(|(test, _)| test(word)).map(|(_, what)| *what)
    })
}

fn is_hex(text: &str, length: usize) -> bool {
    text.len() == length && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

fn is_plain_key(text: &str, lengths: std::ops::RangeInclusive<usize>) -> bool {
    lengths.contains(&text.len()) && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'))
}

/// `123456789:` and 35 characters.
fn is_telegram(word: &str) -> bool {
    let Some((number, key)) = word.split_once(':') else { return false };
    (8..=10).contains(&number.len())
        && number.bytes().all(|byte| byte.is_ascii_digit())
        && is_plain_key(key, 35..=35)
}

/// A user's number in base 64, a time and a signature.
fn is_discord(word: &str) -> bool {
    let parts: Vec<&str> = word.split('.').collect();
    let [user, time, signature] = parts[..] else { return false };
    user.starts_with(['M', 'N', 'O'])
        && is_plain_key(user, 24..=28)
        && is_plain_key(time, 6..=6)
        && is_plain_key(signature, 27..=45)
}

/// `pat`, 14 characters, and 64 hexadecimal digits.
fn is_airtable(word: &str) -> bool {
    let Some((head, rest)) = word.split_once('.') else { return false };
    head.starts_with("pat") && is_plain_key(head, 17..=17) && is_hex(rest, 64)
}

/// Three characters, a digit, `Q~`, and the rest.
fn is_azure(word: &str) -> bool {
    let Some((head, rest)) = word.split_once("Q~") else { return false };
    let is_rest = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '~');
    head.len() == 4
        && head.ends_with(|c: char| c.is_ascii_digit())
        && (31..=34).contains(&rest.len())
        && rest.chars().all(is_rest)
}

/// 32 hexadecimal digits and the name of a data centre.
fn is_mailchimp(word: &str) -> bool {
    let Some((key, centre)) = word.split_once("-us") else { return false };
    is_hex(key, 32) && (1..=2).contains(&centre.len()) && centre.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_terraform(word: &str) -> bool {
    let Some((head, rest)) = word.split_once(".atlasv1.") else { return false };
    is_plain_key(head, 10..=20) && is_plain_key(rest, 40..=100)
}

/// `SK` and 32 hexadecimal digits.
fn is_twilio(word: &str) -> bool {
    word.strip_prefix("SK").is_some_and(|rest| is_hex(rest, 32))
}

fn password_in_url(value: &str) -> Option<&'static str> {
    let mut rest = value;
    while let Some((_, after)) = rest.split_once("://") {
        let end = after.find(['/', '?', '#', ' ', '"', '\'']).unwrap_or(after.len());
        if let Some((user, _)) = after[..end].rsplit_once('@') {
            let password = user.split_once(':').map_or("", |(_, password)| password);
            if password.chars().any(|c| c != HOLE) {
                return Some("a password in a URL");
            }
        }
        rest = after;
    }
    None
}

fn behind_scheme(value: &str) -> Option<&'static str> {
    let is_credential = |word: &str| {
        let lower = word.get(..8).unwrap_or(word).to_ascii_lowercase();
        let scheme = SCHEMES.iter().find(|scheme| lower.starts_with(**scheme));
        let Some(rest) = scheme.and_then(|scheme| word.get(scheme.len()..)) else { return false };
        let token: String = rest.trim_start().chars().take_while(|c| c.is_ascii_graphic()).collect();
        token.len() >= 16 && token.contains(|c: char| c.is_ascii_digit()) && !is_words(&token)
    };
    word_starts(value).any(is_credential).then_some("a token")
}

/// Words that are in no list of seed phrases and in almost every sentence.
const NOT_IN_SEED_PHRASES: &[&str] =
    &["the", "and", "for", "are", "not", "from", "your", "with", "has", "was"];

/// Twelve to twenty-four simple words and nothing else: the seed of a wallet.
pub(super) fn seed_phrase(value: &str) -> Option<&'static str> {
    let words: Vec<&str> = value.split(' ').collect();
    let is_simple =
        |word: &&str| (3..=8).contains(&word.len()) && word.bytes().all(|byte| byte.is_ascii_lowercase());
    let is_phrase = matches!(words.len(), 12 | 15 | 18 | 21 | 24)
        && words.iter().all(is_simple)
        && !words.iter().any(|word| NOT_IN_SEED_PHRASES.contains(word));
    is_phrase.then_some("a seed phrase")
}
