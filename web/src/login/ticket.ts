// A ticket in the address: the command line opens the page with it, so that nobody has to paste anything.
import { api } from "../api/client.ts";

/** Takes the ticket out of the address before anything else can see it; a fragment is never sent to a server. */
export function takeTicket(): string | undefined {
  const ticket = /^#ticket=(.+)$/.exec(location.hash)?.[1];
  if (ticket === undefined) return undefined;
  history.replaceState(null, "", location.pathname + location.search);
  return decodeURIComponent(ticket);
}

export function redeem(ticket: string): Promise<unknown> {
  return api.post("/auth/login", { ticket });
}
