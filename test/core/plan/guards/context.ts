/** What guards judge by, and what they make of Deployment shop/web; tests name only what matters. */
import type { Candidate } from '../../../../src/core/model/image-reference.ts';
import { guardPlan } from '../../../../src/core/plan/guard-plan.ts';
import type { Guard, GuardContext } from '../../../../src/core/plan/guards/guard.ts';
import type { PolicySpec } from '../../../../src/core/model/image-policy.ts';
import { planUpdate } from '../../../../src/core/plan/plan-update.ts';
import type { PolicyActions } from '../../../../src/core/model/policy-actions.ts';
import type { HistoryEntry, PolicyStatus } from '../../../../src/core/model/policy-status.ts';
import type { Workload, WorkloadContainer } from '../../../../src/core/model/workload.ts';
import { allKnown, digestOf, noAliases, policyOf, specOf, webDeployment, workloadOf } from '../../model/samples.ts';

export const image = 'registry.example.com/shop/web';
export const evaluatedAt = new Date('2026-03-02T12:00:00Z');

/** Of the policy shop/web, with the candidate 1.3.0. */
export function contextOf(context: Partial<GuardContext> = {}): GuardContext {
  return {
    policy: policyOf(),
    crossNamespace: 'consent',
    spec: specOf(),
    candidate: { tag: '1.3.0', digest: digestOf('b') },
    now: evaluatedAt,
    repeatsPerHour: 5,
    ...context,
  };
}

export interface Case {
  /** What container "web" runs; 1.2.3 unless given. */
  readonly runs?: string | Omit<WorkloadContainer, 'name'>;
  /** Another container. */
  readonly other?: Omit<WorkloadContainer, 'name'>;
  readonly workload?: Partial<Workload>;
  readonly spec?: Partial<PolicySpec>;
  readonly status?: PolicyStatus;
  readonly actions?: PolicyActions;
  readonly candidate?: Candidate;
  readonly context?: Partial<GuardContext>;
}

/** What one guard, or the whole chain, leaves of the change. */
export function evaluateGuards(
  { runs = `${image}:1.2.3`, other, workload, spec, status = {}, actions, candidate, context }: Case,
  ...chain: Guard[]
) {
  const full = contextOf({
    policy: policyOf({ status, ...(actions !== undefined && { actions }) }),
    spec: specOf(spec),
    ...(candidate !== undefined && { candidate }),
    ...context,
  });
  const plan = planUpdate({
    spec: specOf(spec),
    candidate: full.candidate,
    hasApplied: (status.history ?? []).length > 0,
    aliases: noAliases,
    ...allKnown,
    findWorkload: () => workloadOf({ web: runs, ...(other !== undefined && { other }) }, workload),
  });
  const guarded = chain.length > 0 ? guardPlan(plan, full, chain) : guardPlan(plan, full);
  const [target] = guarded.targets;
  const [blocked] = target?.blocked ?? [];
  return {
    changed: target?.changes.map(({ container }) => container) ?? [],
    problem: target?.problem,
    blocked,
    until: blocked?.kind === 'waits' ? blocked.until.toISOString() : undefined,
    reverted: guarded.reverted,
  };
}

/** A change of container "web" that is in the history, made on 2026-03-01 at noon. */
export function entryOf(tag: string, entry: Partial<HistoryEntry> = {}): HistoryEntry {
  return {
    ...webDeployment,
    container: 'web',
    to: `${image}:${tag}`,
    tag,
    digest: digestOf('b'),
    trigger: 'Webhook',
    at: '2026-03-01T12:00:00Z',
    result: 'Applied',
    ...entry,
  };
}
