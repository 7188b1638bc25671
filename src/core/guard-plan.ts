import { consentAnnotation, type Consent } from './consent.ts';
import type { ImagePolicy } from './image-policy.ts';
import type { Candidate, TargetPlan, UpdatePlan } from './plan-update.ts';
import type { Reason } from './reasons.ts';
import { describeRejection, findRejection } from './rejections.ts';
import { formatWorkload, workloadKey, type WorkloadRef } from './workload.ts';

export interface GuardContext {
  readonly policy: Pick<ImagePolicy, 'namespace' | 'formerNamespace' | 'status'>;
  readonly crossNamespace: 'deny' | 'consent' | 'allow';
  /** By workload, as it was read a moment ago; undefined where nobody was asked yet, and nothing is about to be patched. */
  readonly consents?: ReadonlyMap<string, Consent>;
}

/** Why a target must not be changed, or undefined. */
type Guard = (target: TargetPlan, context: GuardContext, candidate: Candidate) => { reason: Reason; message: string } | undefined;

/** The list of guards, in the order in which a user would want to hear of them. */
const guards: readonly Guard[] = [crossNamespaceIsAllowed, ownersConsent, digestIsNotRejected];

/** Narrows a plan: what a guard refuses becomes the target's problem, with the guard's reason, and nothing of it is changed. */
export function guardPlan(plan: UpdatePlan, context: GuardContext): UpdatePlan {
  return { ...plan, targets: plan.targets.map((target) => guardTarget(target, context, plan.candidate)) };
}

/** Targets whose owners have to consent, by the configuration. */
export function needsConsent(target: WorkloadRef, { policy, crossNamespace }: GuardContext): boolean {
  return crossNamespace === 'consent' && target.namespace !== policy.namespace;
}

/** Whether the policy updated this namespace before there was such a rule: it goes on, with a warning. */
export function isTolerated(target: WorkloadRef, policy: Pick<ImagePolicy, 'formerNamespace'>): boolean {
  return target.namespace === policy.formerNamespace;
}

/** Targets that are changed although their owners did not consent. */
export function toleratedTargets(plan: UpdatePlan, context: GuardContext): WorkloadRef[] {
  const hasRefused = (target: WorkloadRef) => context.consents?.get(workloadKey(target))?.granted === false;
  return plan.targets
    .map(({ target }) => target)
    .filter((target) => needsConsent(target, context) && isTolerated(target, context.policy) && hasRefused(target));
}

function guardTarget(target: TargetPlan, context: GuardContext, candidate: Candidate): TargetPlan {
  if (target.changes.length === 0) return target;
  for (const guard of guards) {
    const problem = guard(target, context, candidate);
    if (problem !== undefined) return { ...target, changes: [], problem };
  }
  return target;
}

function crossNamespaceIsAllowed({ target }: TargetPlan, { policy, crossNamespace }: GuardContext): ReturnType<Guard> {
  if (target.namespace === policy.namespace || crossNamespace !== 'deny') return undefined;
  const message = `${formatWorkload(target)} is in another namespace than the policy, and the configuration says crossNamespace: deny`;
  return { reason: 'CrossNamespaceDenied', message };
}

function ownersConsent({ target }: TargetPlan, context: GuardContext): ReturnType<Guard> {
  const { policy, consents } = context;
  if (consents === undefined || !needsConsent(target, context) || isTolerated(target, policy)) return undefined;
  const consent = consents.get(workloadKey(target)) ?? { granted: false, why: 'nobody asked its owners' };
  if (consent.granted) return undefined;
  const hint = `let its owners annotate it with ${consentAnnotation}: "${policy.namespace}"`;
  return { reason: 'NoConsent', message: `${formatWorkload(target)} is in another namespace, and ${consent.why}: ${hint}` };
}

/** A digest that is not known yet is judged when the registry has told it. */
function digestIsNotRejected(_: TargetPlan, { policy }: GuardContext, { digest }: Candidate): ReturnType<Guard> {
  const rejection = findRejection(policy.status, digest);
  return rejection && { reason: 'RejectedDigest', message: describeRejection(rejection) };
}
