// What this task needs from you, right above the place where you write.
import type { TaskView } from "../api/types.ts";
import { Icon } from "../design/Icon.tsx";
import { ApprovalCard, QuestionCard } from "../needs/cards.tsx";
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
        <section key={need.approvalId} className="need-card" aria-label="Needs your approval">
          <h3>
            <Icon name="shield" /> Needs your approval
          </h3>
          <ApprovalCard need={need} keys={false} />
        </section>
      ))}
      {questions.map((need) => (
        <section key={need.clarificationId} className="need-card" aria-label="Asks you">
          <h3>
            <Icon name="bell" /> Asks you
          </h3>
          <QuestionCard need={need} now={now} />
        </section>
      ))}
    </div>
  );
}
