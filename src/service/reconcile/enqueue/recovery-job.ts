/** The job for a change that may clear the reason why a policy is stalled or holds its image back. */
import { clearedBySecret, isUsable, mayBeClearedBySecret, type ImagePolicy, type PolicySpec } from '../../../core/model/image-policy.ts';
import { reasonsWith } from '../../../core/model/guard-reasons.ts';
import type { Condition } from '../../../core/model/policy-status.ts';
import type { Reason } from '../../../core/model/reasons.ts';
import { resolveTargets } from '../../../core/model/resolve-target.ts';
import type { Seen } from '../../../core/plan/consent.ts';
import { sourcesOf } from '../../../core/plan/chart-sources.ts';
import type { Outcome } from '../../../core/plan/outcome.ts';
import type { TargetState } from '../../../core/plan/plan-update.ts';
import type { PolicyJob } from '../../queue/jobs.ts';
import type { SecretVersions } from '../ports.ts';
import { shorten, versionOf } from './job-cause.ts';
import type { NeedsView } from './needs-reconcile.ts';
import { notSelected, versionsOfTargets } from './permission-job.ts';

type RecoveryJob = Pick<PolicyJob, 'source' | 'cause'>;

/** Reasons of Stalled that say something of workloads that were found. */
const aboutFoundTargets: ReadonlySet<string> = new Set<Reason>([
  'TooManyTargets',
  'ContainerNotFound',
  'FieldPathMissing',
  'FieldNotText',
  'NotComparable',
]);

/** Reasons of Stalled and Held that a change of the target may clear. */
const clearedByTarget: ReadonlySet<string> = new Set([
  ...reasonsWith('endsByTarget'),
  ...aboutFoundTargets,
  'TargetNotFound' satisfies Reason,
]);

/** Whether a reconcile ended with a reason that a changed Secret may clear. */
export function isClearedBySecret({ kind, reason }: Pick<Outcome, 'kind' | 'reason'>): boolean {
  return kind === 'stalled' && clearedBySecret.has(reason);
}

/** Reasons of Stalled that are cleared once the kinds of the targets are known. */
const clearedByKind: ReadonlySet<string> = new Set<Reason>([
  'TargetKindUnknown',
  'TargetKindForbidden',
  'TooManyKinds',
  'NamespaceNotSelected',
]);

/** The job for a change that may clear the reason why the policy is Stalled or Held. */
export function recoveryJob(
  policy: ImagePolicy,
  view: NeedsView & Seen,
  secretVersions: SecretVersions | undefined,
): RecoveryJob | undefined {
  const { generation, spec, status } = policy;
  if (secretVersions !== undefined && mayBeClearedBySecret(policy) && isUsable(policy.spec))
    return { source: 'SecretChange', cause: `secrets:${generation}:${secretVersions(policy, policy.spec)}` };
  const stalled = status.conditions?.find(({ type, reason }) => type === 'Stalled' || (type === 'Held' && clearedByTarget.has(reason)));
  if (stalled?.status !== 'True' || !isUsable(spec)) return undefined;
  if (clearedByKind.has(stalled.reason)) {
    const states = spec.targets.map((target) => view.targetState(target, policy));
    // A different problem with the kind is reported, too, for example if the kind was installed but the permission is missing.
    const isAsBefore = (state: TargetState) => state === 'starting' || ('problem' in state && state.problem.reason === stalled.reason);
    if (states.some(isAsBefore)) return undefined;
    const since = states.map((state) => (state === 'starting' ? state : 'since' in state ? state.since : state.problem.reason));
    const namespaces = stalled.reason === notSelected ? `:${versionsOfTargets(spec, view)}` : '';
    return { source: 'TargetChange', cause: `kinds:${generation}:${shorten(since.join(','))}${namespaces}` };
  }
  if (!clearedByTarget.has(stalled.reason)) return undefined;
  // A workload that the policy may not see causes no job: the status would reveal its changes.
  const versions = resolveTargets(spec.targets, view).map((workload) => versionOf(workload, stalled.reason));
  if (versions.length === 0) return lostTargetsJob(policy, spec, view, stalled);
  const sources = sourcesOf(spec.targets, view).map((source) => view.findWorkload(source));
  versions.push(...sources.map((source) => (source === undefined ? 'unseen' : versionOf(source, stalled.reason))));
  // The cause includes the time of the status, because a consent may be given, withdrawn and given again, also that to see the source of a chart.
  const since = stalled.reason === 'NoConsent' || sources.length > 0 ? `${stalled.lastTransitionTime}:` : '';
  return { source: 'TargetChange', cause: `targets:${generation}:${since}${shorten(versions.join(','))}` };
}

/** The job for a policy whose status says something of targets, all of which were deleted or relabelled since. */
function lostTargetsJob(
  policy: ImagePolicy,
  { targets }: PolicySpec,
  view: NeedsView,
  { reason, lastTransitionTime }: Condition,
): RecoveryJob | undefined {
  const isKnown = targets.every((target) => view.targetState(target, policy) !== 'starting');
  if (!aboutFoundTargets.has(reason) || !isKnown) return undefined;
  return { source: 'TargetChange', cause: `targets:${policy.generation}:${lastTransitionTime}:none` };
}
