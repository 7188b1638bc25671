/**
 * Which workloads of other namespaces a policy may see and change. Without the consent of its owners nothing of a workload reaches a policy: every plan,
 * comparison and rollout of a policy is made of what `asSeenBy` shows.
 */
import type { ImagePolicy } from '../model/image-policy.ts';
import type { LabelSelector } from '../model/label-selector.ts';
import type { TargetProblem } from './plan-update.ts';
import type { WorkloadView } from '../model/resolve-target.ts';
import { formatWorkload, isSameWorkload, type KindRef, type Workload, type WorkloadRef } from '../model/workload.ts';

/** On a target or its Namespace: the namespaces whose policies may change it, "shop,ops", or "*" for all. */
export const consentAnnotation = 'operator.technomad.dev/allow-policies-from';

/** What the configuration says of targets in other namespaces. */
export type CrossNamespace = 'deny' | 'consent' | 'allow' | 'legacy';

/** What decides about targets in other namespaces. */
export interface ConsentRules {
  readonly crossNamespace: CrossNamespace;
  /** The annotation of consent of a Namespace as far as it is known: null where it has none, undefined where that is not known. */
  readonly namespaceConsent: (namespace: string) => string | null | undefined;
}

/** Whether the owners of a target let a policy of another namespace change it. `isLegacy`: nobody answered, and the configuration lets it pass. */
export type Consent = { readonly granted: true; readonly isLegacy?: true } | { readonly granted: false };

/** What the owners of a target said: the value of the annotation on the target, undefined where it has none; and that on its Namespace. */
export interface ConsentSources {
  readonly onTarget: string | undefined;
  readonly onNamespace: string | null | undefined;
}

/** Who asks for consent. */
export type Asker = Pick<ImagePolicy, 'namespace' | 'legacyTarget'>;

/** The target decides when it has the annotation, and only otherwise its Namespace. What is not known is no consent. */
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

/** The annotation with these namespaces besides those that it names; never fewer. */
export function addNamespaces(value: string | undefined, added: readonly string[]): string {
  return [...new Set([...namespacesIn(value ?? ''), ...added])].join(',');
}

/** Whether the owners of a target have a say, by the configuration. */
export function needsConsent(target: WorkloadRef, policy: Asker, crossNamespace: CrossNamespace): boolean {
  return target.namespace !== policy.namespace && (crossNamespace === 'consent' || crossNamespace === 'legacy');
}

/** Whether a policy may see a workload, and change it, by what is known now. */
export function consentTo(workload: Workload, policy: Asker, { crossNamespace, namespaceConsent }: ConsentRules): Consent {
  if (workload.namespace === policy.namespace || crossNamespace === 'allow') return { granted: true };
  if (crossNamespace === 'deny') return { granted: false };
  const { allowPoliciesFrom: onTarget, namespace } = workload;
  const onNamespace = onTarget === undefined ? namespaceConsent(namespace) : undefined;
  return evaluateConsent(policy, workload, { onTarget, onNamespace }, crossNamespace);
}

/** Whether a policy may see the workloads of another namespace that say nothing themselves. */
function isNamespaceOpen(namespace: string, policy: Asker, { crossNamespace, namespaceConsent }: ConsentRules): boolean {
  if (crossNamespace === 'allow' || crossNamespace === 'deny') return crossNamespace === 'allow';
  return allows(namespaceConsent(namespace), policy);
}

/** The same view, or ports, without the workloads of other namespaces whose owners have not consented. */
export function asSeenBy<V extends WorkloadView & ConsentRules>(policy: Asker, view: V): V {
  const isSeen = (workload: Workload) => consentTo(workload, policy, view).granted;
  return {
    ...view,
    findWorkload(ref: WorkloadRef) {
      const workload = view.findWorkload(ref);
      return workload !== undefined && isSeen(workload) ? workload : undefined;
    },
    listWorkloads(kind: KindRef, namespace: string, selector: LabelSelector) {
      if (namespace === policy.namespace) return view.listWorkloads(kind, namespace, selector);
      // What answers nothing costs nothing, however much of it there is.
      const isOpen = isNamespaceOpen(namespace, policy, view);
      const listed = isOpen ? view.listWorkloads(kind, namespace, selector) : view.listWorkloads(kind, namespace, selector, 'answering');
      return [...listed].filter(isSeen);
    },
  };
}

/**
 * All that is said of a target in another namespace of which a policy may know nothing: the same whether it exists or not, and however many workloads a
 * selector finds. Undefined where the target may be spoken of.
 */
export function unseenProblem(target: WorkloadRef, policy: Asker, crossNamespace: CrossNamespace): TargetProblem | undefined {
  if (target.namespace === policy.namespace || crossNamespace === 'allow') return undefined;
  const what = `${formatWorkload(target)} is in another namespace`;
  if (crossNamespace === 'deny')
    return { reason: 'CrossNamespaceDenied', message: `${what} than the policy, and the configuration says crossNamespace: deny` };
  const hint = `ask them to annotate it, or its Namespace, with ${consentAnnotation}: "${policy.namespace}"`;
  return { reason: 'NoConsent', message: `${what}, and either does not exist or its owners have not consented: ${hint}` };
}
