import type { Installation } from '../model/installation.ts';
import type { RolloutEvaluation } from './evaluate-rollout.ts';

/** More than this long after the deadline, it cannot be known whether the rollout was complete before something else broke. */
export const graceMs = 3_600_000;

/** The change whose chart is installed. */
export interface InstalledChange {
  /** The resource, in the form for messages. */
  readonly name: string;
  /** When the fields were changed, by the clock of the API server. */
  readonly changedAt: Date;
  /** When the installation must be complete, if the controller begins at once. */
  readonly deadline: Date;
  readonly timeoutMs: number;
  readonly now: Date;
}

/**
 * Evaluates the installation of a chart, as the controller of its custom resource reports it:
 *
 * | the controller …                                         | evaluation                  |
 * | -------------------------------------------------------- | --------------------------- |
 * | has not reported anything about the change               | progressing: nothing was tried yet; notWatched an hour after the timeout |
 * | is suspended                                             | notWatched                  |
 * | has installed the chart                                  | done                        |
 * | has given up                                             | failed: UpgradeFailed       |
 * | gave up before the change, by the time that it reports   | as if it had not reported anything |
 * | works on it for longer than the policy allows, from the change or from when it began later | failed: RolloutTimedOut, which speaks against nobody |
 */
export function evaluateInstallation(
  { state, message, against = 'unknown', at = '', since = '' }: Installation,
  { name, changedAt, deadline, timeoutMs, now }: InstalledChange,
): RolloutEvaluation {
  if (state === 'halted') return { kind: 'notWatched', message: `${name} is not watched: ${message}` };
  if (state === 'installed') return { kind: 'done', message: `${name}: ${message}` };
  const isOlder = at !== '' && !(Date.parse(at) >= changedAt.getTime());
  if (state === 'failed' && !isOlder) return { kind: 'failed', reason: 'UpgradeFailed', message: `${name}: ${message}`, against };
  const overdueMs = now.getTime() - deadline.getTime();
  const isBegun = !(now.getTime() - Date.parse(since) < timeoutMs);
  if (state === 'underway' && overdueMs >= 0 && isBegun) {
    const late = `${name} took longer than ${timeoutMs / 1_000} s: ${message}`;
    return { kind: 'failed', reason: 'RolloutTimedOut', message: late, against: 'unknown' };
  }
  if (state !== 'underway' && overdueMs > graceMs)
    return { kind: 'notWatched', message: `${name} is not watched: its controller did not report the change before the timeout` };
  return { kind: 'progressing', message: `${name}: ${message}` };
}
