// A link to another place of the page, which is an ordinary link for whoever opens it elsewhere.
import type { AnchorHTMLAttributes, Ref } from "react";
import { type Route, href } from "./route.ts";
import { go } from "./router.ts";

interface LinkProps extends AnchorHTMLAttributes<HTMLAnchorElement> {
  to: Route;
  ref?: Ref<HTMLAnchorElement> | undefined;
}

export function Link({ to, onClick, ...rest }: LinkProps) {
  return (
    <a
      {...rest}
      href={href(to)}
      onClick={(event) => {
        onClick?.(event);
        const elsewhere = event.metaKey || event.ctrlKey || event.shiftKey || event.button !== 0;
        if (event.defaultPrevented || elsewhere) return;
        event.preventDefault();
        go(to);
      }}
    />
  );
}
