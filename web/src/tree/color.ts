// The colours a task can be marked with, and what they are mostly used for.

export const COLORS = [
  { name: "red", use: "Bug" },
  { name: "blue", use: "Feature" },
  { name: "purple", use: "Refactoring" },
  { name: "green", use: "Optimisation" },
  { name: "yellow", use: "Research" },
  { name: "orange", use: "Design" },
  { name: "gray", use: "Chore" },
] as const;

export function colorClass(color: string): string {
  return COLORS.some((known) => known.name === color) ? `c-${color}` : "";
}
