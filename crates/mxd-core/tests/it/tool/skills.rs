//! Skill files of both kinds: what they list, what is wrong with them, and that silence means no tools.

use mxd_core::tool::{
    Listed, PinnedTool, Skill, SkillErrors, SkillFault, SkillTool, SkillToolError, SkillTools, ToolUriError,
    WireName, limits, parse_md, parse_mtx,
};
use proptest::prelude::*;

use super::any;

fn faults(errors: SkillErrors) -> Vec<(usize, SkillFault)> {
    errors.problems.into_iter().map(|problem| (problem.line, problem.fault)).collect()
}

fn lines(result: Result<Skill, SkillErrors>) -> Vec<usize> {
    faults(result.unwrap_err()).into_iter().map(|(line, _)| line).collect()
}

fn listed(skill: &Skill) -> Vec<String> {
    skill.tools.entries().iter().map(SkillTool::to_string).collect()
}

fn mtx(tools: &str) -> String {
    format!("§SKILL\nid=x\ndescription=\"d\"\n{tools}")
}

fn md(fields: &str) -> String {
    format!("---\nname: x\ndescription: d\n{fields}---\n")
}

const MTX: &str = r#"# a comment
§SKILL
id=release-notes   # the slug
version="0.1.0-phase2"
display="Release notes"
description="Writes \"notes\"; uses # signs"
mcl.verbs=find build

§INPUTS
slot x: Text

§TOOLS
# read only
matrix://tool/mcp/fs/read_text_file@2026.1.14
matrix://tool/mcp/git/git_status@2026.1.14  # and this

§PROCEDURE
prompt
  none of this is ours: §TOOLS
end
"#;

#[test]
fn an_mtx_file_is_read() {
    let skill = parse_mtx(MTX).unwrap();
    assert_eq!(skill.name.as_str(), "release-notes");
    assert_eq!(skill.version.as_ref().unwrap().as_str(), "0.1.0-phase2");
    assert_eq!(skill.description.text(), "Writes \"notes\"; uses # signs");
    assert_eq!(
        listed(&skill),
        ["matrix://tool/mcp/fs/read_text_file@2026.1.14", "matrix://tool/mcp/git/git_status@2026.1.14"]
    );
    assert!(skill.body.text().starts_with("§INPUTS\nslot x: Text\n"), "{}", skill.body.text());
    assert!(skill.body.text().contains("none of this is ours: §TOOLS"));
    assert!(!skill.body.text().contains("matrix://"));
    assert_eq!(parse_mtx(&MTX.replace('\n', "\r\n")).unwrap(), skill);
}

#[test]
fn an_md_file_is_read() {
    let text = "---\nname: 'release-notes'\ndescription: \"Writes: notes\"\nversion: 1.2.3 # ours\nlicense: MIT\n\
                metadata:\n  author: me\n  - odd\nallowed-tools:\n  - mcp:fs:read_*\n  - \"mcp__git__git_log\"\n\
                - matrix://tool/mcp/fs/write@1.0.0\n---\n# Body\n\n---\nmore\n";
    let skill = parse_md(text).unwrap();
    assert_eq!((skill.name.as_str(), skill.description.text()), ("release-notes", "Writes: notes"));
    assert_eq!(skill.version.as_ref().unwrap().as_str(), "1.2.3");
    assert_eq!(listed(&skill), ["mcp:fs:read_*", "mcp__git__git_log", "matrix://tool/mcp/fs/write@1.0.0"]);
    assert_eq!(skill.body.text(), "# Body\n\n---\nmore\n");
    assert_eq!(parse_md(&text.replace('\n', "\r\n")).unwrap(), skill);
    let inline = parse_md(&md("allowed-tools: mcp:fs:*, mcp__a__b mcp:git:log\n")).unwrap();
    assert_eq!(listed(&inline), ["mcp:fs:*", "mcp__a__b", "mcp:git:log"]);
}

#[test]
fn a_skill_that_lists_nothing_may_use_nothing() {
    let tool: PinnedTool = "matrix://tool/mcp/fs/read@1.0.0".parse().unwrap();
    let files = [
        parse_mtx(&mtx("")),
        parse_mtx(&mtx("§TOOLS\n")),
        parse_mtx(&mtx("§TOOLS\n\n# nothing\n§OUTPUTS\nmatrix://tool/mcp/fs/read@1.0.0\n")),
        parse_mtx(&mtx("§TOOLS\nnone\n")),
        parse_md(&md("")),
        parse_md(&md("allowed-tools:\n")),
        parse_md(&md("allowed-tools: none\n")),
        parse_md(&md("allowed-tools: \"\"\n")),
        parse_md(&md("allowed-tools:\n- none\n")),
    ];
    for skill in files {
        let skill = skill.unwrap();
        assert_eq!(skill.tools, SkillTools::NONE);
        assert_eq!(skill.tools.lists(&tool), Listed::No);
    }
}

