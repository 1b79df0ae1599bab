// Everything that waits for a person, in one list, walked and answered by keyboard.
import { type ReactNode, useEffect, useMemo, useRef, useState } from "react";
import type { Id, Needs } from "../api/types.ts";
import { Icon, type IconName } from "../design/Icon.tsx";
import { useKeys } from "../shell/keys.ts";
import { Link } from "../shell/Link.tsx";
import { go } from "../shell/router.ts";
import { useNow } from "../shell/useAsk.ts";
import { act, grant } from "../task/actions.ts";
import { store, useShown } from "../state/store.ts";
import { ago, moment } from "../text/format.ts";
import { ApprovalCard } from "./ApprovalCard.tsx";
import { ConflictCard, FailedCard, QuestionCard } from "./cards.tsx";

interface Need {
  readonly key: string;
  readonly icon: IconName;
  readonly what: string;
  readonly taskId: Id;
  readonly title: string;
  readonly at: number;
  readonly card: ReactNode;
  readonly retry?: () => void;
}

/** Approvals and questions hold an agent up, so they come first; within a kind the oldest. */
function listed(needs: Needs, now: number): Need[] {
  const byAge = <T extends { at: number }>(list: readonly T[]): T[] => list.toSorted((a, b) => a.at - b.at);
  const base = (need: { taskId: Id; taskTitle: string; at: number }) => ({ taskId: need.taskId, title: need.taskTitle, at: need.at });
  return [
    ...byAge(needs.approvals).map((need) => ({ ...base(need), key: `a.${need.approvalId}`, icon: "shield" as const, what: "Approval", card: <ApprovalCard need={need} keys /> })),
    ...byAge(needs.clarifications).map((need) => ({ ...base(need), key: `q.${need.clarificationId}`, icon: "bell" as const, what: "Question", card: <QuestionCard need={need} now={now} /> })),
    ...byAge(needs.conflicts).map((need) => ({ ...base(need), key: `c.${need.taskId}`, icon: "merge" as const, what: "Conflict", card: <ConflictCard need={need} /> })),
    ...byAge(needs.failed).map((need) => ({ ...base(need), key: `f.${need.taskId}`, icon: "warning" as const, what: "Failed", card: <FailedCard need={need} />, retry: () => retryOrRaise(need.taskId) })),
  ];
}

/** The same as the button of the card. */
function retryOrRaise(id: Id): void {
  const task = store.get().tasks[id];
  void (task?.agent?.state === "spent" ? grant(task) : act(id, "retry"));
}

/** A control in the card of a need. */
function inCard(need: Need | undefined, control: string): HTMLElement | null {
  return need === undefined ? null : document.querySelector<HTMLElement>(`#need-${CSS.escape(need.key)} ${control}`);
}

/** Presses a button of a card, as a click would: one that is not to be pressed yet leads to what is to be read first. */
function press(need: Need | undefined, control: string): void {
  const button = inCard(need, control);
  if (button instanceof HTMLButtonElement && button.disabled) inCard(need, "[data-need-exact]")?.focus();
  else button?.click();
}

export function NeedsView({ project }: { project: Id }) {
  const needs = useShown((shown) => shown.needs);
  const loaded = useShown((shown) => shown.rootId !== undefined);
  const now = useNow();
  const list = useMemo(() => listed(needs, now), [needs, now]);
  const [visited, setKey] = useState<string | undefined>();
  // Before anybody has moved, the first card is the one that keys act on, from the first frame on.
  const key = visited ?? list[0]?.key;
  // An answered card is gone; the one that takes its place is looked at next, but no key may answer it by accident.
  const index = Math.max(0, list.findIndex((need) => need.key === key));
  const current = list[index];
  const cards = useRef<HTMLOListElement>(null);
  const show = (to: number): void => {
    const next = list[Math.min(Math.max(to, 0), list.length - 1)];
    setKey(next?.key);
    if (next !== undefined) document.getElementById(`need-${next.key}`)?.focus();
  };
  useEffect(() => {
    if (visited === undefined && list[0] !== undefined) setKey(list[0].key);
  }, [visited, list]);
  const chosen = current !== undefined && current.key === key ? current : undefined;
  useKeys([
    { key: "j", act: () => show(chosen === undefined ? index : index + 1) },
    { key: "k", act: () => show(index - 1) },
    { key: "a", act: () => press(chosen, "[data-need-allow]") },
    { key: "t", act: () => press(chosen, "[data-need-allow-all]") },
    { key: "d", act: () => inCard(chosen, "[data-need-reason]")?.focus() },
    { key: "r", act: () => chosen?.retry?.() },
    { key: "Enter", act: () => chosen !== undefined && go({ view: "task", project, task: chosen.taskId, tab: "chat" }) },
    { key: "i", act: () => inCard(chosen, "[data-need-answer]")?.focus() },
  ]);
  return (
    <div className="view-scroll" tabIndex={-1}>
      <div className="view-page">
        <header className="view-head">
          <h1>Needs you</h1>
          <p className="muted key-hints">
            <kbd>j</kbd> <kbd>k</kbd> move · <kbd>a</kbd> allow once · <kbd>t</kbd> all in the task · <kbd>d</kbd> deny · <kbd>i</kbd> answer · <kbd>r</kbd> retry · <kbd>Enter</kbd> open
          </p>
        </header>
        {loaded && list.length === 0 && (
          <div className="empty">
            <strong>Nothing needs you</strong>
            <span>When an agent asks, fails or runs into a conflict, it is here, and the title of the page says so.</span>
          </div>
        )}
        <ol ref={cards} className="needs plain-list">
          {list.map((need) => (
            <li key={need.key}>
              <div role="group" id={`need-${need.key}`} className={`need-card ${need.key === key ? "is-current" : ""}`} tabIndex={-1} aria-label={`${need.what}: ${need.title}`} onFocus={() => setKey(need.key)} onClick={() => setKey(need.key)}>
                <h2 className="need-head">
                  <Icon name={need.icon} />
                  <span className="muted">{need.what}</span>
                  <Link to={{ view: "task", project, task: need.taskId, tab: "chat" }}>{need.title}</Link>
                  {need.at > 0 && (
                    <time className="muted num" title={moment(need.at)}>
                      {ago(need.at, now)}
                    </time>
                  )}
                </h2>
                {need.card}
              </div>
            </li>
          ))}
        </ol>
      </div>
    </div>
  );
}
