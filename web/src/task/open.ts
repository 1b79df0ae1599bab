// Which cards are open: remembered although rows come and go while one scrolls.
import { useState } from "react";

const MOST = 2_000;
const chosen = new Map<string, boolean>();

export function useOpen(key: string, initially: boolean): [boolean, (open: boolean) => void] {
  const [open, setOpen] = useState(chosen.get(key) ?? initially);
  const set = (next: boolean): void => {
    chosen.delete(key);
    chosen.set(key, next);
    if (chosen.size > MOST) chosen.delete(chosen.keys().next().value ?? "");
    setOpen(next);
  };
  return [open, set];
}
