// What a project needs before its first task: five steps, each with its state and the control that completes it.
import { type ReactNode, useCallback, useEffect, useRef } from "react";
import { path } from "../api/client.ts";
import type * as S from "../api/schema.ts";
import type { Id } from "../api/types.ts";
import { Button, CopyButton, ErrorNotice, Spinner } from "../design/controls.tsx";
import { Icon, type IconName } from "../design/Icon.tsx";
import { type Asked, useAsk } from "../shell/useAsk.ts";
import { BudgetForm, ChecksForm } from "./LimitForms.tsx";
import { HookForm } from "./HookForm.tsx";
import { ModelForm } from "./ModelForm.tsx";

export type Readiness = Asked<S.ReadinessView>;

/** Asks again when the window comes back: some steps are completed in a terminal or an editor. */
export function useReadiness(project: Id): Readiness {
  const asked = useAsk<S.ReadinessView>(path`/projects/${project}/readiness`);
  const { again } = asked;
  useEffect(() => {
    window.addEventListener("focus", again);
    return () => window.removeEventListener("focus", again);
  }, [again]);
  return asked;
}

interface StepText {
  readonly title: string;
  readonly why: string;
}

const TEXTS: Readonly<Record<string, StepText>> = {
  model: { title: "Model provider", why: "Agents need an API key. It is stored in your own configuration, never in the repository." },
  budget: { title: "Budget", why: "Agents pause when the project has spent this much. Without a limit they spend what the work takes." },
  git: { title: "Git identity and branch", why: "Tasks branch off the current branch, and commits need an author." },
  setupHook: { title: "Worktree set-up script", why: "Every task works in a fresh worktree. This script installs what the project needs there." },
  checks: { title: "Checks", why: "Commands that must succeed before a task is merged." },
};

const STATES: Readonly<Record<S.ReadinessItemView["state"], { icon: IconName; name: string }>> = {
  ready: { icon: "check", name: "Ready" },
  optional: { icon: "info", name: "Optional" },
  missing: { icon: "warning", name: "Needed" },
};

export function SetupSteps({ project, readiness }: { project: Id; readiness: Readiness }) {
  const list = useRef<HTMLOListElement>(null);
  const { again } = readiness;
  const completed = useCallback(() => {
    // The control that was used disappears with its step; the keyboard goes on at the list.
    list.current?.focus();
    again();
  }, [again]);
  const { value } = readiness;
  if (value === undefined) return readiness.error === undefined ? <Spinner label="Checking the set-up" /> : <ErrorNotice error={readiness.error} />;
  return (
    <ol ref={list} className="steps plain-list" tabIndex={-1} aria-label="Set-up steps">
      {value.items.map((item) => (
        <Step key={item.name} item={item}>
          <StepControl project={project} item={item} readiness={value} completed={completed} />
        </Step>
      ))}
    </ol>
  );
}

function Step({ item, children }: { item: S.ReadinessItemView; children: ReactNode }) {
  const { title, why } = TEXTS[item.name] ?? { title: item.name, why: "" };
  const state = STATES[item.state];
  return (
    <li className={`setup-step is-${item.state}`}>
      <span className="setup-tick">
        <Icon name={state.icon} />
      </span>
      <div className="setup-body">
        <h3>
          {title} <span className="setup-state">{state.name}</span>
        </h3>
        <p className="setup-says">{item.says}</p>
        {item.state !== "ready" && <p className="field-note">{why}</p>}
        {item.state !== "ready" && children}
      </div>
    </li>
  );
}

interface StepControlProps {
  project: Id;
  item: S.ReadinessItemView;
  readiness: S.ReadinessView;
  completed: () => void;
}

function StepControl({ project, item, readiness, completed }: StepControlProps) {
  switch (item.name) {
    case "model":
      return <ModelForm project={project} foundKeys={readiness.foundKeys} nextStep={item.nextStep} completed={completed} />;
    case "budget":
      return <BudgetForm project={project} completed={completed} />;
    case "git":
      return <GitHelp item={item} completed={completed} />;
    case "setupHook":
      return <HookForm project={project} example={readiness.exampleHook} completed={completed} />;
    case "checks":
      return <ChecksForm project={project} detected={readiness.detectedChecks} completed={completed} />;
    default:
      return <p>{item.nextStep}</p>;
  }
}

const IDENTITY = 'git config --global user.name "Your Name"\ngit config --global user.email you@example.org';

/** Only the user can say who they are, and they say it to git. */
function GitHelp({ item, completed }: { item: S.ReadinessItemView; completed: () => void }) {
  const isIdentity = /user\.(name|email)/.test(item.says);
  return (
    <>
      {isIdentity ? (
        <div className="exact">
          <pre tabIndex={0} aria-label="Commands to run in a terminal">
            {IDENTITY}
          </pre>
          <CopyButton text={IDENTITY} what="the commands" />
        </div>
      ) : (
        <p>{item.nextStep}</p>
      )}
      <div className="row">
        <Button icon="undo" onClick={completed}>
          Check again
        </Button>
      </div>
    </>
  );
}
