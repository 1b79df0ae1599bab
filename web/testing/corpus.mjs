// Texts that try to run something where they are shown. Each would call `pwned()` if it could.

export const ATTACKS = [
  "<script>pwned()</script>",
  "<img src=x onerror=pwned()>",
  "<svg onload=pwned()>",
  "<svg><script>pwned()</script></svg>",
  "<iframe srcdoc='<script>parent.pwned()</script>'></iframe>",
  "<details open ontoggle=pwned()>x</details>",
  "<a href=javascript:pwned()>x</a>",
  "<math><mtext></mtext><mglyph><style><img src=x onerror=pwned()></style></mglyph></math>",
  "<style>@import 'javascript:pwned()'</style>",
  "<base href='javascript:pwned()//'>",
  "<form action=javascript:pwned()><button>x</button></form>",
  "<object data=javascript:pwned()></object>",
  "<meta http-equiv=refresh content='0;url=javascript:pwned()'>",
  "<body onpageshow=pwned()>",
  "<input autofocus onfocus=pwned()>",
  "<template><img src=x onerror=pwned()></template>",
  "<!--><img src=x onerror=pwned()>-->",
  "<![CDATA[<img src=x onerror=pwned()>]]>",
  "[x](javascript:pwned())",
  "[x](JaVaScRiPt:pwned())",
  "[x](java\tscript:pwned())",
  "[x](&#106;avascript:pwned())",
  "[x](javascript&colon;pwned())",
  "[x](data:text/html,<script>pwned()</script>)",
  "[x](vbscript:pwned())",
  "[x]( javascript:pwned())",
  "[x](\u0001javascript:pwned())",
  "[x][y]\n\n[y]: javascript:pwned()",
  "![x](x \"onerror=pwned()\")",
  "![x](javascript:pwned())",
  "<javascript:pwned()>",
  "<https://example.org/\"onmouseover=pwned()>",
  "`<img src=x onerror=pwned()>`",
  "```html\n<img src=x onerror=pwned()>\n```",
  "```\"><img/src=x/onerror=pwned()>\nx\n```",
  "| <img src=x onerror=pwned()> | b |\n|---|---|\n| <script>pwned()</script> | d |",
  "# <img src=x onerror=pwned()>",
  "- [ ] <img src=x onerror=pwned()>",
  "> <script>pwned()</script>",
  "\u001b]8;;javascript:pwned()\u001b\\click\u001b]8;;\u001b\\",
  "\u001b[31m<img src=x onerror=pwned()>\u001b[0m",
  "\u009b31m<script>pwned()</script>",
  "\"><script>pwned()</script>",
  "' onmouseover='pwned()",
  "</textarea><script>pwned()</script>",
  "</title><script>pwned()</script>",
  "</pre><img src=x onerror=pwned()>",
  "{{constructor.constructor('pwned()')()}}",
  "${pwned()}",
  "&lt;img src=x onerror=pwned()&gt;",
  "&amp;lt;script&amp;gt;pwned()&amp;lt;/script&amp;gt;",
  "\u202e<script>pwned()</script>",
  "<scr\u0000ipt>pwned()</scr\u0000ipt>",
  "<img src=x:x onerror\u000c=pwned()>",
  "__proto__",
  "constructor",
];

/** A world in which every text that an agent or a tool can choose is an attack. */
export function poison(world) {
  let next = 0;
  const attack = () => {
    next += 1;
    return ATTACKS[next % ATTACKS.length];
  };
  const all = () => ATTACKS.join("\n\n");
  const task = world.ids.refresh;
  for (const one of world.tasks.values()) {
    if (one.parentId !== undefined) one.title = `${one.title} ${attack()}`;
    one.description = all();
    if (one.lastLine !== undefined) one.lastLine = attack();
    if (one.agent !== undefined) one.agent = { ...one.agent, why: attack() };
    if (one.branch !== undefined) one.branch = attack();
    one.checks = one.checks?.map(attack);
    one.color = attack();
    one.background = one.background?.map(attack);
  }
  const call = (tool, input, content, more = {}) => {
    next += 1;
    const toolCallId = `poison_${next}`;
    return [
      { type: "tool_call", tool, toolCallId, input },
      { type: "tool_verdict", toolCallId, verdict: attack(), rule: attack(), class: attack() },
      { type: "tool_result", tool, toolCallId, content, isError: false, ...more },
    ];
  };
  const events = ATTACKS.flatMap((text, index) => [
    { type: "assistant_text", content: text },
    { type: "thinking", thinking: text },
    { type: "message", id: `m${index}`, wake: true, body: { source: ["user", "task_message", "cross_project", "task_complete", "background_complete", "notice", text][index % 7], content: text, title: text, fromTitle: text, fromProjectName: text, command: text, output: text, topic: text } },
    { type: "messages_consumed", messageIds: [`m${index}`] },
    ...call(["bash", "search", "read_file", "edit_file", "write_file", text, `mcp__${text}__x`][index % 7], index % 2 === 0 ? { command: text, path: text, pattern: text, old_string: text, new_string: `${text}!`, content: text, [text]: text } : text, `${text}\n12: ${text}`, { isError: index % 3 === 0, images: [{ mediaType: text, blob: text }] }),
    { type: "error", message: text, advice: text },
    { type: "compact_marker", checkpoint: text, savedTokens: 1 },
    { type: "clarification_requested", id: `q${index}`, title: text, question: text },
    { type: "check_finished", command: text, exitCode: 1, tree: text, output: text },
    { type: "task_status_changed", from: "pending", to: "failed", editedBy: "agent", reason: text },
  ]);
  world.log(task, ...events);
  const need = { taskId: task, taskTitle: attack(), at: world.at };
  world.needs = {
    approvals: ATTACKS.map((text, index) => ({ ...need, approvalId: `a${index}`, callId: text, tool: text, args: index % 2 === 0 ? { command: text } : { [text]: text }, argsDigest: text, rule: text })),
    clarifications: ATTACKS.map((text, index) => ({ ...need, clarificationId: `c${index}`, question: text, options: [text, `${text} `] })),
    failed: [{ ...need, why: attack() }],
    conflicts: [{ ...need, why: attack() }],
  };
  const patch = `@@ -1,2 +1,${ATTACKS.length} @@ ${attack()}\n${ATTACKS.map((text) => `+${text.replaceAll("\n", " ")}`).join("\n")}`;
  world.diffs.set(task, { base: attack(), head: attack(), dirty: true, truncated: true, files: ATTACKS.map((text) => ({ path: text, oldPath: text, status: text, additions: 1, deletions: 1, binary: false, patch })).slice(0, 12) });
  return world;
}
