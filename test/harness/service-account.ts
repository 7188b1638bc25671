import { writeKubeconfig } from '../service/kube/fake-api-server.ts';
import type { ControlPlane } from './control-plane.ts';
import { waitFor } from './wait-for.ts';

/** A rule of RBAC. */
export interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly verbs: readonly string[];
}

/** What an account may do: everywhere, or (`namespace`) in one namespace. */
export interface Grant {
  readonly namespace?: string;
  readonly rules: readonly Rule[];
}

export interface Account {
  readonly name: string;
  readonly namespace: string;
}

const apiGroup = 'rbac.authorization.k8s.io';

/** A kubeconfig of a new service account that may do everywhere what the rules say, and nothing else. */
export function kubeconfigWithRules(cluster: ControlPlane, namespace: string, name: string, rules: readonly Rule[]): Promise<string> {
  return kubeconfigWithGrants(cluster, { name, namespace }, [{ rules }]);
}

/** A kubeconfig of a new service account that has the grants, and nothing else. */
export async function kubeconfigWithGrants(cluster: ControlPlane, account: Account, grants: readonly Grant[]): Promise<string> {
  await createAccount(cluster, account, grants);
  return kubeconfigOf(cluster, account);
}

/** A new service account that has the grants, as soon as the API server knows of them. */
export async function createAccount(cluster: ControlPlane, account: Account, grants: readonly Grant[]): Promise<void> {
  const { name, namespace } = account;
  await cluster.request('POST', `/api/v1/namespaces/${namespace}/serviceaccounts`, { metadata: { name } });
  await giveGrants(cluster, account, grants);
}

/** Gives an account what it had nothing of in these places, as soon as the API server knows of it. */
export async function giveGrants(cluster: ControlPlane, account: Account, grants: readonly Grant[]): Promise<void> {
  const { name, namespace } = account;
  for (const [index, { namespace: place, rules }] of grants.entries()) {
    const scope = `/apis/${apiGroup}/v1${place === undefined ? '' : `/namespaces/${place}`}`;
    const [kind, roles] = place === undefined ? ['ClusterRole', 'clusterrole'] : ['Role', 'role'];
    const metadata = { name: `${namespace}-${name}${index === 0 ? '' : `-${index}`}` };
    await cluster.request('POST', `${scope}/${roles}s`, { metadata, rules });
    await cluster.request('POST', `${scope}/${roles}bindings`, {
      metadata,
      roleRef: { apiGroup, kind, name: metadata.name },
      subjects: [{ kind: 'ServiceAccount', name, namespace }],
    });
  }
  await Promise.all(grants.map((grant) => untilGranted(cluster, account, grant)));
}

/** The API server learns of new bindings by a watch, as everybody does. */
async function untilGranted(cluster: ControlPlane, { name, namespace }: Account, { namespace: place, rules }: Grant): Promise<void> {
  const rule = rules.at(-1);
  if (rule === undefined) return;
  const { apiGroups, resources, resourceNames, verbs } = rule;
  const [resource, subresource] = resources[0]?.split('/') ?? [];
  const resourceAttributes = { namespace: place, group: apiGroups[0], resource, subresource, name: resourceNames?.[0], verb: verbs[0] };
  const spec = { user: `system:serviceaccount:${namespace}:${name}`, resourceAttributes };
  await waitFor(`${name} to have its rights`, async () => {
    const review = { apiVersion: 'authorization.k8s.io/v1', kind: 'SubjectAccessReview', spec };
    const { status } = await cluster.request<{ status: { allowed: boolean } }>(
      'POST',
      '/apis/authorization.k8s.io/v1/subjectaccessreviews',
      review,
    );
    return status.allowed;
  });
}

/** A kubeconfig with a token of a service account that exists. */
export async function kubeconfigOf(cluster: ControlPlane, account: Account): Promise<string> {
  const { server, caPem } = cluster;
  const token = await tokenOf(cluster, account);
  return writeKubeconfig(server, { token }, { 'certificate-authority-data': Buffer.from(caPem).toString('base64') });
}

/** A token of a service account that exists, good for an hour. */
export async function tokenOf({ request }: ControlPlane, { name, namespace }: Account): Promise<string> {
  const path = `/api/v1/namespaces/${namespace}/serviceaccounts/${name}/token`;
  const { status } = await request<{ status: { token: string } }>('POST', path, { spec: { expirationSeconds: 3_600 } });
  return status.token;
}
