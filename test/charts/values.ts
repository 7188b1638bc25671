/** Values that a user may give, by what they are about. */
import type { Values } from '../harness/helm.ts';

const receivers = [{ name: 'harbor', provider: 'harbor', secrets: [{ env: 'HARBOR_SECRET' }] }];
const config = { receivers };
const envFrom = [{ secretRef: { name: 'receivers' } }];
const namespaced = {
  permissions: { clusterWide: false },
  config: { receivers, watch: { namespaces: ['shop', 'ops'] } },
  definition: { manage: false },
};

/** Each of them has to be something that a cluster takes. */
export const valueSets: Readonly<Record<string, Values>> = {
  'nothing at all': {},
  'a Deployment for each role': { config, envFrom },
  'one Deployment for everything': { mode: 'together', config, envFrom },
  'ConfigMaps in two namespaces': {
    config: {
      receivers,
      customTargets: [
        ...['bundles', 'images'].map((name) => ({
          apiVersion: 'v1',
          kind: 'ConfigMap',
          namespace: 'shop',
          name,
          fields: [{ path: 'data.image', image: 'quay.io/a/b' }],
        })),
        { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'ops', name: 'images', fields: [{ path: 'data.tag', image: 'quay.io/a/b' }] },
        { apiVersion: 'example.com/v1', kind: 'App', fields: ['spec.image.tag'] },
      ],
    },
    envFrom,
  },
  'everything on': {
    config,
    envFrom,
    env: [{ name: 'NODE_EXTRA_CA_CERTS', value: '/etc/redis-ca/ca.crt' }],
    extraVolumes: [{ name: 'redis-ca', configMap: { name: 'redis-ca' } }],
    extraVolumeMounts: [{ name: 'redis-ca', mountPath: '/etc/redis-ca' }],
    recordVolume: { persistentVolumeClaim: { claimName: 'record' } },
    recordEnvFrom: [{ secretRef: { name: 'record-key' } }],
    image: { digest: `sha256:${'a'.repeat(64)}` },
    imagePullSecrets: [{ name: 'pull' }],
    podAnnotations: { 'example.com/a': 'b' },
    podLabels: { team: 'platform' },
    nodeSelector: { 'kubernetes.io/os': 'linux' },
    tolerations: [{ operator: 'Exists' }],
    affinity: {
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchExpressions: [{ key: 'a', operator: 'Exists' }] }] },
      },
    },
    topologySpreadConstraints: [],
    serviceAccount: { annotations: { 'eks.amazonaws.com/role-arn': 'arn:aws:iam::1:role/x' } },
    autoscaling: { receive: { enabled: true }, work: { enabled: true } },
    redis: { embedded: { password: { secretName: 'redis', key: 'its-password' }, storage: { storageClassName: 'fast' } } },
    ingress: {
      enabled: true,
      host: 'hooks.example.com',
      className: 'nginx',
      tlsSecretName: 'hooks',
      annotations: { 'example.com/a': 'b' },
    },
    httpRoute: { enabled: true, parentRefs: [{ name: 'public' }], hostnames: ['hooks.example.com'] },
    networkPolicy: {
      operationsFrom: [{ namespaceSelector: { matchLabels: { name: 'monitoring' } } }],
      receiveEgress: [{ to: [{ ipBlock: { cidr: '203.0.113.0/24' } }] }],
    },
    permissions: {
      rebase: true,
      vulnerabilityReports: true,
      extraRules: [{ apiGroups: ['argoproj.io'], resources: ['rollouts'], verbs: ['get', 'list', 'watch', 'patch'] }],
    },
    conversion: { certificates: 'cert-manager', issuerRef: { kind: 'ClusterIssuer', name: 'internal' } },
    serviceMonitor: { enabled: true, labels: { release: 'prometheus' } },
    prometheusRule: { enabled: true },
    dashboard: { enabled: true },
    web: { enabled: true },
  },
  'the dashboard on its own': {
    web: { enabled: true, replicas: 2 },
    config: {
      operations: { actions: true },
      dashboard: { publicUrl: 'https://images.example.com', sessionSecret: { env: 'HARBOR_SECRET' } },
    },
  },
  'checks that run Jobs': { config: { receivers, checks: { jobs: true } }, envFrom },
  'checks that make AnalysisRuns': { config: { receivers, checks: { analysis: true } }, envFrom },
  'a ConfigMap beside the chart': { configFrom: 'settings', envFrom: [{ secretRef: { name: 'receivers', optional: true } }] },
  'a Redis of your own': { redis: { embedded: { enabled: false }, external: { secretName: 'redis' } } },
  'a Redis of your own, without a secret': {
    redis: { embedded: { enabled: false } },
    config: { redis: { url: 'redis://redis.example.com:6379/0' } },
  },
  'a Redis with Sentinels': {
    redis: { embedded: { enabled: false } },
    config: { redis: { url: 'redis://main', sentinels: ['sentinel-0.example.com', 'sentinel-1.example.com'], minReplicas: 1 } },
    env: [{ name: 'REDIS_SENTINEL_PASSWORD', valueFrom: { secretKeyRef: { name: 'redis', key: 'sentinel' } } }],
  },
  'a Redis Cluster': {
    redis: { embedded: { enabled: false } },
    config: { redis: { url: 'rediss://redis.example.com:6379', cluster: true } },
  },
  'workers that KEDA scales': { autoscaling: { work: { enabled: true } } },
  'workers that KEDA scales by a Redis of your own': {
    redis: { embedded: { enabled: false }, external: { secretName: 'redis' } },
    autoscaling: { work: { enabled: true, redis: { address: 'redis.example.com:6379', enableTLS: 'true' } } },
  },
  'a forward proxy': { proxy: { https: 'http://proxy.example.com:3128', noProxy: ['.example.com', '10.0.0.0/8'] } },
  'a forward proxy with a password': { config, envFrom, proxy: { secretName: 'proxy' } },
  'no Secrets': { permissions: { secrets: 'none' } },
  'Secrets without watching them': { permissions: { secrets: 'read' } },
  'some namespaces, without a ClusterRole': { ...namespaced, conversion: { enabled: false } },
  'some namespaces, with certificates of cert-manager': {
    ...namespaced,
    conversion: { certificates: 'cert-manager', issuerRef: { name: 'internal' } },
  },
  'some namespaces, one Deployment for everything': { ...namespaced, mode: 'together', conversion: { enabled: false } },
  'no extras': {
    networkPolicy: { enabled: false },
    permissions: { aggregate: false },
    admissionPolicy: { enabled: false },
    podDisruptionBudget: null,
    definition: { manage: false },
  },
  'another name': { nameOverride: 'updates' },
};

