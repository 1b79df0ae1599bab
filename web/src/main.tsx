// The page begins here.
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import "./design/tokens.css";
import "./design/base.css";
import "./design/controls.css";
import "./design/shell.css";
import "./design/tree.css";
import "./design/text.css";
import "./design/task.css";
import "./design/chat.css";
import "./design/composer.css";
import "./design/diff.css";
import "./design/views.css";
import "./design/overview.css";
import { App } from "./shell/App.tsx";
import { Boundary } from "./shell/Boundary.tsx";

const root = document.getElementById("root");
if (root !== null) {
  createRoot(root).render(
    <StrictMode>
      <Boundary>
        <App />
      </Boundary>
    </StrictMode>,
  );
}
