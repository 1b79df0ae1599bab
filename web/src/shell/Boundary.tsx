// What is shown when the page itself has a fault: what happened, and a way to go on.
import { Component, type ReactNode } from "react";

interface Props {
  children: ReactNode;
}

interface State {
  error: Error | undefined;
}

export class Boundary extends Component<Props, State> {
  override state: State = { error: undefined };

  static getDerivedStateFromError(error: Error): State {
    return { error };
  }

  override render(): ReactNode {
    const { error } = this.state;
    if (error === undefined) return this.props.children;
    return (
      <main className="login">
        <div className="login-card">
          <h1>The page has a fault</h1>
          <p>Your agents are not touched by it: they are with the daemon.</p>
          <pre className="plain-text panel-pre" tabIndex={0}>
            {error.message}
            {"\n"}
            {error.stack}
          </pre>
          <button type="button" className="button is-primary" onClick={() => location.reload()}>
            Load the page again
          </button>
        </div>
      </main>
    );
  }
}