/** What does not go together, and what Helm says then. */
export const wrongValues: readonly [about: string, values: Values, message: RegExp][] = [
  ['a value that there is not', { replicas: 3 }, /additional properties 'replicas' not allowed/],
  ['a mode that there is not', { mode: 'both' }, /\/mode/],
  ['no ClusterRole, and no namespaces', { permissions: { clusterWide: false } }, /needs config\.watch\.namespaces/],
  [
    'namespaces by name and by label at once',
    { config: { watch: { namespaces: ['shop'], namespaceSelector: { matchLabels: { 'image-watcher': 'yes' } } } } },
    /config\.watch\.namespaceSelector contradicts config\.watch\.namespaces.*remove one of them/,
  ],
  ['no ClusterRole, and a definition', { ...namespaced, definition: { manage: true } }, /say definition\.manage: false/],
  ['no ClusterRole, and an own authority', namespaced, /conversion\.certificates: cert-manager/],
  ['a definition without its webhook', { conversion: { enabled: false } }, /needs the conversion webhook/],
  ['cert-manager without an issuer', { conversion: { certificates: 'cert-manager' } }, /conversion\.issuerRef\.name/],
  ['scaling of what is together', { mode: 'together', autoscaling: { receive: { enabled: true } } }, /mode: separate/],
  ['no Redis', { redis: { embedded: { enabled: false } } }, /redis\.external\.secretName/],
  [
    'KEDA without a Redis',
    {
      redis: { embedded: { enabled: false }, external: { secretName: 'redis' } },
      autoscaling: { work: { enabled: true } },
    },
    /how KEDA reaches your Redis/,
  ],
  ['several dashboards without a common secret', { web: { enabled: true, replicas: 2 } }, /config\.dashboard\.sessionSecret/],
  ['an Ingress for no host', { ingress: { enabled: true } }, /ingress\.host/],
  ['a route without a Gateway', { httpRoute: { enabled: true } }, /httpRoute\.parentRefs/],
];
