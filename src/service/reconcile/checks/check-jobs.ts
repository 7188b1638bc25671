import { isUsable, type ImagePolicy } from '../../../core/model/image-policy.ts';
import type { CheckRecord } from '../../../core/model/check-record.ts';
import type { CheckSettings } from '../../../core/model/rollout-check.ts';
import { findRecord } from '../../../core/plan/check-records.ts';
import { questionsAt } from '../../../core/plan/record-answer.ts';
import { policyJob, type PolicyJob } from '../../queue/jobs.ts';

/** A check that has begun and has no verdict yet. */
export interface RunningCheck {
  readonly check: CheckSettings;
  readonly record: CheckRecord;
}

/** The running checks of a policy, by its status alone. Nothing is asked for a suspended policy. */
export function runningChecks(policy: ImagePolicy, now: Date): RunningCheck[] {
  const { spec, status } = policy;
  if (!isUsable(spec) || spec.suspended) return [];
  const settings = spec.rollout?.checks ?? [];
  return (status.checks ?? []).flatMap((record) => {
    const check = record.state === 'Running' ? settings.find(({ name }) => name === record.name) : undefined;
    return check !== undefined && findRecord(policy, check, record, now) === record ? [{ check, record }] : [];
  });
}

/**
 * The next questions of the running checks: the one that is due, and the one after it. They follow from the status and the time, so they come back after a restart
 * or after Redis was wiped, and replicas make the same jobs.
 */
export function checkJobs(policy: ImagePolicy, now: Date): PolicyJob[] {
  return runningChecks(policy, now).flatMap(({ check, record }) => {
    const { due, next } = questionsAt(check, record, now);
    const wanted = due.number <= (record.answered ?? -1) ? [next] : [due, next];
    return wanted.map(({ number, at }) =>
      policyJob(policy, {
        source: 'TargetChange',
        task: 'check',
        check: record.id,
        cause: `check:${record.id}:${number}`,
        receivedAt: at.toISOString(),
        notBefore: at.toISOString(),
      }),
    );
  });
}
