// Whether all of a text in a box that scrolls has been on the screen.
import { type RefObject, useEffect, useState } from "react";

/** Pixels that rounding may hide. */
const ROUNDING = 2;
const THRESHOLDS = Array.from({ length: 101 }, (_, part) => part / 100);

/**
 * True as soon as every line of the box was in sight, from the first one on. Whoever jumps to the end has not seen what
 * is between. Another text, or another width before the end was reached, begins again.
 */
export function useShownToEnd(box: RefObject<HTMLElement | null>, text: string): boolean {
  const [shown, setShown] = useState<string | undefined>();
  useEffect(() => {
    const element = box.current;
    if (element === null) return;
    let [seen, width] = [0, element.clientWidth];
    // The part of the box that is in sight, in pixels from its upper edge.
    let sight = { from: 0, to: 0 };
    const look = (): void => {
      const [from, to] = [element.scrollTop + sight.from, element.scrollTop + sight.to];
      if (from <= seen + ROUNDING) seen = Math.max(seen, to);
      if (sight.to > sight.from && seen >= element.scrollHeight - ROUNDING) setShown(text);
    };
    const onScreen = new IntersectionObserver(
      (entries) => {
        const entry = entries.at(-1);
        if (entry === undefined) return;
        const { boundingClientRect: whole, intersectionRect: part } = entry;
        sight = entry.isIntersecting ? { from: part.top - whole.top, to: part.bottom - whole.top } : { from: 0, to: 0 };
        look();
      },
      { threshold: THRESHOLDS },
    );
    const size = new ResizeObserver(() => {
      if (element.clientWidth === width) return;
      [seen, width] = [0, element.clientWidth];
      element.scrollTop = 0;
      onScreen.unobserve(element);
      onScreen.observe(element);
    });
    onScreen.observe(element);
    size.observe(element);
    element.addEventListener("scroll", look, { passive: true });
    return () => {
      onScreen.disconnect();
      size.disconnect();
      element.removeEventListener("scroll", look);
    };
  }, [box, text]);
  return shown === text;
}
