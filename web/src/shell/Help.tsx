// Every key the page knows.
import { Button, Dialog } from "../design/controls.tsx";

const KEYS: readonly (readonly [string, readonly (readonly [string, string])[]])[] = [
  [
    "Everywhere",
    [
      ["Ctrl K", "go to or do anything"],
      ["g o", "overview"],
      ["g t", "tasks"],
      ["g n", "needs you"],
      ["g m", "cost"],
      ["g s", "settings"],
      ["g p", "projects"],
      ["/", "write to the task"],
      ["f", "filter the tree"],
      ["n", "new task"],
      ["?", "this list"],
    ],
  ],
  [
    "In the tree",
    [
      ["↑ ↓ or j k", "move"],
      ["← →", "fold and unfold"],
      ["Enter", "open"],
      ["Alt ↑ ↓", "move the task up or down"],
      ["Alt → ←", "move it into the one above, or out"],
      ["F2", "rename"],
      ["Menu key", "all actions"],
    ],
  ],
  [
    "In a task",
    [
      ["1 to 5", "conversation, diff, evidence, ledger, details"],
      ["Enter", "send"],
      ["Shift Enter", "a new line"],
      ["Ctrl F", "search the conversation"],
    ],
  ],
  [
    "In needs you",
    [
      ["j k", "move"],
      ["a t d", "allow once, for the task, deny"],
      ["i", "answer"],
      ["r", "retry"],
    ],
  ],
];

export function Help({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title="Keyboard" onClose={onClose} className="help">
      <div className="columns">
        {KEYS.map(([title, keys]) => (
          <section key={title}>
            <h3 className="section-label">{title}</h3>
            <dl className="keys">
              {keys.map(([key, says]) => (
                <div key={key}>
                  <dt>
                    <kbd>{key}</kbd>
                  </dt>
                  <dd>{says}</dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
      <div className="dialog-foot">
        <Button look="primary" onClick={onClose} autoFocus>
          Close
        </Button>
      </div>
    </Dialog>
  );
}
