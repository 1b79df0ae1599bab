// What this task needs from you, right above the place where you write.
import type { TaskView } from "../api/types.ts";
import { Icon } from "../design/Icon.tsx";
import { ApprovalCard } from "../needs/ApprovalCard.tsx";
import { QuestionCard } from "../needs/cards.tsx";
import { useNow } from "../shell/useAsk.ts";
import { useShown } from "../state/store.ts";

export function OpenNeeds({ task }: { task: TaskView }) {
  const needs = useShown((shown) => shown.needs);
  const now = useNow();
  const approvals = needs.approvals.filter((need) => need.taskId === task.id);
  const questions = needs.clarifications.filter((need) => need.taskId === task.id);
  if (approvals.length + questions.length === 0) return null;
  return (
    <div className="open-needs">
      {approvals.map((need) => (
        <div key={need.approvalId} role="group" className="need-card" aria-label="Needs your approval">
          <h2>
            <Icon name="shield" /> Needs your approval
          </h2>
          <ApprovalCard need={need} keys={false} />
        </div>
      ))}
      {questions.map((need) => (
        <div key={need.clarificationId} role="group" className="need-card" aria-label="Asks you">
          <h2>
            <Icon name="bell" /> Asks you
          </h2>
          <QuestionCard need={need} now={now} hasInput={questions.length > 1} />
        </div>
      ))}
    </div>
  );
}
