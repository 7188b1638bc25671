import { waitFor } from '../../harness/wait-for.ts';
import type { ControlPlane } from '../../harness/control-plane.ts';

/** Defines a kind of another project, of any shape, and waits until the API server serves it. */
export async function installKind(cluster: ControlPlane, apiVersion: string, kind: string, plural: string): Promise<void> {
  const [group = '', version = ''] = apiVersion.split('/');
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
  await cluster.request('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { kind, plural, singular: kind.toLowerCase(), listKind: `${kind}List` },
      versions: [{ name: version, served: true, storage: true, schema }],
    },
  });
  await waitFor(`${kind} to be served`, async () => {
    const answer = await cluster.request<{ resources?: { kind: string }[] }>('GET', `/apis/${apiVersion}`).catch(() => undefined);
    return answer?.resources?.some((resource) => resource.kind === kind);
  });
}
