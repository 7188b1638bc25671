/** Forty services as clusters have them: a shop, its data stores, its monitoring, and what other tools manage. Tags are those that such images have in public registries, shortened. */

/** A workload: its images by container, as `REPOSITORY:TAG` of the test's registry, and what init makes of each. */
export interface Service {
  readonly kind: 'Deployment' | 'StatefulSet' | 'DaemonSet' | 'CronJob';
  readonly name: string;
  readonly images: Readonly<Record<string, string>>;
  readonly initImages?: Readonly<Record<string, string>>;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly owner?: { readonly apiVersion: string; readonly kind: string; readonly name: string };
}

const deployment = (name: string, image: string, more: Partial<Service> = {}): Service => ({
  kind: 'Deployment',
  name,
  images: { app: image },
  ...more,
});
const statefulSet = (name: string, image: string): Service => ({ kind: 'StatefulSet', name, images: { app: image } });

/** The tags of each repository. */
export const repositories: Readonly<Record<string, string>> = {
  'shop/web': '1.4.1 1.4.2 1.5.0 2.0.0 latest',
  'shop/blog': '1.4.2 1.5.0',
  'shop/odd': '1.4.2',
  'shop/api': 'v2.0.0 v2.1.0 v2.1.1 v3.0.0-rc.1',
  'shop/worker': '0.4.2 0.4.9 0.5.0',
  'shop/frontend': 'main-3f2a1b7 main-9c0ffee',
  'shop/batch': 'build-9 build-57 build-112',
  'shop/nightly': '20260301 20260302 20251231',
  'shop/search': '2.0.0-rc.1 2.0.0-rc.2',
  'shop/mailer': 'stable 1.0.0',
  'shop/payments': '3.2.0',
  'shop/cart': '2026.3.1 2026.11.0 2027.1.0',
  'shop/images': 'release-1.2.0 release-1.3.0 1.9.0',
  'shop/gateway': '1.2.3.4 1.2.3.10',
  'library/nginx': '1.27 1.27.0 1.27.1 1.27-alpine 1.27.0-alpine 1.27.1-alpine',
  'library/postgres': '16 16.3 16.4 14.9 14.12 16.3-alpine 16.4-alpine 17.0',
  'library/redis': '7.2.4-alpine 7.2.5-alpine 7.4.0 7.4.0-alpine',
  'library/rabbitmq': '3.13.2-management 3.13.7-management 4.0.1-management',
  'library/eclipse-temurin': '21-jre 21.0.3_9-jre 21.0.4_7-jre',
  'library/busybox': '1.36 1.36.1 1.37.0 latest',
  'library/ubuntu': '24.04 24.10',
  'bitnami/kafka': '3.7.0-debian-12-r2 3.7.1-debian-12-r0 3.7.1-debian-13-r1',
  'confluentinc/cp-schema-registry': '7.6.1-1-ubi8 7.6.2-1-ubi8',
  'minio/minio': 'RELEASE.2026-01-16T16-07-38Z RELEASE.2026-03-01T00-00-00Z latest',
  'grafana/grafana': '10.4.2 10.4.3 11.0.0 11.0.0-ubuntu',
  'prom/node-exporter': 'v1.7.0 v1.8.1',
  'fluent/fluent-bit': '3.0.3 3.0.7 3.0.7-debug',
  'external-dns/external-dns': 'v0.14.1 v0.14.2 v0.15.0',
};

