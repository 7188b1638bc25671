/** The verdicts of the checks of an image (`rollout.checks`), as the status of the policy has them. A verdict is written before it is acted on, and never replaced. */
import { defined } from '../model/defined.ts';
import type { ImagePolicy, PolicySpec } from '../model/image-policy.ts';
import type { Candidate } from '../model/image-reference.ts';
import { maxChecksListed, type CheckRecord } from '../model/check-record.ts';
import type { HistoryEntry, PolicyStatus } from '../model/policy-status.ts';
import { releaseTime } from '../model/policy-actions.ts';
import { checkId, isOfImage, isOfOtherImage, type CheckPhase, type CheckSettings } from '../model/rollout-check.ts';
import { isReleased } from './guards/released.ts';

/** The parts of a policy that decide which verdicts count. */
export type CheckOwner = Pick<ImagePolicy, 'namespace' | 'name'> &
  Partial<Pick<ImagePolicy, 'uid' | 'actions'>> & { readonly status?: Pick<PolicyStatus, 'checks' | 'history'> };

/** The checks of a policy in one phase, or in several. */
export function checksOf({ rollout }: Pick<PolicySpec, 'rollout'>, ...phases: readonly CheckPhase[]): readonly CheckSettings[] {
  return rollout?.checks?.filter(({ phase }) => phases.includes(phase)) ?? [];
}

/**
 * The record of a check of an image that counts now; undefined if the check is to be begun. A record does not count for an edited check, after a release, and
 * after another image was applied.
 */
export function findRecord(owner: CheckOwner, check: CheckSettings, image: Candidate, now: Date): CheckRecord | undefined {
  const { checks = [] } = owner.status ?? {};
  return checks.find(
    (record) =>
      record.name === check.name &&
      isOfImage(record, image) &&
      record.id === checkId(owner, check, record, record.startedAt) &&
      !isReleased(new Date(record.startedAt), owner.actions, now) &&
      !isOvertaken(record, owner),
  );
}

/** Whether another image was applied since. The same image may be selected again later, when its old verdict says nothing. */
function isOvertaken(record: CheckRecord, { status: { history = [] } = {} }: CheckOwner): boolean {
  const since = Date.parse(record.startedAt);
  return othersIn(history, record).some((at) => at > since);
}

/** When other images than this one were applied, in ms since 1970. */
function othersIn(history: readonly HistoryEntry[], image: Pick<CheckRecord, 'tag' | 'digest'>): number[] {
  return history.flatMap((entry) => (entry.trigger !== 'Rollback' && isOfOtherImage(image, entry) ? [Date.parse(entry.at)] : []));
}

/** The status in which these checks of an image have begun: there is a record of each before anything is asked. The same object if all have. */
export function beginChecks<S extends PolicyStatus>(
  status: S,
  owner: Omit<CheckOwner, 'status'>,
  { checks, image, now }: { readonly checks: readonly CheckSettings[]; readonly image: Candidate; readonly now: Date },
): S {
  const missing = checks.filter((check) => findRecord({ ...owner, status }, check, image, now) === undefined);
  if (missing.length === 0) return status;
  const { tag, digest } = image;
  const startedAt = beginOf({ ...owner, status }, image, now).toISOString();
  const added = missing.map((check): CheckRecord => {
    const { name, phase } = check;
    return { name, phase, id: checkId(owner, check, image, startedAt), tag, ...defined({ digest }), state: 'Running', startedAt };
  });
  return { ...status, checks: [...added, ...(status.checks ?? [])].slice(0, maxChecksListed) };
}

/** When a check begins: later than what would end it, by whatever clock that was written. Otherwise it would begin anew again and again. */
function beginOf({ status, actions }: CheckOwner, image: Candidate, now: Date): Date {
  const { history = [] } = status ?? {};
  const released = releaseTime(actions);
  const isDue = released !== undefined && released <= now;
  return new Date(Math.max(now.getTime(), ...othersIn(history, image), isDue ? released.getTime() + 1 : 0));
}

/** What a check says, for people: `the check smoke failed: …`. */
export function describeRecord({ name, state, message }: CheckRecord): string {
  const what = { Running: 'has no verdict yet', Passed: 'passed', Failed: 'failed', TimedOut: 'gave no verdict in time' }[state];
  return `the check ${name} ${what}${message === undefined ? '' : `: ${message}`}`;
}