#[test]
fn everything_wrong_with_an_mtx_file_is_told_at_once() {
    let text = "stray\n§SKILL\nid=Bad Name\nversion=1.2\nno key\ndescription=\"open\nid=again\n§tools\n§ TOOLS\n§TOOLS\nnone\n\
                matrix://tool/mcp/fs/read\nmatrix://tool/mcp/fs/read@latest\nmcp:fs:read\nmatrix://tool/mcp/fs/a@1.0.0 b\n§TOOLS\n";
    let found = faults(parse_mtx(text).unwrap_err());
    let lines: Vec<usize> = found.iter().map(|(line, _)| *line).collect();
    assert_eq!(lines, [1, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 14, 15, 16], "{found:?}");
    let fault = |line: usize| &found.iter().find(|(at, _)| *at == line).unwrap().1;
    assert!(matches!(fault(1), SkillFault::BeforeSections { .. }));
    assert!(matches!(fault(3), SkillFault::Name(_)));
    assert!(matches!(fault(4), SkillFault::Version(_)));
    assert!(matches!(fault(5), SkillFault::Form { .. }));
    assert!(matches!(fault(6), SkillFault::Value { key: "description", .. }));
    assert!(matches!(fault(7), SkillFault::RepeatedKey { .. }));
    assert!(matches!(fault(8), SkillFault::Header { .. }) && matches!(fault(9), SkillFault::Header { .. }));
    assert_eq!(*fault(11), SkillFault::NoneWithTools);
    assert!(matches!(fault(12), SkillFault::Tool(SkillToolError::Uri(ToolUriError::UnpinnedTool { .. }))));
    assert!(matches!(fault(13), SkillFault::Tool(SkillToolError::Uri(ToolUriError::InvalidUri { .. }))));
    assert!(matches!(fault(14), SkillFault::Form { .. }), "an allowlist of an mtx file is pinned");
    assert!(matches!(fault(15), SkillFault::Form { .. }));
    assert_eq!(*fault(16), SkillFault::RepeatedSection { section: "TOOLS" });
    assert!(parse_mtx(text).unwrap_err().to_string().contains("line 12: the tool"));
}

#[test]
fn what_an_mtx_file_lacks_is_told() {
    assert_eq!(faults(parse_mtx("").unwrap_err()), [(1, SkillFault::MissingSection { section: "SKILL" })]);
    let missing = faults(parse_mtx("§SKILL\nname=\"x\"\n").unwrap_err());
    assert_eq!(
        missing,
        [(1, SkillFault::MissingKey { key: "description" }), (1, SkillFault::MissingKey { key: "id" })]
    );
    assert_eq!(lines(parse_mtx("§SKILL\nid=x\ndescription=\"  \"\n")), [1]);
}

#[test]
fn everything_wrong_with_an_md_file_is_told_at_once() {
    let text = "---\nname: Bad Name\ndescription: |\n  block\nversion: 1.2\nversion: 1.2.3\ntools: mcp:fs:*\nnonsense\nkey:value\n\
                - item\nallowed-tools:\n- none\n- Read\n- matrix://tool/mcp/fs/x\n- mcp:fs\n  x\n- [a]\n---\n";
    let found = faults(parse_md(text).unwrap_err());
    let lines: Vec<usize> = found.iter().map(|(line, _)| *line).collect();
    assert_eq!(lines, [2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 13, 14, 15, 16, 17], "{found:?}");
    let fault = |line: usize| &found.iter().find(|(at, _)| *at == line).unwrap().1;
    assert!(matches!(fault(3), SkillFault::Value { key: "description", .. }));
    assert!(matches!(fault(7), SkillFault::MisspeltTools { .. }));
    assert_eq!(*fault(12), SkillFault::NoneWithTools);
    assert!(matches!(fault(13), SkillFault::Tool(SkillToolError::NoSpelling { .. })));
    assert!(matches!(fault(17), SkillFault::Value { key: "allowed-tools", .. }));
}

#[test]
fn what_an_md_file_lacks_is_told() {
    assert_eq!(faults(parse_md("# Title\n").unwrap_err()), [(1, SkillFault::NoFrontMatter)]);
    assert_eq!(faults(parse_md("").unwrap_err()), [(1, SkillFault::NoFrontMatter)]);
    let open = faults(parse_md("---\nname: x\ndescription: d\n").unwrap_err());
    assert_eq!(open, [(1, SkillFault::OpenFrontMatter)]);
    assert_eq!(lines(parse_md("---\n---\n")), [1, 1]);
}

