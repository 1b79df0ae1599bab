// Menus that open where one points or below a button, and are walked with the arrow keys.
import { type KeyboardEvent, type ReactNode, useEffect, useLayoutEffect, useRef, useState } from "react";
import { createPortal } from "react-dom";
import { Icon, type IconName } from "./Icon.tsx";

export interface MenuAction {
  label: string;
  icon?: IconName;
  note?: string;
  danger?: boolean;
  /** Why it cannot be done now; it is shown, and the item does nothing. */
  unavailable?: string;
  act: () => void;
}

export type MenuEntry = MenuAction | "line" | { custom: ReactNode };

export interface Place {
  x: number;
  y: number;
}

interface MenuProps {
  label: string;
  place: Place;
  entries: readonly MenuEntry[];
  onClose: () => void;
}

export function Menu({ label, place, entries, onClose }: MenuProps) {
  const ref = useRef<HTMLDivElement>(null);
  const before = useRef<Element | null>(document.activeElement);
  // At the corner first, where nothing narrows it: its width decides where it fits.
  const [at, setAt] = useState({ x: 0, y: 0 });
  useLayoutEffect(() => {
    const box = ref.current?.getBoundingClientRect();
    if (box === undefined) return;
    setAt({ x: Math.max(8, Math.min(place.x, innerWidth - box.width - 8)), y: Math.max(8, Math.min(place.y, innerHeight - box.height - 8)) });
    items(ref.current)[0]?.focus();
  }, [place]);
  useEffect(() => {
    const away = (event: PointerEvent): void => {
      if (!ref.current?.contains(event.target as Node)) onClose();
    };
    document.addEventListener("pointerdown", away, true);
    const returnTo = before.current;
    return () => {
      document.removeEventListener("pointerdown", away, true);
      if (returnTo instanceof HTMLElement) returnTo.focus();
    };
  }, [onClose]);
  return createPortal(
    <div
      ref={ref}
      className="menu"
      role="menu"
      aria-label={label}
      style={{ left: at.x, top: at.y }}
      onKeyDown={(event) => walk(event, ref.current, onClose)}
    >
      {entries.map((entry, index) => (
        <Entry key={index} entry={entry} onClose={onClose} />
      ))}
    </div>,
    // Inside of a landmark, so that whoever jumps from one to the next finds it; the bar is always there.
    document.querySelector("header.header") ?? document.body,
  );
}

function Entry({ entry, onClose }: { entry: MenuEntry; onClose: () => void }) {
  if (entry === "line") return <div className="menu-line" role="separator" />;
  if ("custom" in entry) return <>{entry.custom}</>;
  const { unavailable } = entry;
  return (
    <button
      type="button"
      role="menuitem"
      className={`menu-item ${entry.danger === true ? "is-danger" : ""}`}
      aria-disabled={unavailable !== undefined}
      disabled={unavailable !== undefined}
      title={unavailable}
      onClick={() => {
        onClose();
        entry.act();
      }}
    >
      {entry.icon !== undefined && <Icon name={entry.icon} />}
      <span>{entry.label}</span>
      {(unavailable ?? entry.note) !== undefined && <span className="menu-note">{unavailable ?? entry.note}</span>}
    </button>
  );
}

function items(menu: HTMLElement | null): HTMLElement[] {
  return [...(menu?.querySelectorAll<HTMLElement>("button:not(:disabled), input") ?? [])];
}

function walk(event: KeyboardEvent, menu: HTMLElement | null, onClose: () => void): void {
  const all = items(menu);
  const here = all.indexOf(document.activeElement as HTMLElement);
  const go = (to: number): void => {
    event.preventDefault();
    all[(to + all.length) % all.length]?.focus();
  };
  event.stopPropagation();
  if (event.key === "ArrowDown") go(here + 1);
  else if (event.key === "ArrowUp") go(here - 1);
  else if (event.key === "Home") go(0);
  else if (event.key === "End") go(all.length - 1);
  else if (event.key === "Escape" || event.key === "Tab") {
    event.preventDefault();
    onClose();
  }
}
