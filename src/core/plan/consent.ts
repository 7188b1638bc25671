/**
 * Decides which workloads of other namespaces a policy may see and change. Without the consent of its owners, a policy sees nothing of a workload: every plan,
 * comparison and rollout of a policy uses only what `asSeenBy` returns.
 */
import { consentAnnotation } from '../model/consent-annotation.ts';
import type { ImagePolicy } from '../model/image-policy.ts';
import type { LabelSelector } from '../model/label-selector.ts';
import { matchesText } from '../model/repository-pattern.ts';
import type { TargetProblem } from './plan-update.ts';
import type { WorkloadView } from '../model/resolve-target.ts';
import { formatWorkload, isSameWorkload, type KindRef, type Workload, type WorkloadRef } from '../model/workload.ts';

/** The maximum length of the annotation. A longer one refuses all: it is read for each workload that a policy selects, and could have 256 KiB. */
export const maxConsent = 16_384;

/** How the configuration treats targets in other namespaces. */
export type CrossNamespace = 'deny' | 'consent' | 'allow' | 'legacy';

/** The rules for policies with targets in other namespaces. */
export interface ConsentRules {
  readonly crossNamespace: CrossNamespace;
  /** The consent annotation of a Namespace; null if it has none, undefined if the Namespace is not known. */
  readonly namespaceConsent: (namespace: string) => string | null | undefined;
}

/** Whether the owners of a target permit a policy of another namespace to change it. `isLegacy`: they have not answered, and the configuration permits it. */
export type Consent = { readonly granted: true; readonly isLegacy?: true } | { readonly granted: false };

/** The consent annotations of a target and of its Namespace. That of the target is undefined if it has none. */
export interface ConsentSources {
  readonly onTarget: string | undefined;
  readonly onNamespace: string | null | undefined;
}

/** The policy for which consent is evaluated. */
export type Asker = Pick<ImagePolicy, 'namespace' | 'legacyTarget' | 'parent'>;

/** Evaluates consent. The annotation of the target takes precedence over that of its Namespace. An unknown annotation is not consent. */
export function evaluateConsent(
  policy: Asker,
  target: WorkloadRef,
  { onTarget, onNamespace }: ConsentSources,
  crossNamespace: CrossNamespace,
): Consent {
  const answer = onTarget === undefined ? onNamespace : boundAnswer(onTarget);
  if (answer === null) {
    const isLegacy = crossNamespace === 'legacy' && policy.legacyTarget !== undefined && isSameWorkload(policy.legacyTarget, target);
    return isLegacy ? { granted: true, isLegacy } : { granted: false };
  }
  return { granted: allows(answer, policy) };
}

function allows(answer: string | null | undefined, { namespace }: Asker): boolean {
  // The list is made only of a text that may contain one of the two.
  if (typeof answer !== 'string' || !(answer.includes('*') || answer.includes(namespace))) return false;
  return answer.split(',').some((name) => ['*', namespace].includes(name.trim()));
}

function boundAnswer(answer: string): string {
  return answer.length > maxConsent ? '' : answer;
}

/** What the operator has decided for a whole platform: policies of one namespace may act in others, whose owners need not be asked. */
export interface ConsentGrant {
  /** The namespace whose policies have the consent. */
  readonly policiesFrom: string;
  /** Patterns of namespaces, in which `*` stands for any characters. */
  readonly namespaces: readonly string[];
}

/** The consent of a Namespace with what the operator grants there, as a value of the annotation. A refusal of its owners stands, and an unknown Namespace stays unknown. */
export function withGrants<C extends string | null | undefined>(
  consent: C,
  namespace: string,
  grants: readonly ConsentGrant[],
): C | string {
  if (consent === undefined) return consent;
  const granted = grants.filter((grant) => grant.namespaces.some((pattern) => matchesText(pattern, namespace)));
  const sources = granted.map(({ policiesFrom }) => policiesFrom);
  if (consent === null) return sources.length === 0 ? consent : addNamespaces(undefined, sources);
  const answer = boundAnswer(consent);
  return sources.length === 0 || !letsSomebody(answer) ? answer : addNamespaces(answer, sources);
}

/** Whether a consent annotation names namespaces, instead of refusing all. */
export function letsSomebody(value: string): boolean {
  return namespacesIn(value).some((name) => name !== 'nobody' && name !== 'none');
}

