/** What `npm run kind` puts into a cluster: as data, which kubectl and Helm get on their standard input. */
import { createHash } from 'node:crypto';

/** Whatever it creates has this label, and it deletes nothing else. */
export const mark = { key: 'created-by', value: 'npm-run-kind' } as const;
const labels = { [mark.key]: mark.value };

export const names = {
  /** Of the cluster, unless it is an existing one. */
  cluster: 'image-watcher',
  service: 'image-watcher',
  registry: 'image-watcher-registry',
  /** That of the example in README.md. */
  example: 'shop',
} as const;
export const namespaces = [names.service, names.registry, names.example] as const;

const nodePort = 30_500;
/** Where the nodes pull from: containerd takes localhost for a registry without TLS, and every node forwards the port. */
export const pullHost = `localhost:${nodePort}`;
/** The same registry for pods: image-watcher asks here, and images are pushed here. */
export const pushHost = `registry.${names.registry}.svc.cluster.local:5000`;

/** The configuration of kind: one node, which carries the mark. */
export const kindCluster = {
  kind: 'Cluster',
  apiVersion: 'kind.x-k8s.io/v1alpha4',
  nodes: [{ role: 'control-plane', labels }],
};

/** The namespaces, with the mark. */
export const namespaceObjects = namespaces.map((name) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } }));

/** The values of the chart: the registry announces pushes, and is the same one under two names. */
export function chartValues(image: string): object {
  const [, repository = '', tag = ''] = /^(.*):([^:/]+)$/.exec(image) ?? [];
  return {
    image: { repository, tag },
    config: {
      receivers: [{ name: 'registry', provider: 'distribution', secrets: [{ env: 'REGISTRY_SECRET' }] }],
      registries: [{ host: pushHost, aliases: [pullHost], insecure: true }],
    },
    envFrom: [{ secretRef: { name: 'receivers' } }],
  };
}

/** The secret that the registry proves itself with. */
export function receiverSecret(secret: string): object {
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'receivers', namespace: names.service },
    stringData: { REGISTRY_SECRET: secret },
  };
}

/** The configuration of the registry: each push is announced to the receiver. */
export function registryConfig(secret: string): object {
  return {
    version: '0.1',
    storage: { filesystem: { rootdirectory: '/var/lib/registry' } },
    http: { addr: ':5000' },
    notifications: {
      endpoints: [
        {
          name: 'image-watcher',
          url: `http://${names.service}.${names.service}.svc.cluster.local/webhooks/registry`,
          headers: { Authorization: [`Bearer ${secret}`] },
          timeout: '1s',
          threshold: 5,
          backoff: '1s',
          ignore: { actions: ['pull', 'mount', 'delete'], mediatypes: ['application/octet-stream'] },
        },
      ],
    },
  };
}

/** A registry whose content is gone with its pod. */
export function registryObjects(secret: string): readonly object[] {
  const metadata = { name: 'registry', namespace: names.registry };
  const matchLabels = { app: 'registry' };
  const config = JSON.stringify(registryConfig(secret), undefined, 2);
  const checksum = createHash('sha256').update(config).digest('hex').slice(0, 16);
  const container = {
    name: 'registry',
    image: 'docker.io/library/registry:2',
    ports: [{ containerPort: 5000 }],
    readinessProbe: { httpGet: { path: '/v2/', port: 5000 } },
    // The image reads its configuration there.
    volumeMounts: [{ name: 'config', mountPath: '/etc/docker/registry', readOnly: true }],
  };
  return [
    { apiVersion: 'v1', kind: 'Secret', metadata, stringData: { 'config.yml': config } },
    {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata,
      spec: {
        selector: { matchLabels },
        template: {
          metadata: { labels: matchLabels, annotations: { 'checksum/config': checksum } },
          spec: { containers: [container], volumes: [{ name: 'config', secret: { secretName: 'registry' } }] },
        },
      },
    },
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata,
      spec: { type: 'NodePort', selector: matchLabels, ports: [{ port: 5000, targetPort: 5000, nodePort }] },
    },
  ];
}

/** The workload of the example. */
export function exampleWorkload(): object {
  const matchLabels = { app: 'web' };
  const containers = [{ name: 'web', image: `${pullHost}/shop/web:1.0.0` }];
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web', namespace: names.example },
    spec: { selector: { matchLabels }, template: { metadata: { labels: matchLabels }, spec: { containers } } },
  };
}

/** The policy that README.md begins with, for this registry. */
export function examplePolicy(readme: string): string {
  const [, policy] = /^```yaml\n([^`]*^kind: ImagePolicy$[^`]*)^```/m.exec(readme) ?? [];
  if (policy === undefined) throw new Error('README.md does not begin with a policy');
  return policy.replace('harbor.example.com', pullHost);
}
