/**
 * The predicate for reconciles: which policies need one because they, or something that they refer to, changed. It is a pure function of the caches, called on
 * every change and once a minute for all policies, so a missed event does no harm.
 */
import { clearedBySecret, mayBeClearedBySecret, isUsable, type ImagePolicy, type PolicySpec } from '../../model/image-policy.ts';
import { asSeenBy } from '../../plan/consent.ts';
import { hashId } from '../../model/push-event.ts';
import type { Outcome } from '../../plan/outcome.ts';
import type { Reason } from '../../model/reasons.ts';
import { resolveTargets } from '../../model/resolve-target.ts';
import { isSameObject, workloadKey, type Workload } from '../../model/workload.ts';
import { actionJob } from './requested-actions.ts';
import type { PolicyJob } from '../../queue/jobs.ts';
import { tryParseImageReference } from '../../model/image-reference.ts';
import { isPending, waitsUntil } from '../../plan/pending-candidate.ts';
import { toSeconds } from '../../model/text.ts';
import { wantsChange, type UnchangedContainer, type TargetPlan, type TargetState } from '../../plan/plan-update.ts';
import { planWith } from '../plan.ts';
import { selectKnown, usableSpec } from '../selection.ts';
import type { ClusterView, SecretVersions } from '../ports.ts';

/** Reasons that a change of the target may clear. */
const clearedByTarget: ReadonlySet<string> = new Set<Reason>([
  'TargetNotFound',
  'ContainerNotFound',
  'FieldPathMissing',
  'FieldNotText',
  'NotComparable',
  'PatchRejected',
  'NoConsent',
  'Held',
  'TargetPaused',
  'ChangeReverted',
]);

/** Whether a reconcile ended with a reason that a changed Secret may clear. */
export function isClearedBySecret({ kind, reason }: Pick<Outcome, 'kind' | 'reason'>): boolean {
  return kind === 'stalled' && clearedBySecret.has(reason);
}

/** Reasons that are cleared once the kinds of the targets are known. */
const clearedByKind: ReadonlySet<string> = new Set<Reason>([
  'TargetKindUnknown',
  'TargetKindForbidden',
  'TooManyKinds',
  'NamespaceNotSelected',
]);

const fieldNotAllowed: Reason = 'FieldNotAllowed';
const tooManyKinds: Reason = 'TooManyKinds';
const notSelected: Reason = 'NamespaceNotSelected';

type Job = Pick<PolicyJob, 'source' | 'cause'>;

/** What the predicate reads from the caches. */
export type NeedsView = Pick<
  ClusterView,
  | 'findWorkload'
  | 'listWorkloads'
  | 'targetState'
  | 'namespaceVersion'
  | 'crossNamespace'
  | 'namespaceConsent'
  | 'mayUseRegistry'
  | 'hasTrustRoot'
>;

/**
 * The jobs that the policy needs now. Replicas that see the same state make the same jobs. An annotation may stay for weeks after its request was answered, so
 * it must not hide other changes.
 */
export function neededReconciles(policy: ImagePolicy, view: NeedsView, now: Date, secretVersions?: SecretVersions): PolicyJob[] {
  const { generation, status } = policy;
  const job = { ...jobOf(policy, now), generation };
  if (status.observedGeneration !== generation) return [{ ...job, source: 'PolicyChange', cause: `generation:${generation}` }];
  const permission = permissionJob(policy, view);
  if (permission !== undefined) return [{ ...job, ...permission }];
  const action = actionJob(policy);
  const recovery = recoveryJob(policy, job, view, secretVersions);
  const stale = staleJob(policy, view);
  const wait = changedWaitJob(policy, now);
  return [
    ...(action === undefined ? [] : [{ ...job, ...action }]),
    ...(recovery === undefined ? [] : [recovery]),
    ...(stale === undefined ? [] : [{ ...job, ...stale }]),
    ...(wait === undefined ? [] : [{ ...job, ...wait }]),
  ];
}

/**
 * The job for a policy that waits for longer or shorter than its spec says by now. Defaults change without an edit of the policy: with the configuration, or with
 * the labels of its namespace. A wait that is over has a job of its own.
 */
function changedWaitJob({ generation, spec, status }: ImagePolicy, now: Date): Job | undefined {
  const { waiting } = status;
  if (!isUsable(spec) || spec.suspended || !isPending(waiting) || Date.parse(waiting.until) <= now.getTime()) return undefined;
  const until = waitsUntil(waiting, spec, now);
  const isSame = until === undefined ? false : toSeconds(until) === waiting.until;
  return isSame
    ? undefined
    : { source: 'PolicyChange', cause: `waits:${generation}:${waiting.until}:${until?.toISOString() ?? 'no more'}` };
}

