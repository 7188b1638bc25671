/** The verdicts of the checks of an image (`rollout.checks`), as the status of the policy has them. A verdict is written before it is acted on, and never replaced. */
import { defined } from '../model/defined.ts';
import type { ImagePolicy, PolicySpec } from '../model/image-policy.ts';
import type { Candidate } from '../model/image-reference.ts';
import { maxChecksListed, type CheckRecord } from '../model/check-record.ts';
import type { PolicyStatus } from '../model/policy-status.ts';
import { checkId, isOfImage, type CheckPhase, type CheckSettings } from '../model/rollout-check.ts';
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
  return history.some((entry) => entry.trigger !== 'Rollback' && Date.parse(entry.at) > since && !isOfImage(record, entry));
}

/** The status in which these checks of an image have begun: there is a record of each before anything is asked. The same object if all have. */
export function beginChecks<S extends PolicyStatus>(
  status: S,
  owner: Omit<CheckOwner, 'status'>,
  { checks, image, now }: { readonly checks: readonly CheckSettings[]; readonly image: Candidate; readonly now: Date },
): S {
  const missing = checks.filter((check) => findRecord({ ...owner, status }, check, image, now) === undefined);
  if (missing.length === 0) return status;
  const startedAt = now.toISOString();
  const { tag, digest } = image;
  const added = missing.map((check): CheckRecord => {
    const { name, phase } = check;
    return { name, phase, id: checkId(owner, check, image, startedAt), tag, ...defined({ digest }), state: 'Running', startedAt };
  });
  return { ...status, checks: [...added, ...(status.checks ?? [])].slice(0, maxChecksListed) };
}

/** What a check says, for people: `the check smoke failed: …`. */
export function describeRecord({ name, state, message }: Pick<CheckRecord, 'name' | 'state' | 'message'>): string {
  const what = { Running: 'has no verdict yet', Passed: 'passed', Failed: 'failed', TimedOut: 'gave no verdict in time' }[state];
  return `the check ${name} ${what}${message === undefined ? '' : `: ${message}`}`;
}
