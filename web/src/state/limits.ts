// Every limit of the page, so that an hour of streaming costs no more memory than a minute.

export const LIMITS = {
  /** Events of one task that are held at once; older ones are asked for again when somebody looks. */
  eventsKept: 4_000,
  /** How many more may gather before the oldest are let go, so that it does not happen at every commit. */
  eventsSlack: 400,
  /** Logs of tasks that are held at once. */
  logsKept: 6,
  /** Characters of a text that is still being written. */
  liveChars: 200_000,
  /** Characters that are laid out as Markdown; longer texts are shown as they are. */
  markdownChars: 100_000,
  /** Lines of a result that are shown before one asks for more. */
  resultLines: 400,
  /** Events in one page of a log. */
  page: 200,
  /** How often the newest page of a log is asked for at once, when each one is too old by the time it is there. */
  newestPages: 8,
  /** Events in one page when a place far back is looked for. */
  farPage: 1_000,
  /** How many such pages are asked for at most. */
  farPages: 30,
  /** Bytes of one picture that is sent along. */
  imageBytes: 5 * 1024 * 1024,
  /** Pictures of one message. */
  images: 8,
  /** Lines of one file's diff that are shown before one asks for more. */
  diffLines: 1_500,
} as const;
