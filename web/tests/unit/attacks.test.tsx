// Texts of agents and tools, in every renderer: nothing of them becomes an element, an attribute or an address.
import { renderToStaticMarkup } from "react-dom/server";
import { describe, expect, it } from "vitest";
import type { EventView } from "../../src/api/types.ts";
import { Markdown } from "../../src/text/Markdown.tsx";
import { PatchText } from "../../src/text/PatchText.tsx";
import { lineDiff, patchLines } from "../../src/text/patch.ts";
import { Terminal } from "../../src/text/Terminal.tsx";
import { ATTACKS, poison } from "../../testing/corpus.mjs";
import { demo } from "../../testing/fixture.mjs";
import { conversation } from "../../src/task/items.ts";

const ELEMENTS = new Set("a blockquote br button circle code del div em h2 h3 h4 hr input li ol p path pre span strong svg table tbody td th thead tr ul g rect".split(" "));
const ATTRIBUTES = new Set("class href target rel title tabindex role aria-label aria-hidden aria-expanded viewBox d fill stroke stroke-width stroke-linecap stroke-linejoin type disabled checked readonly start".toLowerCase().split(" "));

/** Everything a browser would make of the markup: names of elements, of attributes, and addresses. */
function problems(markup: string): string[] {
  const found: string[] = [];
  for (const tag of markup.matchAll(/<([a-zA-Z!?/][^\s/>]*)((?:"[^"]*"|[^">])*)>/g)) {
    const name = (tag[1] ?? "").replace("/", "").toLowerCase();
    if (!ELEMENTS.has(name)) found.push(`element ${name}`);
    for (const attribute of (tag[2] ?? "").matchAll(/([^\s=/"]+)(?:="([^"]*)")?/g)) {
      const key = (attribute[1] ?? "").toLowerCase();
      if (!ATTRIBUTES.has(key)) found.push(`attribute ${key}`);
      if (key === "href" && !/^(https?:|mailto:)/.test(attribute[2] ?? "")) found.push(`address ${attribute[2]}`);
    }
  }
  return found;
}

describe("the check itself", () => {
  it("finds what it looks for", () => {
    expect(problems("<script>x</script>")).toContain("element script");
    expect(problems('<p onclick="x">')).toContain("attribute onclick");
    expect(problems('<a href="javascript:x">')).toContain("address javascript:x");
    expect(problems('<p class="a">&lt;script&gt;</p>')).toEqual([]);
  });
});

describe("attacks", () => {
  it.each(ATTACKS)("stay text: %j", (attack) => {
    const shown = [
      <Markdown text={attack} />,
      <Markdown text={`before ${attack} after\n\n* ${attack}`} />,
      <Terminal text={attack} label={attack} />,
      <PatchText lines={lineDiff(attack, `${attack}x`)} label={attack} />,
      <PatchText lines={patchLines(`@@ -1 +1 @@ ${attack}\n+${attack}\n-${attack}`)} label="x" />,
    ];
    for (const element of shown) expect(problems(renderToStaticMarkup(element))).toEqual([]);
  });

  it("do not confuse what is made of events", () => {
    const { events, ids } = poison(demo());
    const talk = conversation(events.filter((event: EventView) => event.task === ids["refresh"]));
    expect(talk.items.length).toBeGreaterThan(ATTACKS.length * 5);
    expect(Object.prototype).not.toHaveProperty("pwned");
  });
});
