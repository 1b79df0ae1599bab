// The icons of the page, drawn on a 16-pixel grid with one stroke.

const PATHS = {
  plus: "M8 3v10M3 8h10",
  check: "M3 8.5l3.2 3.2L13 5",
  cross: "M4 4l8 8M12 4l-8 8",
  chevron: "M6 4l4 4-4 4",
  down: "M4 6l4 4 4-4",
  up: "M4 10l4-4 4 4",
  back: "M10 3L5 8l5 5",
  search: "M7 12A5 5 0 1 0 7 2a5 5 0 0 0 0 10zM10.6 10.6L14 14",
  folder: "M2 4.5h4l1.5 1.5H14v7H2z",
  gear: "M8 10.2a2.2 2.2 0 1 0 0-4.4 2.2 2.2 0 0 0 0 4.4zM8 1.8v2M8 12.2v2M1.8 8h2M12.2 8h2M3.6 3.6l1.4 1.4M11 11l1.4 1.4M12.4 3.6L11 5M5 11l-1.4 1.4",
  money: "M8 1.8v12.4M11 4.6C10.4 3.7 9.3 3.3 8 3.3c-1.7 0-3 .8-3 2.2 0 3.1 6.2 1.6 6.2 4.8 0 1.4-1.4 2.4-3.2 2.4-1.5 0-2.7-.5-3.3-1.6",
  bell: "M4 7a4 4 0 0 1 8 0c0 3 1.3 4 1.3 4H2.7S4 10 4 7zM6.7 13.3a1.4 1.4 0 0 0 2.6 0",
  tree: "M4 2v8.5a2 2 0 0 0 2 2h2M4 6h4M10 4.5h4v3h-4zM10 11h4v3h-4z",
  more: "M3.5 8h.01M8 8h.01M12.5 8h.01",
  terminal: "M2 3h12v10H2zM4.5 6l2 2-2 2M8.5 10h3",
  file: "M4 1.8h5l3 3v9.4H4zM9 1.8v3h3",
  pencil: "M3 13l.6-2.6L11 3l2 2-7.4 7.4zM9.6 4.4l2 2",
  globe: "M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM2 8h12M8 2c2 1.7 2.6 3.7 2.6 6S10 12.3 8 14c-2-1.7-2.6-3.7-2.6-6S6 3.7 8 2z",
  send: "M2.5 8h9M8 4l4 4-4 4",
  stop: "M4 4h8v8H4z",
  pause: "M5.5 3.5v9M10.5 3.5v9",
  play: "M5 3l7.5 5L5 13z",
  branch: "M4.5 5.5v5M4.5 5.5a1.7 1.7 0 1 0 0-3.4 1.7 1.7 0 0 0 0 3.4zM4.5 14a1.7 1.7 0 1 0 0-3.4 1.7 1.7 0 0 0 0 3.4zM11.5 6.5a1.7 1.7 0 1 0 0-3.4 1.7 1.7 0 0 0 0 3.4zM11.5 6.5c0 2.5-3 2.5-6 3",
  merge: "M4.5 5.5v5M4.5 5.5a1.7 1.7 0 1 0 0-3.4 1.7 1.7 0 0 0 0 3.4zM4.5 14a1.7 1.7 0 1 0 0-3.4 1.7 1.7 0 0 0 0 3.4zM11.5 11.5a1.7 1.7 0 1 0 0-3.4 1.7 1.7 0 0 0 0 3.4zM5 5.3c1 2.6 3 4.3 5 4.5",
  warning: "M8 2.2l6.2 11H1.8zM8 6.5v3M8 11.4h.01",
  info: "M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM8 7.4v3.4M8 5.2h.01",
  image: "M2 3h12v10H2zM2 11l3.5-3.5L9 11l2-2 3 3M10.5 6h.01",
  message: "M2.5 3h11v8h-6l-3 2.5V11h-2z",
  clock: "M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM8 4.8V8l2.2 1.5",
  undo: "M6 4L2.5 7.5 6 11M2.5 7.5H10a3.5 3.5 0 0 1 0 7H8",
  fold: "M5 3l3 3 3-3M5 13l3-3 3 3M2 8h12",
  brain: "M8 3.2C7 1.8 4.6 2 4.2 3.8 2.6 4.2 2 6 3 7.2c-1 1.3-.5 3.2 1.1 3.6C4.4 12.9 7 13.5 8 12M8 3.2C9 1.8 11.4 2 11.8 3.8c1.6.4 2.2 2.2 1.2 3.4 1 1.3.5 3.2-1.1 3.6-.3 2.1-2.9 2.7-3.9 1.2M8 3.2V12",
  sun: "M8 11a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM8 1.5v1.4M8 13.1v1.4M1.5 8h1.4M13.1 8h1.4M3.4 3.4l1 1M11.6 11.6l1 1M12.6 3.4l-1 1M4.4 11.6l-1 1",
  moon: "M13 9.4A5.4 5.4 0 0 1 6.6 3 5.4 5.4 0 1 0 13 9.4z",
  copy: "M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3",
  pin: "M6 2h4l-.5 4 2 2.5h-7L6.5 6zM8 8.5V14",
  key: "M6 10.5a3 3 0 1 0-1.8-4.2A3 3 0 0 0 6 10.5zM8.6 7.5H14v2M11.5 7.5v2",
  plug: "M5.5 2v3.5M10.5 2v3.5M4 5.5h8V8a4 4 0 0 1-8 0zM8 12v2.5",
  shield: "M8 1.8l5 2v4c0 3.2-2 5.3-5 6.4-3-1.1-5-3.2-5-6.4v-4z",
  grid: "M2.5 2.5h4.5v6H2.5zM9 2.5h4.5v3H9zM9 8h4.5v5.5H9zM2.5 11h4.5v2.5H2.5z",
  list: "M5.5 4H14M5.5 8H14M5.5 12H14M2.5 4h.01M2.5 8h.01M2.5 12h.01",
  trash: "M3 4.5h10M6 4.5V3h4v1.5M4.5 4.5l.6 9h5.8l.6-9",
  quote: "M3 9.5h3.5v-4H3zM3 9.5c0 1.7.8 2.6 2 3M9.5 9.5H13v-4H9.5zM9.5 9.5c0 1.7.8 2.6 2 3",
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name }: { name: IconName }) {
  return (
    <svg className="icon" viewBox="0 0 16 16" aria-hidden="true">
      <path d={PATHS[name]} fill="none" stroke="currentColor" strokeWidth="1.5" strokeLinecap="round" strokeLinejoin="round" />
    </svg>
  );
}

export function Logo() {
  return (
    <svg className="logo" viewBox="0 0 32 32" aria-hidden="true">
      <rect className="logo-ground" width="32" height="32" rx="8" />
      <g fill="none" stroke="#fff" strokeWidth="2.4" strokeLinecap="round" strokeLinejoin="round">
        <path d="M10 8v10a4 4 0 0 0 4 4h4" />
        <path d="M10 13h8" />
      </g>
      <g fill="#fff">
        <circle cx="10" cy="8" r="2.6" />
        <circle cx="21" cy="13" r="2.6" />
        <circle cx="21" cy="22" r="2.6" />
      </g>
    </svg>
  );
}
