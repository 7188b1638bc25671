/** A resource of each kind that has built-in fields, with the fields that policies write in it. */
import type { TargetFields } from '../../../../src/core/model/image-policy.ts';
import { digestOf } from '../../../core/model/samples.ts';

export const repository = 'registry.example.com/shop/web';
export const [before1, after1] = ['1.2.3', '1.3.0'];
const image = `${repository}:${before1}`;
const block = { repository, tag: before1, pullPolicy: 'Always' };
const values = {
  image: block,
  replicas: 3,
  web: { image: { ...block, digest: digestOf('a') }, serviceAccountName: 'web' },
  jobs: [{ name: 'a', image: block }],
  sidecar: { image },
  apart: { image: { registry: 'registry.example.com', repository: 'shop/web', tag: before1 } },
  other: { image: { repository: 'registry.example.com/shop/other', tag: before1 } },
};
const helmFields = (path: string): TargetFields[] => [
  { tag: `${path}.image.tag` },
  { tag: `${path}.web.image.tag`, digest: `${path}.web.image.digest` },
  { tag: `${path}.jobs[0].image.tag`, repository: `${path}.jobs[0].image.repository` },
  { image: `${path}.sidecar.image` },
  { tag: `${path}.apart.image.tag` },
];
const container = { name: 'main', container: { image, command: ['run'] } };
const script = { name: 'other', script: { image, source: 'run' } };

export interface Sample {
  readonly plural: string;
  readonly spec: object;
  readonly fields: readonly TargetFields[];
  /** Fields that need another spec. */
  readonly more?: readonly { readonly spec: object; readonly fields: TargetFields }[];
  /** The project's own definition, in `test/fixtures/definitions`; without it, one of the shape of the spec. */
  readonly definition?: string;
}

export const helmRepository = { apiVersion: 'source.toolkit.fluxcd.io/v1', kind: 'HelmRepository' };
const ociRepository = { interval: '5m0s', url: 'oci://registry.example.com/shop/web' };
const whole = (plural: string, more: object = {}): Sample => ({ plural, spec: { image, ...more }, fields: [{ image: 'spec.image' }] });

