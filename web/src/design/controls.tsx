// Small controls that every view uses.
import { type ButtonHTMLAttributes, type ReactNode, useEffect, useId, useRef, useState } from "react";
import { ApiError } from "../api/client.ts";
import { Icon, type IconName } from "./Icon.tsx";

type Look = "plain" | "primary" | "danger" | "quiet";

interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  look?: Look;
  size?: "normal" | "small";
  icon?: IconName;
}

export function Button({ look = "plain", size = "normal", icon, children, className, ...rest }: ButtonProps) {
  const names = ["button", look !== "plain" && `is-${look}`, size === "small" && "is-small", className];
  return (
    <button type="button" className={names.filter(Boolean).join(" ")} {...rest}>
      {icon !== undefined && <Icon name={icon} />}
      {children}
    </button>
  );
}

interface IconButtonProps extends Omit<ButtonProps, "children" | "icon"> {
  icon: IconName;
  label: string;
}

/** A button that is only a picture; its name is read aloud and shown when one points at it. */
export function IconButton({ icon, label, look = "quiet", ...rest }: IconButtonProps) {
  return <Button look={look} icon={icon} aria-label={label} title={label} {...rest} className={`is-icon ${rest.className ?? ""}`} />;
}

export function CopyButton({ text, what }: { text: string; what: string }) {
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => setCopied(false), 1_500);
    return () => clearTimeout(timer);
  }, [copied]);
  const copy = (): void => {
    void navigator.clipboard?.writeText(text).then(() => setCopied(true));
  };
  return <IconButton icon={copied ? "check" : "copy"} size="small" label={copied ? "Copied" : `Copy ${what}`} onClick={copy} />;
}

interface FieldProps {
  label: string;
  note?: ReactNode;
  children: (id: string) => ReactNode;
}

export function Field({ label, note, children }: FieldProps) {
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      {children(id)}
      {note !== undefined && <div className="field-note">{note}</div>}
    </div>
  );
}

export function Spinner({ label }: { label: string }) {
  return (
    <span className="row muted" role="status">
      <span className="spinner" aria-hidden="true" />
      {label}
    </span>
  );
}

export function ErrorNotice({ error, children }: { error: unknown; children?: ReactNode }) {
  const hint = error instanceof ApiError ? error.hint : undefined;
  return (
    <div className="notice is-error" role="alert">
      <Icon name="warning" />
      <div className="grow">
        <div className="strong">{error instanceof Error ? error.message : String(error)}</div>
        {hint !== undefined && <div>{hint}</div>}
        {children}
      </div>
    </div>
  );
}

interface DialogProps {
  title: string;
  onClose: () => void;
  children: ReactNode;
  className?: string;
}

/** A modal dialog; the browser keeps the focus inside and gives it back. */
export function Dialog({ title, onClose, children, className }: DialogProps) {
  const ref = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const dialog = ref.current;
    if (dialog !== null && !dialog.open) dialog.showModal();
  }, []);
  return (
    <dialog
      ref={ref}
      className={`dialog ${className ?? ""}`}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onClick={(event) => {
        if (event.target === ref.current) onClose();
      }}
    >
      <div className="dialog-body">
        <h2 id={id}>{title}</h2>
        {children}
      </div>
    </dialog>
  );
}