/** The namespaces in a value of the consent annotation. */
export function namespacesIn(value: string): string[] {
  return value
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
}

/** Adds namespaces to a value of the consent annotation. None is removed. */
export function addNamespaces(value: string | undefined, added: readonly string[]): string {
  return [...new Set([...namespacesIn(value ?? ''), ...added])].join(',');
}

/** Whether the configuration requires the consent of the owners of a target. */
export function needsConsent(target: WorkloadRef, policy: Asker, crossNamespace: CrossNamespace): boolean {
  return target.namespace !== policy.namespace && (crossNamespace === 'consent' || crossNamespace === 'legacy');
}

/** Whether a policy may see and change a workload, according to the current cache. */
export function consentTo(workload: Workload, policy: Asker, { crossNamespace, namespaceConsent }: ConsentRules): Consent {
  if (workload.namespace === policy.namespace || crossNamespace === 'allow') return { granted: true };
  if (crossNamespace === 'deny') return { granted: false };
  const { allowPoliciesFrom: onTarget, namespace } = workload;
  const onNamespace = onTarget === undefined ? namespaceConsent(namespace) : undefined;
  return evaluateConsent(policy, workload, { onTarget, onNamespace }, crossNamespace);
}

/** Whether a policy may see and change a workload, or its Namespace is not known yet. What was begun does not end because a Namespace is not known. */
export function mayHaveConsent(workload: Workload, policy: Asker, rules: ConsentRules): boolean {
  const { namespace, allowPoliciesFrom } = workload;
  const isUnknown = allowPoliciesFrom === undefined && rules.namespaceConsent(namespace) === undefined;
  return consentTo(workload, policy, rules).granted || (isUnknown && needsConsent(workload, policy, rules.crossNamespace));
}

/** Whether a policy may see those workloads of another namespace that have no annotation of their own. */
export function isNamespaceOpen(namespace: string, policy: Asker, { crossNamespace, namespaceConsent }: ConsentRules): boolean {
  if (crossNamespace === 'allow' || crossNamespace === 'deny') return crossNamespace === 'allow';
  return allows(namespaceConsent(namespace), policy);
}

/** Proof that a view shows nothing that its policy may not see: only `asSeenBy` makes one, once for each attempt, check or report, and what plans or compares asks for it. */
export interface Seen {
  readonly seenBy: Asker;
}

/**
 * A view, or ports, without the workloads of other namespaces whose owners have not consented. The child of a BaseImagePolicy sees only the workload for
 * which it was created. A workload that was created again under its name has to wait for its turn.
 */
export function asSeenBy<V extends WorkloadView & ConsentRules>(policy: Asker, view: V): V & Seen {
  const { workload: onlyUid } = policy.parent ?? {};
  const isSeen = (workload: Workload) => (onlyUid === undefined || workload.uid === onlyUid) && consentTo(workload, policy, view).granted;
  return {
    ...view,
    seenBy: policy,
    findWorkload(ref: WorkloadRef) {
      const workload = view.findWorkload(ref);
      return workload !== undefined && isSeen(workload) ? workload : undefined;
    },
    listWorkloads(kind: KindRef, namespace: string, selector: LabelSelector) {
      if (namespace === policy.namespace) return view.listWorkloads(kind, namespace, selector);
      // A namespace without any consent is skipped at no cost, however many workloads it has.
      const isOpen = isNamespaceOpen(namespace, policy, view);
      const listed = isOpen ? view.listWorkloads(kind, namespace, selector) : view.listWorkloads(kind, namespace, selector, 'annotated');
      return [...listed].filter(isSeen);
    },
  };
}

/**
 * The only message about a target in another namespace that a policy must not see. It is the same whether the target exists or not, and however many workloads
 * a selector matches. Undefined if the policy may see the target.
 */
export function unseenProblem(target: WorkloadRef, policy: Asker, crossNamespace: CrossNamespace): TargetProblem | undefined {
  if (target.namespace === policy.namespace || crossNamespace === 'allow') return undefined;
  const what = `${formatWorkload(target)} is in another namespace`;
  if (crossNamespace === 'deny')
    return { reason: 'CrossNamespaceDenied', message: `${what} than the policy, and the configuration says crossNamespace: deny` };
  const hint = `ask them to annotate it, or its Namespace, with ${consentAnnotation}: "${policy.namespace}"`;
  return { reason: 'NoConsent', message: `${what}, and either does not exist or its owners have not consented: ${hint}` };
}