export const samples: Readonly<Record<string, Sample>> = {
  'helm.toolkit.fluxcd.io/HelmRelease': {
    plural: 'helmreleases',
    spec: {
      interval: '5m',
      chart: { spec: { chart: 'web', version: before1, sourceRef: { kind: 'HelmRepository', name: 'charts' } } },
      values,
    },
    fields: [...helmFields('spec.values'), { tag: 'spec.chart.spec.version' }],
    definition: 'helmrelease',
  },
  'argoproj.io/Application': {
    plural: 'applications',
    spec: {
      project: 'default',
      destination: { name: 'in-cluster', namespace: 'shop' },
      source: {
        repoURL: 'registry.example.com/shop',
        chart: 'web',
        targetRevision: before1,
        helm: { valuesObject: { ...values, global: { storageClass: 'fast' } } },
      },
      sources: [
        { repoURL: 'oci://registry.example.com/shop/web', path: '.', targetRevision: before1 },
        { repoURL: 'https://example.com/b', helm: { valuesObject: values } },
      ],
    },
    fields: [
      ...helmFields('spec.source.helm.valuesObject'),
      ...helmFields('spec.sources[1].helm.valuesObject'),
      { tag: 'spec.source.targetRevision' },
      { tag: 'spec.sources[0].targetRevision' },
    ],
    definition: 'application',
  },
  'argoproj.io/ApplicationSet': {
    plural: 'applicationsets',
    spec: {
      generators: [{ list: { elements: [{ cluster: 'a' }] } }],
      template: {
        metadata: { name: 'web-{{cluster}}' },
        spec: {
          project: 'default',
          destination: { name: '{{cluster}}' },
          source: { repoURL: 'registry.example.com/shop', chart: 'web', targetRevision: before1 },
          sources: [{ repoURL: 'registry.example.com', chart: 'shop/web', targetRevision: before1 }],
        },
      },
    },
    fields: [{ tag: 'spec.template.spec.source.targetRevision' }, { tag: 'spec.template.spec.sources[0].targetRevision' }],
    definition: 'applicationset',
  },
  'source.toolkit.fluxcd.io/OCIRepository': {
    plural: 'ocirepositories',
    spec: { ...ociRepository, ref: { tag: before1 } },
    fields: [{ tag: 'spec.ref.tag' }, { tag: 'spec.ref.tag', digest: 'spec.ref.digest' }],
    more: [{ spec: { ...ociRepository, ref: { semver: before1 } }, fields: { tag: 'spec.ref.semver' } }],
    definition: 'ocirepository',
  },
  'helm.cattle.io/HelmChart': {
    plural: 'helmcharts',
    spec: { chart: 'oci://registry.example.com/shop/web', version: before1, targetNamespace: 'shop', bootstrap: false },
    fields: [{ tag: 'spec.version' }],
    definition: 'helmchart',
  },
  'argoproj.io/WorkflowTemplate': {
    plural: 'workflowtemplates',
    spec: { entrypoint: 'main', serviceAccountName: 'runner', templates: [container, script] },
    fields: [{ image: 'spec.templates[0].container.image' }, { image: 'spec.templates[1].script.image' }],
  },
  'argoproj.io/CronWorkflow': {
    plural: 'cronworkflows',
    spec: { schedules: ['0 3 * * *'], workflowSpec: { entrypoint: 'main', templates: [container, script] } },
    fields: [{ image: 'spec.workflowSpec.templates[0].container.image' }, { image: 'spec.workflowSpec.templates[1].script.image' }],
  },
  'tekton.dev/Task': {
    plural: 'tasks',
    spec: {
      steps: [
        { name: 'clone', image: 'alpine' },
        { name: 'build', image, script: 'run' },
      ],
      sidecars: [{ name: 'daemon', image }],
    },
    fields: [{ image: 'spec.steps[1].image' }, { image: 'spec.sidecars[0].image' }],
  },
  'postgresql.cnpg.io/Cluster': {
    plural: 'clusters',
    spec: { instances: 3, imageName: image, storage: { size: '1Gi' } },
    fields: [{ image: 'spec.imageName' }],
  },
  'monitoring.coreos.com/Prometheus': whole('prometheuses', { version: 'v3.0.0', serviceAccountName: 'prometheus' }),
  'monitoring.coreos.com/Alertmanager': whole('alertmanagers', { version: 'v0.28.0' }),
  'monitoring.coreos.com/ThanosRuler': whole('thanosrulers', { queryEndpoints: ['a'] }),
  'kafka.strimzi.io/Kafka': {
    plural: 'kafkas',
    spec: { kafka: { version: '4.0.0', image, config: { 'min.insync.replicas': 2 } } },
    fields: [{ image: 'spec.kafka.image' }],
  },
  'kafka.strimzi.io/KafkaConnect': whole('kafkaconnects', { bootstrapServers: 'kafka:9093' }),
  'kafka.strimzi.io/KafkaBridge': whole('kafkabridges', { bootstrapServers: 'kafka:9093' }),
  'elasticsearch.k8s.elastic.co/Elasticsearch': whole('elasticsearches', { version: '9.0.0', nodeSets: [{ name: 'a', count: 3 }] }),
  'kibana.k8s.elastic.co/Kibana': whole('kibanas', { version: '9.0.0', count: 1 }),
  'opentelemetry.io/OpenTelemetryCollector': whole('opentelemetrycollectors', { mode: 'deployment' }),
  'extensions.istio.io/WasmPlugin': {
    plural: 'wasmplugins',
    spec: { url: image, phase: 'AUTHN', imagePullPolicy: 'IfNotPresent' },
    fields: [{ image: 'spec.url' }],
    definition: 'wasmplugin',
  },
  'gateway.envoyproxy.io/EnvoyExtensionPolicy': {
    plural: 'envoyextensionpolicies',
    spec: {
      targetRefs: [{ group: 'gateway.networking.k8s.io', kind: 'HTTPRoute', name: 'web' }],
      wasm: [
        { name: 'local', code: { type: 'HTTP', http: { url: 'https://example.com/filter.wasm' } } },
        { name: 'filter', code: { type: 'Image', image: { url: image } } },
      ],
    },
    fields: [{ image: 'spec.wasm[1].code.image.url' }],
    definition: 'envoyextensionpolicy',
  },
  'core.spinkube.dev/SpinApp': {
    ...whole('spinapps', { executor: 'containerd-shim-spin', replicas: 1 }),
    definition: 'spinapp',
  },
  'flink.apache.org/FlinkDeployment': whole('flinkdeployments', { flinkVersion: 'v2_0', serviceAccount: 'flink' }),
};
