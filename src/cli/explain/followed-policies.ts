/** Reads the policies that a policy follows, and the consents of their Namespaces, with the caller's own rights. */
import type { ImagePolicy, PolicySpec } from '../../core/model/image-policy.ts';
import { policyKey } from '../../core/model/image-policy.ts';
import { needsConsent, withGrants, type ConsentGrant, type CrossNamespace } from '../../core/plan/consent.ts';
import type { FollowView } from '../../core/plan/proven.ts';
import type { KubeClient } from '../../service/kube/client.ts';
import { isKubeError } from '../../service/kube/kube-error.ts';
import { objectPath, readObject } from '../../service/kube/objects.ts';
import { policyResource } from '../../service/resources/group.ts';
import { readPolicy } from '../../service/resources/read-policy.ts';
import type { ReadContext } from '../../service/resources/read-spec.ts';

/** The context with which policies are read, and what the configuration says of other namespaces. */
interface Rules extends ReadContext {
  readonly crossNamespace: CrossNamespace;
  readonly consents: readonly ConsentGrant[];
}

/** The followed policies, and the consents of their Namespaces. Where the caller may not read one, nothing is known of any. */
export async function readFollowed(
  client: KubeClient,
  policy: ImagePolicy,
  { after }: Pick<PolicySpec, 'after'>,
  { crossNamespace, consents, ...context }: Rules,
): Promise<Pick<FollowView, 'findPolicy'> & { readonly namespaces: ReadonlyMap<string, string | null> }> {
  const { readNamespaceConsent } = await import('../../service/kube/namespaces.ts');
  const found = new Map<string, ImagePolicy>();
  const namespaces = new Map<string, string | null>();
  for (const { namespace, name } of after?.policies ?? []) {
    try {
      const raw = await readObject<unknown>(client, objectPath(policyResource, namespace, name));
      if (raw !== undefined) found.set(policyKey({ namespace, name }), readPolicy(raw, context));
      if (!needsConsent({ kind: 'ImagePolicy', namespace, name }, policy, crossNamespace) || namespaces.has(namespace)) continue;
      const consent = (await readNamespaceConsent(client, namespace))?.allowPoliciesFrom ?? null;
      namespaces.set(namespace, withGrants(consent, namespace, consents));
    } catch (error) {
      if (isKubeError(error, 403)) return { namespaces };
      throw error;
    }
  }
  return { namespaces, findPolicy: (namespace, name) => found.get(policyKey({ namespace, name })) };
}