/** All of them. `DIGEST` stands for the digest of shop/web:1.4.2. */
export const services: readonly Service[] = [
  deployment('web', 'shop/web:1.4.2'),
  deployment('web-admin', 'shop/web:1.4.1'),
  deployment('web-canary', 'shop/web:2.0.0'),
  deployment('web-pinned', 'shop/web:1.4.2@DIGEST'),
  deployment('web-frozen', 'shop/web@DIGEST'),
  { ...deployment('api', 'shop/api:v2.0.0'), initImages: { migrate: 'shop/api:v2.0.0', wait: 'library/busybox:1.36' } },
  { kind: 'Deployment', name: 'worker', images: { app: 'shop/worker:0.4.2', proxy: 'library/nginx:1.27-alpine' } },
  deployment('frontend', 'shop/frontend:main-3f2a1b7'),
  deployment('batch', 'shop/batch:build-57'),
  { kind: 'CronJob', name: 'nightly', images: { app: 'shop/nightly:20260301' } },
  deployment('search', 'shop/search:2.0.0-rc.1'),
  deployment('mailer', 'shop/mailer:stable'),
  deployment('payments', 'shop/payments:3.2.0'),
  deployment('cart', 'shop/cart:2026.3.1'),
  deployment('images', 'shop/images:release-1.2.0'),
  deployment('gateway', 'shop/gateway:1.2.3.4'),
  deployment('nginx', 'library/nginx:1.27.0'),
  deployment('assets', 'library/nginx:1.27'),
  statefulSet('orders-db', 'library/postgres:16.3'),
  statefulSet('users-db', 'library/postgres:16.3'),
  statefulSet('legacy-db', 'library/postgres:14.9'),
  statefulSet('reports-db', 'library/postgres:16.3-alpine'),
  statefulSet('metrics-db', 'library/postgres:16'),
  { kind: 'StatefulSet', name: 'upgrade-db', images: { new: 'library/postgres:16.3', old: 'library/postgres:14.9' } },
  statefulSet('redis', 'library/redis:7.2.4-alpine'),
  statefulSet('rabbitmq', 'library/rabbitmq:3.13.2-management'),
  deployment('java', 'library/eclipse-temurin:21.0.3_9-jre'),
  deployment('jobs', 'library/eclipse-temurin:21-jre'),
  deployment('shell', 'library/busybox'),
  deployment('toolbox', 'library/ubuntu:24.04'),
  statefulSet('kafka', 'bitnami/kafka:3.7.0-debian-12-r2'),
  deployment('schemas', 'confluentinc/cp-schema-registry:7.6.1-1-ubi8'),
  statefulSet('minio', 'minio/minio:RELEASE.2026-01-16T16-07-38Z'),
  deployment('grafana', 'grafana/grafana:10.4.2'),
  { kind: 'DaemonSet', name: 'node-exporter', images: { app: 'prom/node-exporter:v1.7.0' } },
  { kind: 'DaemonSet', name: 'fluent-bit', images: { app: 'fluent/fluent-bit:3.0.3' } },
  deployment('external-dns', 'external-dns/external-dns:v0.14.1'),
  // What other tools write.
  deployment('by-argo', 'shop/web:1.4.2', { annotations: { 'argocd.argoproj.io/tracking-id': 'shop:apps/Deployment:shop/by-argo' } }),
  deployment('by-flux', 'shop/web:1.4.2', { labels: { 'kustomize.toolkit.fluxcd.io/name': 'shop' } }),
  deployment('by-flux-chart', 'shop/web:1.4.2', {
    labels: { 'app.kubernetes.io/managed-by': 'Helm', 'helm.toolkit.fluxcd.io/name': 'shop' },
    annotations: { 'meta.helm.sh/release-name': 'shop', 'meta.helm.sh/release-namespace': 'shop' },
  }),
  // What Helm alone writes.
  deployment('by-helm', 'shop/blog:1.4.2', {
    labels: { 'app.kubernetes.io/managed-by': 'Helm' },
    annotations: { 'meta.helm.sh/release-name': 'site', 'meta.helm.sh/release-namespace': 'web' },
  }),
  deployment('by-odd-helm', 'shop/odd:1.4.2', { annotations: { 'meta.helm.sh/release-name': 'a\nkind: Secret; $(id)' } }),
  {
    ...statefulSet('prometheus-main', 'shop/web:1.4.2'),
    owner: { apiVersion: 'monitoring.coreos.com/v1', kind: 'Prometheus', name: 'main' },
  },
  deployment('known', 'shop/payments:3.2.0'),
  // What registries do not show.
  deployment('private', 'DENIED/secret/app:1.0.0'),
  deployment('unknown', 'shop/renamed:1.0.0'),
  deployment('gone', 'shop/mailer:testing'),
  deployment('offline', 'OFFLINE/app:1.0.0'),
];

