import type { Finding } from '../rules.ts';

/** A time zone that the runtime knows. */
export function checkTimeZone(value: unknown): Finding[] {
  try {
    Intl.DateTimeFormat('en', { timeZone: String(value) }).resolvedOptions();
    return [];
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return [{ message: `"${String(value)}" is no time zone: write an IANA name such as "Europe/Berlin", or UTC` }];
  }
}
