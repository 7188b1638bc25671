import type { KubeKeys } from './kube-keys.ts';
import { flags } from './flags.ts';
import { kubeRequest } from './kube-request.ts';
import { type Server, startServer } from './server.ts';

/** Starts kube-apiserver; `watchList` says whether its etcd can serve streaming lists. */
export function startApiServer(
  command: string,
  { keys, etcdUrl, watchList, moreFlags }: { keys: KubeKeys; etcdUrl: string; watchList: boolean; moreFlags: readonly string[] },
): Promise<Server> {
  const { files } = keys;
  return startServer({
    name: 'kube-apiserver',
    command,
    portCount: 1,
    args: ([port]) => [
      ...flags({ 'etcd-servers': etcdUrl, 'bind-address': '127.0.0.1', 'advertise-address': '127.0.0.1', 'secure-port': port }),
      ...flags({ 'tls-cert-file': files.serverCertificate, 'tls-private-key-file': files.serverKey }),
      ...flags({ 'token-auth-file': files.tokens, 'authorization-mode': 'RBAC', 'disable-admission-plugins': 'ServiceAccount' }),
      ...flags({ 'service-account-issuer': 'https://kubernetes.default.svc', 'service-cluster-ip-range': '10.0.0.0/24' }),
      ...flags({ 'service-account-key-file': files.serviceAccountPublicKey, 'service-account-signing-key-file': files.serviceAccountKey }),
      // etcd before 3.5 reports no progress, without which streaming lists hang: clients then list and watch as they used to.
      ...flags({ 'feature-gates': watchList ? undefined : 'WatchList=false' }),
      ...moreFlags,
    ],
    isReady: async ([port]) => {
      // Its own certificate authority keeps another control plane on this port from being taken for this one.
      const request = kubeRequest({ server: `https://127.0.0.1:${port}`, ...keys });
      await request('GET', '/readyz');
      await request('GET', '/api/v1/namespaces/default');
      return true;
    },
  });
}

const controllers = [
  'deployment',
  'replicaset',
  'statefulset',
  'daemonset',
  'cronjob',
  'job',
  'garbage-collector',
  'namespace',
  'clusterrole-aggregation',
];

/** Starts kube-controller-manager with the controllers that roll workloads out and clean up. */
export function startControllerManager(
  command: string,
  { keys, kubeconfigPath }: { keys: KubeKeys; kubeconfigPath: string },
): Promise<Server> {
  const { files } = keys;
  return startServer({
    name: 'kube-controller-manager',
    command,
    portCount: 1,
    args: ([port]) => [
      '--leader-elect=false',
      ...flags({ kubeconfig: kubeconfigPath, controllers: controllers.map((name) => `${name}-controller`).join(',') }),
      ...flags({ 'bind-address': '127.0.0.1', 'secure-port': port, 'kube-api-qps': 500, 'kube-api-burst': 1_000 }),
      ...flags({ 'tls-cert-file': files.serverCertificate, 'tls-private-key-file': files.serverKey }),
    ],
    isReady: async ([port]) => (await kubeRequest({ server: `https://127.0.0.1:${port}`, ...keys })('GET', '/healthz')) === 'ok',
  });
}
