import { formatDuration } from '../../core/model/text.ts';

const units: Readonly<Record<string, number>> = { h: 3_600_000, m: 60_000, s: 1_000, ms: 1, us: 0.001, µs: 0.001, ns: 0.000_001 };

/** Converts a duration of Go (`1h`, `5m0s`, `1.5h`) to the form of policies. Undefined for an invalid one, and for less than a second. */
export function convertDuration(text: string): string | undefined {
  if (text.length > 32) return undefined;
  let milliseconds = 0;
  let rest = text;
  while (rest !== '') {
    const [all = '', amount = '', unit = ''] = /^([0-9]{1,9}(?:\.[0-9]{1,9})?)(ms|us|µs|ns|[hms])/.exec(rest) ?? [];
    if (all === '') return undefined;
    milliseconds += Number(amount) * (units[unit] ?? 0);
    rest = rest.slice(all.length);
  }
  return milliseconds < 1_000 ? undefined : formatDuration(milliseconds);
}
