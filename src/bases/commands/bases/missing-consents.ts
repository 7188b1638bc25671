/** The namespaces of workloads that a proposed policy would not see, because their owners have not consented. */
import { evaluateConsent, needsConsent, withGrants } from '../../../core/plan/consent.ts';
import type { Config } from '../../../service/config/settings.ts';
import type { KubeClient } from '../../../service/kube/client.ts';
import { isKubeError } from '../../../service/kube/kube-error.ts';
import { readNamespace } from '../../../service/kube/namespaces.ts';
import type { WorkloadOwner } from './list-images.ts';

export interface MissingConsents {
  /** The namespaces with workloads without consent, in order. */
  readonly namespaces: readonly string[];
  /** The number of these workloads. */
  readonly workloads: number;
}

/** Creates a function that finds the missing consents of workloads for policies of a namespace. Each Namespace is read once. */
export function createFindMissing(
  client: KubeClient,
  { consents, crossNamespace }: Pick<Config, 'consents' | 'crossNamespace'>,
  { namespace: from, signal }: { readonly namespace: string; readonly signal: AbortSignal },
): (owners: readonly WorkloadOwner[]) => Promise<MissingConsents> {
  const known = new Map<string, Promise<string | null>>();
  const readConsent = (namespace: string) => {
    const read =
      known.get(namespace) ?? readNamespace(client, namespace, signal).then((found) => found?.allowPoliciesFrom ?? null, ignoreForbidden);
    known.set(namespace, read);
    return read;
  };
  return async (owners) => {
    const missing: string[] = [];
    for (const { namespace, allowPoliciesFrom: onTarget } of owners) {
      const target = { kind: '', namespace, name: '' };
      if (namespace === from || crossNamespace === 'allow') continue;
      const onNamespace = withGrants(await readConsent(namespace), namespace, consents);
      const isGranted =
        needsConsent(target, { namespace: from }, crossNamespace) &&
        evaluateConsent({ namespace: from }, target, { onTarget, onNamespace }, crossNamespace).granted;
      if (!isGranted) missing.push(namespace);
    }
    return { namespaces: [...new Set(missing)].toSorted(), workloads: missing.length };
  };
}

/** The consent of a Namespace that the user may not read counts as missing. */
function ignoreForbidden(error: unknown): null {
  if (isKubeError(error, 403)) return null;
  throw error;
}