/** The job for a status that shows a workload which is gone or was replaced by another of the same name, even if no replica was running when that happened. */
function staleJob(policy: ImagePolicy, view: NeedsView): Job | undefined {
  const { generation, spec, status } = policy;
  if (!isUsable(spec) || spec.suspended || spec.targets.some((target) => view.targetState(target, policy) === 'starting')) return undefined;
  const { findWorkload } = asSeenBy(policy, view);
  const others = (status.targets ?? []).flatMap((state) => {
    // The consent of other namespaces may not be known yet.
    const isKnown = state.namespace === policy.namespace || view.namespaceConsent(state.namespace) !== undefined;
    if (state.container === undefined || !isKnown) return [];
    const found = findWorkload(state);
    const isStale = found === undefined || !isSameObject(state, found);
    return isStale ? [`${workloadKey(state)}:${state.uid ?? ''}:${found?.uid ?? ''}`] : [];
  });
  return others.length === 0 ? undefined : { source: 'TargetChange', cause: `stale:${generation}:${shorten(others.join(','))}` };
}

/**
 * What a policy may do can change without an edit of the policy: by another configuration at the next start, or by older policies of its namespace that name
 * more kinds. The status then has to show it.
 */
function permissionJob(policy: ImagePolicy, view: NeedsView): Job | undefined {
  const { generation, spec, status } = policy;
  if (spec.suspended === true) return undefined;
  const { conditions = [] } = status;
  const stalled = conditions.find(({ type, status }) => type === 'Stalled' && status === 'True')?.reason;
  const since = conditions.find(({ type }) => type === 'Ready')?.lastTransitionTime ?? '';
  const job = (what: string) => ({ source: 'PolicyChange' as const, cause: `${what}:${generation}:${since}` });
  if (!isUsable(spec)) return spec.problem.reason === fieldNotAllowed && stalled !== fieldNotAllowed ? job('denied') : undefined;
  if (stalled === fieldNotAllowed) return job('allowed');
  const denials = denialsOf(policy, spec, view);
  if (stalled !== undefined) return stalled in denials && !denials[stalled] ? job('permitted') : undefined;
  if (Object.values(denials).includes(true)) return job('forbidden');
  const problems = spec.targets.map((target) => view.targetState(target, policy)).flatMap(problemOf);
  if (problems.includes(notSelected)) return job(`namespaces:${versionsOfTargets(spec, view)}`);
  return problems.includes(tooManyKinds) ? job('kinds') : undefined;
}

/** For each reason that the configuration alone decides: whether it denies that to the policy. Empty for what is not known. */
function denialsOf(
  { namespace }: ImagePolicy,
  { targets, repository, verification }: PolicySpec,
  { crossNamespace, mayUseRegistry, hasTrustRoot }: NeedsView,
): Readonly<Partial<Record<string, boolean>>> {
  const isElsewhere = targets.some((target) => target.namespace !== namespace);
  const denials: Partial<Record<Reason, boolean>> = {
    CrossNamespaceDenied: crossNamespace === 'deny' && isElsewhere,
    ...(mayUseRegistry !== undefined && { RegistryRefused: !mayUseRegistry(repository.registry) }),
    // Without a trust root, only an image that is about to be applied is affected.
    ...(hasTrustRoot === true && verification !== undefined && { TrustRootMissing: false }),
  };
  return denials;
}

function problemOf(state: TargetState): Reason[] {
  return typeof state === 'object' && 'problem' in state ? [state.problem.reason] : [];
}

/** A namespace may be selected, not selected and selected again within a second. */
function versionsOfTargets({ targets }: PolicySpec, { namespaceVersion = () => '' }: NeedsView): string {
  return shorten([...new Set(targets.map(({ namespace }) => namespaceVersion(namespace)))].join(','));
}

