/**
 * The one path to a patch: choose the tag, ask the registry, plan, guard, apply. Reads all state itself; a hint only says where to
 * look, so lost, doubled and reordered events do no harm.
 */
import { PermanentError } from '../core/errors.ts';
import { guardPlan, type GuardContext } from '../core/guard-plan.ts';
import type { RegistryAliases } from '../core/image-reference.ts';
import { isUsable, policyKey, type ImagePolicy, type PolicySpec } from '../core/image-policy.ts';
import { outcomeOf, type AppliedChange, type Outcome } from '../core/outcome.ts';
import { hasChanges, planUpdate, type Candidate, type ContainerChange, type TargetPlan, type UpdatePlan } from '../core/plan-update.ts';
import { workloadKey, type Workload, type WorkloadRef } from '../core/workload.ts';
import { chooseTag, type ListTags } from './choose-tag.ts';
import type { KeyedMutex } from './keyed-mutex.ts';
import { formatTag, resolveCandidate, type HeadManifest, type Hint } from './resolve-candidate.ts';

export interface ReconcileRequest {
  readonly policy: { readonly namespace: string; readonly name: string; readonly uid: string };
  /** Where to look; without one the whole repository is listed. */
  readonly hint?: Hint;
  /** Whether a webhook announced the hint, so that the registry may still be about to show it. */
  readonly announced: boolean;
  /** What the registry said of the hint a moment ago. */
  readonly resolved?: Candidate;
}

export interface ReconcilePorts {
  readonly findPolicy: (namespace: string, name: string) => ImagePolicy | undefined;
  /** The workload as the cache knows it. */
  readonly findWorkload: (ref: WorkloadRef) => Workload | undefined;
  /** The workload as the API server knows it. */
  readonly readWorkload: (ref: WorkloadRef, signal: AbortSignal) => Promise<Workload | undefined>;
  /** One guarded patch; `conflict`: the workload is not what was planned with. */
  readonly patchImages: (
    workload: Workload,
    changes: readonly ContainerChange[],
    changeCause: string,
    signal: AbortSignal,
  ) => Promise<{ kind: 'patched'; workload: Workload } | { kind: 'conflict' }>;
  readonly headManifest: HeadManifest;
  readonly listTags: ListTags;
  readonly mutex: KeyedMutex;
  readonly aliases: RegistryAliases;
  readonly supportedKinds: ReadonlySet<string>;
  readonly crossNamespace: GuardContext['crossNamespace'];
  readonly onConflict: () => void;
  readonly now: () => number;
}

const maxPlans = 5;

/** Brings the targets of one policy to the image that it selects. Expected endings are values; a throw means wait or try again. */
export async function reconcilePolicy(request: ReconcileRequest, ports: ReconcilePorts, signal: AbortSignal): Promise<Outcome> {
  for (let looks = 0; looks < maxPlans; looks++) {
    const outcome = await lookOnce(request, ports, signal);
    if (outcome !== undefined) return outcome;
  }
  throw new Error(`${policyKey(request.policy)} changed under ${maxPlans} looks in a row`);
}

/** Undefined when the policy was changed meanwhile: what was announced has to be looked at with what it says now. */
async function lookOnce(request: ReconcileRequest, ports: ReconcilePorts, signal: AbortSignal): Promise<Outcome | undefined> {
  const policy = findSame(request, ports);
  if (policy === undefined) return { kind: 'ignored', reason: 'PolicyGone', message: `${policyKey(request.policy)} was deleted` };
  if (!isUsable(policy.spec)) return { kind: 'stalled', ...policy.spec.problem };
  try {
    const seen = runningImages(policy.spec, ports.findWorkload);
    const candidate = await chooseCandidate(policy, policy.spec, request, ports, signal);
    if ('kind' in candidate) return candidate;
    const choice = { candidate, seen, generation: policy.generation };
    return await ports.mutex.run(policyKey(policy), () => bringTo(choice, request, ports, signal));
  } catch (error) {
    if (error instanceof PermanentError) return { kind: 'stalled', reason: error.reason, message: error.message };
    throw error;
  }
}

/** Why a policy does not want a tag, or undefined; costs no request. */
export function rejectHint(spec: PolicySpec, tag: string): Outcome | undefined {
  const why = spec.strategy.reject(tag);
  return why === undefined ? undefined : { kind: 'ignored', reason: 'NotSelected', message: why, tag };
}

/** The plan for a candidate with what the caches know; costs no request. */
export function planWith(
  policy: ImagePolicy,
  spec: PolicySpec,
  candidate: Candidate,
  ports: Pick<ReconcilePorts, 'findWorkload' | 'aliases' | 'supportedKinds' | 'crossNamespace'>,
): UpdatePlan {
  const hasApplied = policy.status.lastAppliedTag !== undefined;
  return guardPlan(planUpdate({ ...ports, spec, candidate, hasApplied }), { policy, crossNamespace: ports.crossNamespace });
}