/** What the policies select, by name: the selection, its candidates' pattern where there is one, and the tag now. */
export const expected: Readonly<Record<string, readonly [targets: string, select: string, selects: string]>> = {
  web: ['web web-admin', 'semver 1.x', '1.5.0'],
  blog: ['by-helm', 'semver 1.x', '1.5.0'],
  odd: ['by-odd-helm', 'semver 1.x', '1.4.2'],
  'web-canary': ['web-canary', 'semver 2.x', '2.0.0'],
  'web-pinned': ['web-pinned', 'semver 1.x', '1.5.0'],
  api: ['api', 'semver 2.x', 'v2.1.1'],
  worker: ['worker', 'semver 0.4.x', '0.4.9'],
  frontend: ['frontend', 'newest', ''],
  batch: ['batch', 'numerical', 'build-112'],
  nightly: ['nightly', 'alphabetical', '20260302'],
  search: ['search', 'semver 2.x', '2.0.0-rc.2'],
  mailer: ['mailer', 'digest stable', 'stable'],
  payments: ['payments', 'semver 3.x', '3.2.0'],
  cart: ['cart', 'semver >=2026.0.0', '2027.1.0'],
  images: ['images', 'semver 1.x', 'release-1.3.0'],
  gateway: ['gateway', 'semver 1.x', '1.2.3.10'],
  nginx: ['assets', 'digest 1.27', '1.27'],
  'nginx-2': ['nginx', 'semver 1.x', '1.27.1'],
  'nginx-3': ['worker', 'digest 1.27-alpine', '1.27-alpine'],
  postgres: ['legacy-db upgrade-db', 'semver 14.x', '14.12'],
  'postgres-2': ['orders-db upgrade-db users-db', 'semver 16.x', '16.4'],
  'reports-db': ['reports-db', 'semver 16.x', '16.4-alpine'],
  'metrics-db': ['metrics-db', 'digest 16', '16'],
  redis: ['redis', 'semver 7.x', '7.4.0-alpine'],
  rabbitmq: ['rabbitmq', 'semver 3.x', '3.13.7-management'],
  'eclipse-temurin': ['java', 'semver 21.x', '21.0.4_7-jre'],
  jobs: ['jobs', 'digest 21-jre', '21-jre'],
  busybox: ['api', 'digest 1.36', '1.36'],
  shell: ['shell', 'digest latest', 'latest'],
  ubuntu: ['toolbox', 'digest 24.04', '24.04'],
  kafka: ['kafka', 'semver 3.x', '3.7.1-debian-12-r0'],
  'cp-schema-registry': ['schemas', 'semver 7.x', '7.6.2-1-ubi8'],
  minio: ['minio', 'alphabetical', 'RELEASE.2026-03-01T00-00-00Z'],
  grafana: ['grafana', 'semver 10.x', '10.4.3'],
  'node-exporter': ['node-exporter', 'semver 1.x', 'v1.8.1'],
  'fluent-bit': ['fluent-bit', 'semver 3.x', '3.0.7'],
  'external-dns': ['external-dns', 'semver 0.14.x', 'v0.14.2'],
};

/** Why workloads are left out. */
export const leftOut: Readonly<Record<string, RegExp>> = {
  'web-frozen': /pinned by its digest only/,
  'by-argo': /^Argo CD manages the workload/,
  'by-flux': /^Flux manages the workload/,
  'by-flux-chart': /^Flux manages the workload/,
  'prometheus-main': /^Prometheus main controls the workload/,
  known: /^ImagePolicy .*\/known updates it already/,
  private: /tags cannot be read: .*(?:credentials|denie)/,
  unknown: /the registry does not know .*shop\/renamed/,
  gone: /does not have the tag testing/,
  offline: /tags cannot be read: /,
};
