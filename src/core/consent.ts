/** On a target or its Namespace: the namespaces whose policies may change it, "shop,ops", or "*" for all. */
export const consentAnnotation = 'operator.technomad.dev/allow-policies-from';

/** Whether the owners of a target let policies of another namespace change it. */
export type Consent = { readonly granted: true } | { readonly granted: false; readonly why: string };

/** What the owners of a target said: the value of the annotation on the target, or else on its Namespace; undefined where there is none. */
export interface ConsentSources {
  readonly onTarget: string | undefined;
  readonly onNamespace: string | undefined;
}

/** The target decides when it has the annotation, and only otherwise its Namespace. */
export function judgeConsent(policyNamespace: string, { onTarget, onNamespace }: ConsentSources): Consent {
  const value = onTarget ?? onNamespace;
  if (value === undefined) return { granted: false, why: `neither it nor its Namespace has the annotation ${consentAnnotation}` };
  const allowed = value.split(',').map((name) => name.trim());
  if (allowed.includes('*') || allowed.includes(policyNamespace)) return { granted: true };
  const where = onTarget === undefined ? 'its Namespace' : 'it';
  return { granted: false, why: `${where} has the annotation ${consentAnnotation} without "${policyNamespace}"` };
}
