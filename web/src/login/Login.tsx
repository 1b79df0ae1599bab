// Logging in: run one command on the machine of the daemon, paste what it prints.
import { useEffect, useState } from "react";
import { api } from "../api/client.ts";
import { Button, CopyButton, ErrorNotice, Field, Spinner } from "../design/controls.tsx";
import { Icon, Logo } from "../design/Icon.tsx";
import { type KeyPair, makeKeyPair } from "./seal.ts";

interface Challenge {
  challengeId: string;
  command: string;
  expiresAt: number;
}

interface LoginProps {
  /** Whether a link was to let in and does so no longer. */
  spent: boolean;
  onDone: () => void;
}

export function Login({ spent, onDone }: LoginProps) {
  const [keys, setKeys] = useState<KeyPair | undefined>();
  const [challenge, setChallenge] = useState<Challenge | undefined>();
  const [sealed, setSealed] = useState("");
  const [error, setError] = useState<unknown>();
  const [busy, setBusy] = useState(false);
  const begin = async (): Promise<void> => {
    setChallenge(undefined);
    try {
      const pair = await makeKeyPair();
      setKeys(pair);
      setChallenge(await api.post<Challenge>("/auth/challenge", { publicKey: pair.publicKey }));
    } catch (reason) {
      setError(typeof crypto.subtle === "undefined" ? new Error("The browser allows this only on https or on this machine: open the page at 127.0.0.1.") : reason);
    }
  };
  useEffect(() => {
    void begin();
  }, []);
  const finish = async (): Promise<void> => {
    if (keys === undefined || challenge === undefined) return;
    setBusy(true);
    setError(undefined);
    try {
      const answer = await keys.open(sealed).catch(() => {
        throw new Error("That was not made for this page. Run the command that stands here, and paste all it prints.");
      });
      await api.post("/auth/login", { challengeId: challenge.challengeId, answer });
      onDone();
    } catch (reason) {
      setError(reason);
      setSealed("");
      if (!(reason instanceof Error && reason.message.startsWith("That was not made"))) void begin();
    } finally {
      setBusy(false);
    }
  };
  return (
    <main className="login">
      <div className="login-card">
        <Logo />
        <h1>Log in to Matrix</h1>
        {spent && (
          <div className="notice is-attention" role="alert">
            <Icon name="warning" />
            <div className="grow">
              <div className="strong">This link was used already or is too old.</div>
              <div>
                It lets in once, within a minute. Run <code>mxd up</code> on the machine of the daemon for a new one, or log in here.
              </div>
            </div>
          </div>
        )}
        <p className="muted">Whoever can run a command on the machine of the daemon is let in. No password travels.</p>
        {challenge === undefined && error === undefined && <Spinner label="Making a key for this page" />}
        {challenge !== undefined && (
          <form
            className="stack"
            onSubmit={(event) => {
              event.preventDefault();
              void finish();
            }}
          >
            <div>
              <h2 className="step">
                <span className="step-number">1</span> Run this in a terminal there
              </h2>
              <div className="exact">
                <pre tabIndex={0}>{challenge.command}</pre>
                <CopyButton text={challenge.command} what="the command" />
              </div>
            </div>
            <div>
              <h2 className="step">
                <span className="step-number">2</span> Paste what it prints
              </h2>
              <Field label="Answer" note="Only this page can open it, and only once.">
                {(id) => <textarea id={id} className="textarea mono" rows={4} value={sealed} spellCheck={false} autoComplete="off" onChange={(event) => setSealed(event.target.value)} />}
              </Field>
            </div>
            <Button look="primary" type="submit" disabled={busy || sealed.trim() === ""}>
              Log in
            </Button>
          </form>
        )}
        {error !== undefined && (
          <ErrorNotice error={error}>
            <Button
              size="small"
              onClick={() => {
                setError(undefined);
                void begin();
              }}
            >
              Start again
            </Button>
          </ErrorNotice>
        )}
      </div>
    </main>
  );
}
