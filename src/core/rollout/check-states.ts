/** What is known of the checks of an image (`rollout.checks`), for explanations and pages. It decides nothing. */
import type { CheckRecord } from '../model/check-record.ts';
import { defined } from '../model/defined.ts';
import type { PolicySpec } from '../model/image-policy.ts';
import type { Candidate } from '../model/image-reference.ts';
import type { CheckPhase, CheckSettings } from '../model/rollout-check.ts';
import { describeRecord, findRecord, type CheckOwner } from '../plan/check-records.ts';

/** A check, and its record of an image if it has begun. */
export interface CheckState {
  readonly check: CheckSettings;
  readonly record?: CheckRecord;
}

/** The checks of an image, in the order of the policy, each with the record that counts now. */
export function checkStates(owner: CheckOwner, spec: Pick<PolicySpec, 'rollout'>, image: Candidate, now: Date): CheckState[] {
  return (spec.rollout?.checks ?? []).map((check) => ({ check, ...defined({ record: findRecord(owner, check, image, now) }) }));
}

const asked: Readonly<Record<CheckPhase, (name: string) => string>> = {
  before: (name) => `the check ${name} is asked before anything is changed`,
  during: (name) => `the check ${name} is asked from the first change until its rollout is over`,
  after: (name) => `the check ${name} is asked when what was changed has rolled out`,
};

/** What is known of a check, for people: its verdict and last answer, or when it is asked. */
export function describeState({ check, record }: CheckState): string {
  return record === undefined ? asked[check.phase](check.name) : describeRecord(record);
}
