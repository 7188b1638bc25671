/**
 * Which policies want a look because they, or what they point at, changed. A pure judgement on what the caches hold: asked on every
 * change, and once a minute for all, so that nothing hangs on having seen the change itself.
 */
import { asSeenBy, type Asker } from '../plan/consent.ts';
import { isUsable, policyKey, type ImagePolicy, type PolicySpec } from '../model/image-policy.ts';
import { formatSelector, matchesSelector, type LabelSelector } from '../model/label-selector.ts';
import { hashId } from '../model/push-event.ts';
import type { Outcome } from '../plan/outcome.ts';
import type { Reason } from '../model/reasons.ts';
import { resolveTargets } from '../model/resolve-target.ts';
import { isSameObject, kindKey, workloadKey, type KindRef, type Workload, type WorkloadRef } from '../model/workload.ts';
import { actionJob } from './requested-actions.ts';
import type { PolicyJob } from '../queue/jobs.ts';
import { tryParseImageReference } from '../model/image-reference.ts';
import { wantsChange, type KeptContainer, type TargetPlan } from '../plan/plan-update.ts';
import { planWith, type PlanPorts, type TargetState } from './plan-with.ts';

/** What a change of the target may heal. */
const healedByTarget: ReadonlySet<string> = new Set<Reason>([
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

/** What a changed Secret, or another choice of Secrets, may heal; some registries hide what they do not let one see, and keys are replaced. */
const healedBySecret: ReadonlySet<string> = new Set<Reason>([
  'RegistryDenied',
  'RepositoryNotFound',
  'VerificationKeyInvalid',
  'SignatureInvalid',
]);

/** The Secrets that a policy hangs on, with their versions as far as they are known, as one text. */
export type SecretVersions = (policy: ImagePolicy, spec: PolicySpec) => string;

/** Whether a look ended with what a Secret may heal. */
export function isHealedBySecret({ kind, reason }: Pick<Outcome, 'kind' | 'reason'>): boolean {
  return kind === 'stalled' && healedBySecret.has(reason);
}

/** Whether the policy is Stalled by what a Secret may heal. */
export function mayBeHealedBySecret({ status }: ImagePolicy): boolean {
  return (
    status.conditions?.some(({ type, status, reason }) => type === 'Stalled' && status === 'True' && healedBySecret.has(reason)) ?? false
  );
}

/** What is healed when the kinds of the targets are known at last. */
const healedByKind: ReadonlySet<string> = new Set<Reason>(['TargetKindUnknown', 'TargetKindForbidden', 'TooManyKinds']);

const fieldNotAllowed: Reason = 'FieldNotAllowed';
const tooManyKinds: Reason = 'TooManyKinds';

type Job = Pick<PolicyJob, 'source' | 'cause'>;

/** What is asked of the caches. */
export type NeedsView = Pick<PlanPorts, 'findWorkload' | 'listWorkloads' | 'targetState' | 'crossNamespace' | 'namespaceConsent'>;

/**
 * Why the policy wants looks now: their jobs. Replicas that judge the same state make the same jobs. What a user asked for may stand there for weeks and be done:
 * it must not hide what else happens.
 */
export function neededReconciles(policy: ImagePolicy, view: NeedsView, now: Date, secretVersions?: SecretVersions): PolicyJob[] {
  const { generation, status } = policy;
  const job = { ...jobOf(policy, now), generation };
  if (status.observedGeneration !== generation) return [{ ...job, source: 'PolicyChange', cause: `generation:${generation}` }];
  const permission = permissionJob(policy, view);
  if (permission !== undefined) return [{ ...job, ...permission }];
  const action = actionJob(policy);
  const healing = healingJob(policy, job, view, secretVersions);
  const stale = staleJob(policy, view);
  return [
    ...(action === undefined ? [] : [{ ...job, ...action }]),
    ...(healing === undefined ? [] : [healing]),
    ...(stale === undefined ? [] : [{ ...job, ...stale }]),
  ];
}

/** What the status says of a workload is not so any more once that is gone, or another one has its name, even if it went while nobody was there to see it. */
function staleJob(policy: ImagePolicy, view: NeedsView): Job | undefined {
  const { generation, spec, status } = policy;
  if (!isUsable(spec) || spec.suspended || spec.targets.some((target) => view.targetState(target, policy) === 'starting')) return undefined;
  const { findWorkload } = asSeenBy(policy, view);
  const others = (status.targets ?? []).flatMap((state) => {
    // What owners say of other namespaces may not be known yet.
    const isKnown = state.namespace === policy.namespace || view.namespaceConsent(state.namespace) !== undefined;
    if (state.container === undefined || !isKnown) return [];
    const found = findWorkload(state);
    const isStale = found === undefined || !isSameObject(state, found);
    return isStale ? [`${workloadKey(state)}:${state.uid ?? ''}:${found?.uid ?? ''}`] : [];
  });
  return others.length === 0 ? undefined : { source: 'TargetChange', cause: `stale:${generation}:${shorten(others.join(','))}` };
}

/**
 * What the policy may do can change without it: by the configuration of the next start, and by older policies of its namespace that name more kinds. Then the
 * status has to show it.
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
  return stalled === undefined && spec.targets.some((target) => isTooMany(view.targetState(target, policy))) ? job('kinds') : undefined;
}

function isTooMany(state: TargetState): boolean {
  return typeof state === 'object' && 'problem' in state && state.problem.reason === tooManyKinds;
}

/** The job for what may heal the policy. */
function healingJob(
  policy: ImagePolicy,
  job: Omit<PolicyJob, 'source' | 'cause'>,
  view: NeedsView,
  secretVersions: SecretVersions | undefined,
): PolicyJob | undefined {
  const { generation, spec, status } = policy;
  if (secretVersions !== undefined && mayBeHealedBySecret(policy) && isUsable(policy.spec))
    return { ...job, source: 'SecretChange', cause: `secrets:${generation}:${secretVersions(policy, policy.spec)}` };
  const stalled = status.conditions?.find(({ type, reason }) => type === 'Stalled' || (type === 'Held' && healedByTarget.has(reason)));
  if (stalled?.status !== 'True' || !isUsable(spec)) return undefined;
  if (healedByKind.has(stalled.reason)) {
    const states = spec.targets.map((target) => view.targetState(target, policy));
    // Another problem with the kind is reported, too: it was installed, and the permission lacks.
    const isAsBefore = (state: TargetState) => state === 'starting' || ('problem' in state && state.problem.reason === stalled.reason);
    if (states.some(isAsBefore)) return undefined;
    const since = states.map((state) => (state === 'starting' ? state : 'since' in state ? state.since : state.problem.reason));
    return { ...job, source: 'TargetChange', cause: `kinds:${generation}:${shorten(since.join(','))}` };
  }
  if (!healedByTarget.has(stalled.reason)) return undefined;
  // Of what the policy may not see, no change makes a job: its status would tell of it.
  const versions = resolveTargets(spec.targets, asSeenBy(policy, view)).map((workload) => versionOf(workload, stalled.reason));
  if (versions.length === 0) return undefined;
  // A consent may come, go and come again.
  const since = stalled.reason === 'NoConsent' ? `${stalled.lastTransitionTime}:` : '';
  return { ...job, source: 'TargetChange', cause: `targets:${generation}:${since}${shorten(versions.join(','))}` };
}

/**
 * The job for workloads that a policy did not mean, or that were not there, a moment ago: undefined unless one of them would be changed to what the policy
 * selected last. Costs no request; what it selects by now the look itself finds out.
 */
export function newTargetJob(policy: ImagePolicy, newTargets: ReadonlySet<string>, ports: PlanPorts, now: Date): PolicyJob | undefined {
  const { spec, status, generation } = policy;
  const { latest } = status;
  if (!isUsable(spec) || spec.suspended || latest === undefined || spec.strategy.reject(latest.tag) !== undefined) return undefined;
  if (spec.targets.some((target) => ports.targetState(target, policy) === 'starting')) return undefined;
  const { targets } = planWith(policy, spec, latest, ports);
  // Without the times of the images, which the look asks for, none is newer than another.
  const isOther = ({ image }: KeptContainer) => tryParseImageReference(image, ports.aliases)?.tag !== latest.tag;
  const wants = (planned: TargetPlan) => wantsChange(planned) || (spec.strategy.knowing !== undefined && planned.kept.some(isOther));
  const changed = targets.flatMap((planned) => (wants(planned) && planned.workload !== undefined ? [planned.workload] : []));
  const versions = changed.filter(({ uid }) => newTargets.has(uid)).map((workload) => versionOf(workload, ''));
  if (versions.length === 0) return undefined;
  const hint = { tag: latest.tag, ...(latest.digest !== undefined && { digest: latest.digest }) };
  return {
    ...jobOf(policy, now),
    generation,
    source: 'TargetChange',
    cause: `new-targets:${generation}:${latest.tag}@${latest.digest ?? ''}:${shorten(versions.join(','))}`,
    hint,
  };
}

function jobOf({ namespace, name, uid }: ImagePolicy, now: Date): Pick<PolicyJob, 'schema' | 'policy' | 'receivedAt'> {
  return { schema: 1, policy: { namespace, name, uid }, receivedAt: now.toISOString() };
}

const maxCauseLength = 1_000;

/** A selector may find hundreds of workloads. */
function shorten(versions: string): string {
  return versions.length <= maxCauseLength ? versions : hashId([versions]);
}

/** Of most kinds, an annotation does not count up the generation (of Deployments it does). */
function versionOf({ uid, generation, allowPoliciesFrom }: Workload, reason: string): string {
  return reason === 'NoConsent' ? `${uid}:${generation}:${allowPoliciesFrom ?? ''}` : `${uid}:${generation}`;
}

type PolicyName = Pick<ImagePolicy, 'namespace' | 'name'>;

/** Policies by the workloads they mean, so that a changed workload finds its policies in one look. */
export interface TargetIndex {
  put(policy: ImagePolicy): void;
  remove(policy: PolicyName): void;
  /** Only those that `maySee` lets: of what a policy may not see, no change concerns it. */
  policiesOf(workload: WorkloadRef & Pick<Workload, 'labels'>, maySee: (asker: Asker) => boolean): readonly PolicyName[];
}

interface Claim {
  readonly policy: PolicyName;
  /** Undefined where the workload is named. */
  readonly selector?: LabelSelector;
}

/** An empty index. Selectors are tried only on workloads of their kind and namespace. */
export function createTargetIndex(): TargetIndex {
  // By the namespaces of policies: their policies are many, and whether they may see a workload is one question.
  const byPlace = new Map<string, Map<string, Map<string, Claim>>>();
  const placesOf = new Map<string, (readonly [place: string, claim: string])[]>();
  const remove = (policy: PolicyName) => {
    const key = policyKey(policy);
    for (const [place, claim] of placesOf.get(key) ?? []) {
      const askers = byPlace.get(place);
      const claims = askers?.get(policy.namespace);
      claims?.delete(claim);
      if (claims?.size === 0) askers?.delete(policy.namespace);
      if (askers?.size === 0) byPlace.delete(place);
    }
    placesOf.delete(key);
  };
  return {
    remove,
    put(policy) {
      remove(policy);
      if (!isUsable(policy.spec)) return;
      const { namespace, name } = policy;
      const key = policyKey(policy);
      const places = policy.spec.targets.map((target) => {
        const { selector } = target;
        const place = selector === undefined ? workloadKey(target) : selectedPlace(target, target.namespace);
        const claim = selector === undefined ? key : `${key} ${formatSelector(selector)}`;
        const askers = byPlace.get(place) ?? new Map<string, Map<string, Claim>>();
        const claims = askers.get(namespace) ?? new Map<string, Claim>();
        claims.set(claim, { policy: { namespace, name }, ...(selector !== undefined && { selector }) });
        byPlace.set(place, askers.set(namespace, claims));
        return [place, claim] as const;
      });
      placesOf.set(key, places);
    },
    policiesOf(workload, maySee) {
      // Only a policy that names its one target may be one of before consent was asked.
      const named = [...(byPlace.get(workloadKey(workload)) ?? [])].filter(([namespace]) => maySee({ namespace, legacyTarget: workload }));
      const selecting = byPlace.get(selectedPlace(workload, workload.namespace)) ?? [];
      const selected = [...selecting].filter(([namespace]) => maySee({ namespace }));
      const claims = [...named, ...selected].flatMap(([, claims]) => [...claims.values()]);
      const matching = claims.filter(({ selector }) => selector === undefined || matchesSelector(selector, workload.labels));
      return [...new Map(matching.map(({ policy }) => [policyKey(policy), policy])).values()];
    },
  };
}

/** Not the key of any workload: no name is a star. */
function selectedPlace(kind: KindRef, namespace: string): string {
  return `${kindKey(kind)}/${namespace}/*`;
}