async function chooseCandidate(
  policy: ImagePolicy,
  spec: PolicySpec,
  request: ReconcileRequest,
  ports: ReconcilePorts,
  signal: AbortSignal,
): Promise<Candidate | Outcome> {
  const hint = request.hint ?? { tag: await chooseTag(spec, ports.listTags, signal) };
  const rejection = rejectHint(spec, hint.tag);
  if (rejection !== undefined) return rejection;
  // A tag that would change nothing, whatever its digest, needs no question to the registry.
  const plan = planWith(policy, spec, { tag: hint.tag }, ports);
  if (spec.pin === 'Tag' && !hasChanges(plan)) return { tag: hint.tag };
  if (request.resolved?.tag === hint.tag) return request.resolved;
  const resolved = await resolveCandidate(spec.repository, hint, ports.headManifest, {
    announced: request.announced,
    signal,
    now: ports.now,
  });
  if (resolved !== undefined) return resolved;
  const message = `the registry holds no ${formatTag(spec.repository, hint.tag)}`;
  if (request.hint === undefined) throw new PermanentError('NoMatchingTag', message);
  return { kind: 'ignored', reason: 'TagNotFound', message, tag: hint.tag };
}

/** What was chosen, and with what in view. */
interface Choice {
  readonly candidate: Candidate;
  /** What the targets ran before the registry was asked. */
  readonly seen: string;
  readonly generation: number;
}

/** Plans and patches until the cluster agrees; what a patch found changed is read again and planned again. */
async function bringTo(
  choice: Choice,
  request: ReconcileRequest,
  ports: ReconcilePorts,
  signal: AbortSignal,
): Promise<Outcome | undefined> {
  let { candidate, seen } = choice;
  const fresh = new Map<string, Workload | undefined>();
  const applied: AppliedChange[] = [];
  const findWorkload = (ref: WorkloadRef) => (fresh.has(workloadKey(ref)) ? fresh.get(workloadKey(ref)) : ports.findWorkload(ref));
  for (let attempt = 0; attempt < maxPlans; attempt++) {
    const policy = findSame(request, ports);
    if (policy === undefined || policy.generation !== choice.generation || !isUsable(policy.spec)) return undefined;
    let plan = planWith(policy, policy.spec, candidate, { ...ports, findWorkload });
    const running = runningImages(policy.spec, findWorkload);
    if (hasChanges(plan) && policy.spec.pin === 'Digest' && running !== seen) {
      // Digests have no order: whoever changed what runs since we asked may have had the newer answer.
      candidate =
        (await resolveCandidate(policy.spec.repository, candidate, ports.headManifest, { announced: false, signal, now: ports.now })) ??
        candidate;
      seen = running;
      plan = planWith(policy, policy.spec, candidate, { ...ports, findWorkload });
    }
    if (!hasChanges(plan)) return outcomeOf(plan, applied);
    const conflicts = await applyPlan(plan, policy, { applied, fresh, ports, signal });
    if (conflicts === 0) return outcomeOf(plan, applied);
  }
  throw new Error(`the targets of ${policyKey(request.policy)} changed under ${maxPlans} plans in a row`);
}

interface Progress {
  readonly applied: AppliedChange[];
  readonly fresh: Map<string, Workload | undefined>;
  readonly ports: ReconcilePorts;
  readonly signal: AbortSignal;
}

async function applyPlan(plan: UpdatePlan, policy: ImagePolicy, { applied, fresh, ports, signal }: Progress): Promise<number> {
  let conflicts = 0;
  for (const target of plan.targets.filter(isChanging)) {
    const cause = `image-watcher: ImagePolicy ${policyKey(policy)} selected ${plan.candidate.tag}`;
    const result = await ports.patchImages(target.workload, target.changes, cause, signal);
    if (result.kind === 'patched') {
      fresh.set(workloadKey(target.target), result.workload);
      applied.push(...target.changes.map((change) => ({ ...change, workload: target.target })));
    } else {
      conflicts++;
      ports.onConflict();
      fresh.set(workloadKey(target.target), await ports.readWorkload(target.target, signal));
    }
  }
  return conflicts;
}

function runningImages({ targets }: PolicySpec, findWorkload: ReconcilePorts['findWorkload']): string {
  return JSON.stringify(targets.map((target) => findWorkload(target)?.containers.map((container) => container.image)));
}

function isChanging(target: TargetPlan): target is TargetPlan & { workload: Workload } {
  return target.workload !== undefined && target.changes.length > 0;
}

/** The policy that was meant; one of the same name that was created anew is another. */
function findSame(request: ReconcileRequest, ports: Pick<ReconcilePorts, 'findPolicy'>): ImagePolicy | undefined {
  const policy = ports.findPolicy(request.policy.namespace, request.policy.name);
  return policy?.uid === request.policy.uid ? policy : undefined;
}
