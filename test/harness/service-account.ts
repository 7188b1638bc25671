import type { ControlPlane } from './control-plane.ts';
import { writeKubeconfig } from '../kube/fake-api-server.ts';

/** A kubeconfig of a new service account that may do what the rules say, and nothing else. */
export async function kubeconfigWithRules(cluster: ControlPlane, namespace: string, name: string, rules: object[]): Promise<string> {
  const metadata = { name, namespace };
  await cluster.request('POST', `/api/v1/namespaces/${namespace}/serviceaccounts`, { metadata });
  const role = `${namespace}-${name}`;
  await cluster.request('POST', '/apis/rbac.authorization.k8s.io/v1/clusterroles', { metadata: { name: role }, rules });
  await cluster.request('POST', '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', {
    metadata: { name: role },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role },
    subjects: [{ kind: 'ServiceAccount', name, namespace }],
  });
  const path = `/api/v1/namespaces/${namespace}/serviceaccounts/${name}/token`;
  const { status } = await cluster.request<{ status: { token: string } }>('POST', path, { spec: { expirationSeconds: 3_600 } });
  const authority = { 'certificate-authority-data': Buffer.from(cluster.caPem).toString('base64') };
  return writeKubeconfig(cluster.server, { token: status.token }, authority);
}
