/** The value that this share of all values does not exceed. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.max(0, Math.ceil(share * sorted.length) - 1))] ?? NaN;
}

/** The value in the middle. */
export function median(values: readonly number[]): number {
  return percentile(values, 0.5);
}

/** The mean of the middle half: like the median nothing single counts, and it does not jump where values lie in two heaps. */
export function midMean(values: readonly number[]): number {
  const quarter = Math.floor(values.length / 4);
  const middle = values.toSorted((a, b) => a - b).slice(quarter, values.length - quarter);
  return middle.reduce((sum, value) => sum + value, 0) / middle.length;
}

/** With as many digits as can be meant. */
export function round(value: number, digits = 2): number {
  return Number(value.toFixed(digits));
}