/** The job for a change that may clear the reason why the policy is Stalled or Held. */
function recoveryJob(
  policy: ImagePolicy,
  job: Omit<PolicyJob, 'source' | 'cause'>,
  view: NeedsView,
  secretVersions: SecretVersions | undefined,
): PolicyJob | undefined {
  const { generation, spec, status } = policy;
  if (secretVersions !== undefined && mayBeClearedBySecret(policy) && isUsable(policy.spec))
    return { ...job, source: 'SecretChange', cause: `secrets:${generation}:${secretVersions(policy, policy.spec)}` };
  const stalled = status.conditions?.find(({ type, reason }) => type === 'Stalled' || (type === 'Held' && clearedByTarget.has(reason)));
  if (stalled?.status !== 'True' || !isUsable(spec)) return undefined;
  if (clearedByKind.has(stalled.reason)) {
    const states = spec.targets.map((target) => view.targetState(target, policy));
    // A different problem with the kind is reported, too: it was installed, but the permission is missing.
    const isAsBefore = (state: TargetState) => state === 'starting' || ('problem' in state && state.problem.reason === stalled.reason);
    if (states.some(isAsBefore)) return undefined;
    const since = states.map((state) => (state === 'starting' ? state : 'since' in state ? state.since : state.problem.reason));
    const namespaces = stalled.reason === notSelected ? `:${versionsOfTargets(spec, view)}` : '';
    return { ...job, source: 'TargetChange', cause: `kinds:${generation}:${shorten(since.join(','))}${namespaces}` };
  }
  if (!clearedByTarget.has(stalled.reason)) return undefined;
  // A workload that the policy may not see causes no job: the status would reveal its changes.
  const versions = resolveTargets(spec.targets, asSeenBy(policy, view)).map((workload) => versionOf(workload, stalled.reason));
  if (versions.length === 0) return undefined;
  // A consent may be given, withdrawn and given again.
  const since = stalled.reason === 'NoConsent' ? `${stalled.lastTransitionTime}:` : '';
  return { ...job, source: 'TargetChange', cause: `targets:${generation}:${since}${shorten(versions.join(','))}` };
}

/** The job for a policy whose namespace is selected now and was not before: meanwhile pushes were not for it. `version` is that of the Namespace. */
export function selectedJob(policy: ImagePolicy, version: string, now: Date): PolicyJob {
  const { generation } = policy;
  return { ...jobOf(policy, now), generation, source: 'PolicyChange', cause: `selected:${generation}:${version}` };
}

/**
 * The job for new targets of a policy; undefined unless one of them would be changed to what the policy selected last. It costs no request; the reconcile
 * itself finds out what the policy selects by now.
 */
export function newTargetJob(policy: ImagePolicy, newTargets: ReadonlySet<string>, cluster: ClusterView, now: Date): PolicyJob | undefined {
  const { generation } = policy;
  const spec = usableSpec(policy);
  const selection = 'kind' in spec ? undefined : selectKnown(policy, spec);
  if ('kind' in spec || selection === undefined || 'kind' in selection) return undefined;
  const { tag, digest } = selection.candidate;
  if (spec.targets.some((target) => cluster.targetState(target, policy) === 'starting')) return undefined;
  const { targets } = planWith(policy, selection, cluster);
  // Without the creation times of the images, which only the reconcile asks for, images cannot be ordered.
  const isOther = ({ image }: UnchangedContainer) => tryParseImageReference(image, cluster.aliases)?.tag !== tag;
  const wants = (planned: TargetPlan) =>
    wantsChange(planned) || (spec.strategy.withCreationTimes !== undefined && planned.unchanged.some(isOther));
  const changed = targets.flatMap((planned) => (wants(planned) && planned.workload !== undefined ? [planned.workload] : []));
  const versions = changed.filter(({ uid }) => newTargets.has(uid)).map((workload) => versionOf(workload, ''));
  if (versions.length === 0) return undefined;
  return {
    ...jobOf(policy, now),
    generation,
    source: 'TargetChange',
    cause: `new-targets:${generation}:${tag}@${digest ?? ''}:${shorten(versions.join(','))}`,
    hint: { tag, ...(digest !== undefined && { digest }) },
  };
}

function jobOf({ namespace, name, uid }: ImagePolicy, now: Date): Pick<PolicyJob, 'schema' | 'policy' | 'receivedAt'> {
  return { schema: 1, policy: { namespace, name, uid }, receivedAt: now.toISOString() };
}

const maxCauseLength = 1_000;

/** A selector may match hundreds of workloads. */
function shorten(versions: string): string {
  return versions.length <= maxCauseLength ? versions : hashId([versions]);
}

/** For most kinds, an annotation does not increase the generation (for Deployments it does). */
function versionOf({ uid, generation, allowPoliciesFrom }: Workload, reason: string): string {
  return reason === 'NoConsent' ? `${uid}:${generation}:${allowPoliciesFrom ?? ''}` : `${uid}:${generation}`;
}