#[test]
fn values_that_another_program_might_read_differently_are_refused() {
    for value in
        ["a: b", "[a]", "{a: b}", "&a", "*a", "!x", ">", "|", "\"a\" b", "'a", "\"a\\q\"", "%x", "@x", "a:"]
    {
        let text = format!("---\nname: x\ndescription: {value}\n---\n");
        let found = faults(parse_md(&text).unwrap_err());
        assert!(matches!(found.as_slice(), [(3, SkillFault::Value { .. })]), "{value}: {found:?}");
    }
    for (value, said) in
        [("a #b", "a"), ("a#b", "a#b"), ("'it''s'", "it's"), ("\"a\\n\\\"b\\\"\"  # c", "a\n\"b\"")]
    {
        let text = format!("---\nname: x\ndescription: {value}\n---\n");
        assert_eq!(parse_md(&text).unwrap().description.text(), said, "{value}");
    }
}

#[test]
fn there_is_a_limit_to_files_lists_and_complaints() {
    let long = format!("{MTX}{}", "#".repeat(limits::SKILL_BYTES));
    for result in [parse_mtx(&long), parse_md(&long)] {
        assert!(matches!(faults(result.unwrap_err()).as_slice(), [(1, SkillFault::TooLong { .. })]));
    }
    let tools: String =
        (0..=limits::SKILL_TOOLS).map(|n| format!("matrix://tool/mcp/fs/t{n}@1.0.0\n")).collect();
    let found = faults(parse_mtx(&mtx(&format!("§TOOLS\n{tools}"))).unwrap_err());
    assert_eq!(found, [(261, SkillFault::TooManyTools { given: 257, limit: 256 })]);
    let bad = parse_mtx(&mtx(&format!("§TOOLS\n{}", "bad\n".repeat(80)))).unwrap_err();
    assert_eq!((bad.problems.len(), bad.more), (50, 30));
    assert!(bad.to_string().ends_with("and 30 more"));
}

#[test]
fn hidden_text_does_not_get_into_a_prompt_unseen() {
    let skill = parse_md("---\nname: x\ndescription: a\u{200b}b\n---\nc\u{e0041}d\u{202e}\n").unwrap();
    assert_eq!((skill.description.text(), skill.body.text()), ("ab", "cd\n"));
    assert_eq!((skill.description.flags().hidden, skill.body.flags().hidden), (1, 2));
    let bad = parse_md("---\nname: x\u{1b}[2J\ndescription: d\n---\n").unwrap_err().to_string();
    assert!(!bad.contains('\u{1b}'), "{bad}");
}

#[test]
fn a_list_holds_a_tool_to_the_version_it_names() {
    let skill = parse_mtx(MTX).unwrap();
    let other: PinnedTool = "matrix://tool/mcp/fs/read_text_file@2026.1.15".parse().unwrap();
    let pin = "2026.1.14".parse().unwrap();
    assert_eq!(skill.tools.lists(&other), Listed::OtherPin(&pin));
    let native = parse_mtx(&mtx("§TOOLS\nmatrix://tool/chain/send@1.0.0\n")).unwrap();
    assert_eq!(listed(&native), ["matrix://tool/chain/send@1.0.0"]);
}

proptest! {
    #[test]
    fn a_tool_is_listed_in_any_of_its_spellings(tool in any::pinned(), other in any::pinned()) {
        let spellings = [tool.to_string(), tool.id.to_string(), WireName::of(&tool.id).to_string()];
        for spelling in spellings {
            let skill = parse_md(&md(&format!("allowed-tools: {spelling}\n"))).unwrap();
            prop_assert_eq!(skill.tools.lists(&tool), Listed::Yes, "{}", spelling);
            prop_assert!(other.id == tool.id || skill.tools.lists(&other) == Listed::No);
        }
        let skill = parse_mtx(&mtx(&format!("§TOOLS\n{tool}\n"))).unwrap();
        prop_assert_eq!(skill.tools.lists(&tool), Listed::Yes);
    }

    #[test]
    fn no_text_makes_a_reader_panic(
        text in "(§?[A-Z]{0,3}|[a-z-]{0,5}[=:] ?|[\"'\\\\#]|---|- |mcp:|\n|\\PC){0,30}",
    ) {
        for text in [text.clone(), format!("---\n{text}\n---\n"), format!("§SKILL\n{text}\n§TOOLS\n{text}")] {
            for errors in [parse_md(&text).err(), parse_mtx(&text).err()].into_iter().flatten() {
                let count = text.lines().count().max(1);
                prop_assert!(!errors.problems.is_empty());
                prop_assert!(errors.problems.iter().all(|problem| (1..=count).contains(&problem.line)));
                prop_assert!(errors.problems.iter().all(|problem| !problem.fault.hint().is_empty()));
            }
        }
    }
}
