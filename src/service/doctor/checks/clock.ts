import { type Check, failed, ok, skipped, warning } from '../finding.ts';
import { say, sayAge, type Said } from '../say.ts';

/** The clocks that were read. */
export interface ClockFacts {
  /** The name of the clock that the others are compared with: `the worker`. */
  readonly own: string | Said;
  readonly clocks: readonly Clock[];
}

interface ClockName {
  readonly line: 'redis' | 'api-server' | 'registry' | 'local';
  /** The name of the clock: `Redis`, `the API server`, `ghcr.io`. */
  readonly name: string | Said;
}

/** The clock of another process: how much it is ahead of our own, as exactly as that is known; or why that is not known. */
export type Clock = ClockName & ({ readonly aheadMs: number; readonly toleranceMs: number } | { readonly why: string });

/** The difference above which a clock gets a warning. Times in a status have whole seconds, and machines with NTP are milliseconds apart. */
const warnAboveMs = 10_000;
/** The difference above which a clock fails. Tokens of registries may be valid for a minute only. */
const failAboveMs = 60_000;

/** Checks that all clocks whose times are compared agree. */
export const clock: Check<ClockFacts> = {
  id: 'clock',
  lines: ['redis', 'api-server', 'registry', 'local'],
  evaluate: ({ own, clocks }) =>
    clocks.map((clock) => {
      const line = `clock/${clock.line}`;
      if ('why' in clock) return skipped(line, say('clock.unknown', clock.name, clock.why));
      const skewMs = Math.max(0, Math.abs(clock.aheadMs) - clock.toleranceMs);
      if (skewMs <= warnAboveMs) return ok(line, say('clock.agrees', clock.name, own));
      const message = say(clock.aheadMs > 0 ? 'clock.ahead' : 'clock.behind', clock.name, sayAge(skewMs), own);
      const finding = skewMs > failAboveMs ? failed : warning;
      return finding(line, message, say('clock.do'));
    }),
};
