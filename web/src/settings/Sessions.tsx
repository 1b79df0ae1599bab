// Who is logged in, and how to end it.
import { api, path } from "../api/client.ts";
import type { SessionView } from "../api/types.ts";
import { Button, ErrorNotice, Spinner } from "../design/controls.tsx";
import { attempt } from "../shell/toasts.tsx";
import { useAsk } from "../shell/useAsk.ts";
import { day } from "../text/format.ts";

export function Sessions() {
  const asked = useAsk<{ sessions: SessionView[] }>("/auth/sessions");
  if (asked.value === undefined) return asked.error === undefined ? <Spinner label="Loading" /> : <ErrorNotice error={asked.error} />;
  return (
    <section className="panel">
      <h2>Logins</h2>
      {asked.value.sessions.map((session) => (
        <div key={session.id} className="setting">
          <div className="grow">
            <div className="strong">
              {session.label ?? "a browser"}
            </div>
            <div className="field-note">
              since {day(session.createdAt)}, ends {day(session.expiresAt)}
            </div>
          </div>
          <Button size="small" look="danger" onClick={() => void attempt(api.delete(path`/auth/sessions/${session.id}`), "Ended.").then(asked.again)}>
            End
          </Button>
        </div>
      ))}
      {asked.value.sessions.length === 0 && <p className="muted">None.</p>}
    </section>
  );
}
