/**
 * Decides which workloads of other namespaces a policy may see and change. Without the consent of its owners, a policy sees nothing of a workload: every plan,
 * comparison and rollout of a policy uses only what `asSeenBy` returns.
 */
import type { ImagePolicy } from '../model/image-policy.ts';
import type { LabelSelector } from '../model/label-selector.ts';
import type { TargetProblem } from './plan-update.ts';
import type { WorkloadView } from '../model/resolve-target.ts';
import { formatWorkload, isSameWorkload, type KindRef, type Workload, type WorkloadRef } from '../model/workload.ts';

/** On a target or its Namespace: the namespaces whose policies may change it, "shop,ops", or "*" for all. */
export const consentAnnotation = 'operator.technomad.dev/allow-policies-from';

/** How the configuration treats targets in other namespaces. */
export type CrossNamespace = 'deny' | 'consent' | 'allow' | 'legacy';

/** What decides whether a policy may use targets in other namespaces. */
export interface ConsentRules {
  readonly crossNamespace: CrossNamespace;
  /** The consent annotation of a Namespace: null where it has none, undefined where the Namespace is not known. */
  readonly namespaceConsent: (namespace: string) => string | null | undefined;
}

/** Whether the owners of a target let a policy of another namespace change it. `isLegacy`: they have not answered, and the configuration allows it. */
export type Consent = { readonly granted: true; readonly isLegacy?: true } | { readonly granted: false };

/** The consent annotations of a target and of its Namespace; that of the target is undefined where it has none. */
export interface ConsentSources {
  readonly onTarget: string | undefined;
  readonly onNamespace: string | null | undefined;
}

/** The policy that asks for consent. */
export type Asker = Pick<ImagePolicy, 'namespace' | 'legacyTarget' | 'parent'>;

/** The annotation of the target takes precedence over that of its Namespace. What is not known is not consent. */
export function evaluateConsent(
  policy: Asker,
  target: WorkloadRef,
  { onTarget, onNamespace }: ConsentSources,
  crossNamespace: CrossNamespace,
): Consent {
  const answer = onTarget ?? onNamespace;
  if (answer === null) {
    const isLegacy = crossNamespace === 'legacy' && policy.legacyTarget !== undefined && isSameWorkload(policy.legacyTarget, target);
    return isLegacy ? { granted: true, isLegacy } : { granted: false };
  }
  return { granted: allows(answer, policy) };
}

function allows(answer: string | null | undefined, { namespace }: Asker): boolean {
  const allowed = namespacesIn(answer ?? '');
  return allowed.includes('*') || allowed.includes(namespace);
}

/** The namespaces that a value of the annotation names. */
export function namespacesIn(value: string): string[] {
  return value
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
}

/** Adds namespaces to a value of the annotation; never removes any. */
export function addNamespaces(value: string | undefined, added: readonly string[]): string {
  return [...new Set([...namespacesIn(value ?? ''), ...added])].join(',');
}

/** Whether the configuration requires the consent of the owners. */
export function needsConsent(target: WorkloadRef, policy: Asker, crossNamespace: CrossNamespace): boolean {
  return target.namespace !== policy.namespace && (crossNamespace === 'consent' || crossNamespace === 'legacy');
}

/** Whether a policy may see and change a workload, by what is known now. */
export function consentTo(workload: Workload, policy: Asker, { crossNamespace, namespaceConsent }: ConsentRules): Consent {
  if (workload.namespace === policy.namespace || crossNamespace === 'allow') return { granted: true };
  if (crossNamespace === 'deny') return { granted: false };
  const { allowPoliciesFrom: onTarget, namespace } = workload;
  const onNamespace = onTarget === undefined ? namespaceConsent(namespace) : undefined;
  return evaluateConsent(policy, workload, { onTarget, onNamespace }, crossNamespace);
}

/** The same, but a Namespace that is not known yet is no answer: what was begun does not end because of it. */
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

/**
 * Returns the same view, or ports, without the workloads of other namespaces whose owners have not consented. The child of a BaseImagePolicy sees only the very workload
 * that it was created for: the turn of one that was created anew under its name has not come yet.
 */
export function asSeenBy<V extends WorkloadView & ConsentRules>(policy: Asker, view: V): V {
  const { workload: onlyUid } = policy.parent ?? {};
  const isSeen = (workload: Workload) => (onlyUid === undefined || workload.uid === onlyUid) && consentTo(workload, policy, view).granted;
  return {
    ...view,
    findWorkload(ref: WorkloadRef) {
      const workload = view.findWorkload(ref);
      return workload !== undefined && isSeen(workload) ? workload : undefined;
    },
    listWorkloads(kind: KindRef, namespace: string, selector: LabelSelector) {
      if (namespace === policy.namespace) return view.listWorkloads(kind, namespace, selector);
      // Skips a namespace without any consent at no cost, however many workloads it has.
      const isOpen = isNamespaceOpen(namespace, policy, view);
      const listed = isOpen ? view.listWorkloads(kind, namespace, selector) : view.listWorkloads(kind, namespace, selector, 'annotated');
      return [...listed].filter(isSeen);
    },
  };
}

/**
 * The only message about a target in another namespace that a policy must not see: the same whether it exists or not, and however many workloads a
 * selector matches. Undefined if the policy may see the target.
 */
export function unseenProblem(target: WorkloadRef, policy: Asker, crossNamespace: CrossNamespace): TargetProblem | undefined {
  if (target.namespace === policy.namespace || crossNamespace === 'allow') return undefined;
  const what = `${formatWorkload(target)} is in another namespace`;
  if (crossNamespace === 'deny')
    return { reason: 'CrossNamespaceDenied', message: `${what} than the policy, and the configuration says crossNamespace: deny` };
  const hint = `ask them to annotate it, or its Namespace, with ${consentAnnotation}: "${policy.namespace}"`;
  return { reason: 'NoConsent', message: `${what}, and either does not exist or its owners have not consented: ${hint}` };
}
