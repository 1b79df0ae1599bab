// Keys that work everywhere, unless one is writing.
import { useEffect } from "react";

export interface KeyBinding {
  /** As in `KeyboardEvent.key`; `mod+k` means Ctrl or Command with it. */
  readonly key: string;
  readonly act: (event: KeyboardEvent) => void;
}

export function isWriting(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  return target.isContentEditable || ["INPUT", "TEXTAREA", "SELECT"].includes(target.tagName);
}

export function useKeys(bindings: readonly KeyBinding[]): void {
  useEffect(() => {
    const press = (event: KeyboardEvent): void => {
      if (event.defaultPrevented || event.isComposing) return;
      const withMod = event.metaKey || event.ctrlKey;
      const name = `${withMod ? "mod+" : ""}${event.key.length === 1 && withMod ? event.key.toLowerCase() : event.key}`;
      const open = document.querySelector("dialog[open], .menu") !== null;
      if (!withMod && (isWriting(event.target) || event.altKey || open)) return;
      const found = bindings.find((binding) => binding.key === name);
      if (found === undefined) return;
      event.preventDefault();
      found.act(event);
    };
    document.addEventListener("keydown", press);
    return () => document.removeEventListener("keydown", press);
  }, [bindings]);
}
