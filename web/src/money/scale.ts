// Round numbers for an axis.

/** From nothing to at least `most`, in steps of 1, 2 or 5 times a power of ten. */
export function ticks(most: number, wanted: number): number[] {
  const rough = most / wanted;
  const power = 10 ** Math.floor(Math.log10(rough));
  const factor = [1, 2, 5, 10].find((one) => one * power >= rough) ?? 10;
  const step = factor * power;
  const list: number[] = [];
  for (let i = 0; ; i += 1) {
    const value = Number((i * step).toPrecision(12));
    list.push(value);
    if (value >= most) return list;
  }
}
