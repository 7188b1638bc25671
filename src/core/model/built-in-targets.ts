/** The fields of well-known custom resources that hold images and versions of charts. Each is tested against a real API server. */
import type { CustomTarget, FieldRule } from './field-rules.ts';

/** The rules for an image block of Helm values. Tag and digest are recognised only beside their repository. */
function imageBlock(path: string): FieldRule[] {
  return ['tag', 'digest'].map((part) => ({ path: `${path}.${part}`, repository: `${path}.repository` }));
}

/** The rules for Helm values below a path: image blocks, and whole references in fields named `image`. */
function helmValues(path: string): FieldRule[] {
  return [...imageBlock(`${path}.**.image`), { path: `${path}.**.image` }];
}

/** The Helm values that a field is part of, for any kind that embeds them. */
export function helmValuesAbove(path: string): string | undefined {
  return /^(spec\.(?:values|sources?(?:\[\d+\])?\.helm\.valuesObject))\./.exec(path)?.[1];
}

/** The targets with the same fields in each of these versions of a kind. */
function kinds(group: string, versions: readonly string[], names: readonly string[], fields: readonly FieldRule[]): CustomTarget[] {
  const marked = fields.map((rule): FieldRule => (rule.chart === undefined ? { ...rule, isImage: true } : rule));
  return versions.flatMap((version) => names.map((kind) => ({ apiVersion: `${group}/${version}`, kind, fields: marked })));
}

/** The rule for a source of Argo CD, with the OCI chart `chart` below `repoURL`, or an OCI artifact: https://argo-cd.readthedocs.io/en/stable/user-guide/oci/ */
function argoSource(path: string): FieldRule {
  return { path: `${path}.targetRevision`, repository: `${path}.repoURL`, chart: { name: `${path}.chart` } };
}

/** The rules for an OCIRepository of Flux, in which digest precedes semver, and semver precedes tag: https://fluxcd.io/flux/components/source/ocirepositories/#reference */
const ociReference: readonly FieldRule[] = [
  { path: 'spec.ref.tag', repository: 'spec.url', chart: { overruledBy: ['spec.ref.semver', 'spec.ref.digest'] } },
  { path: 'spec.ref.semver', repository: 'spec.url', chart: { isVersion: true, overruledBy: ['spec.ref.digest'] } },
  { path: 'spec.ref.digest', repository: 'spec.url', chart: { isDigest: true } },
];

/** The rule for the chart of a HelmRelease, which a HelmRepository of the type `oci` holds: https://fluxcd.io/flux/components/source/helmrepositories/#helm-oci-repository */
const helmReleaseChart: FieldRule = {
  path: 'spec.chart.spec.version',
  repository: 'spec.chart.spec.sourceRef.name',
  chart: {
    name: 'spec.chart.spec.chart',
    isVersion: true,
    source: {
      apiVersion: 'source.toolkit.fluxcd.io/v1',
      kind: 'HelmRepository',
      kindField: 'spec.chart.spec.sourceRef.kind',
      namespaceField: 'spec.chart.spec.sourceRef.namespace',
      urlField: 'spec.url',
      typeField: 'spec.type',
    },
  },
};

const image: readonly FieldRule[] = [{ path: 'spec.image' }];
/** Kinds whose operator configures what runs according to the version in a separate field, not according to the image. */
const imageWithVersion: readonly FieldRule[] = [{ path: 'spec.image', version: 'spec.version' }];

export const builtInTargets: readonly CustomTarget[] = [
  ...kinds('helm.toolkit.fluxcd.io', ['v2', 'v2beta2', 'v2beta1'], ['HelmRelease'], [...helmValues('spec.values'), helmReleaseChart]),
  ...kinds(
    'argoproj.io',
    ['v1alpha1'],
    ['Application'],
    [
      ...helmValues('spec.source.helm.valuesObject'),
      ...helmValues('spec.sources[*].helm.valuesObject'),
      argoSource('spec.source'),
      argoSource('spec.sources[*]'),
    ],
  ),
  ...kinds(
    'argoproj.io',
    ['v1alpha1'],
    ['ApplicationSet'],
    [argoSource('spec.template.spec.source'), argoSource('spec.template.spec.sources[*]')],
  ),
  ...kinds('source.toolkit.fluxcd.io', ['v1', 'v1beta2'], ['OCIRepository'], ociReference),
  // The controller of k3s gives both fields to Helm: https://docs.k3s.io/add-ons/helm
  ...kinds('helm.cattle.io', ['v1'], ['HelmChart'], [{ path: 'spec.version', repository: 'spec.chart', chart: { isVersion: true } }]),
  ...kinds(
    'argoproj.io',
    ['v1alpha1'],
    ['WorkflowTemplate'],
    [{ path: 'spec.templates[*].container.image' }, { path: 'spec.templates[*].script.image' }],
  ),
  ...kinds(
    'argoproj.io',
    ['v1alpha1'],
    ['CronWorkflow'],
    [{ path: 'spec.workflowSpec.templates[*].container.image' }, { path: 'spec.workflowSpec.templates[*].script.image' }],
  ),
  ...kinds('tekton.dev', ['v1', 'v1beta1'], ['Task'], [{ path: 'spec.steps[*].image' }, { path: 'spec.sidecars[*].image' }]),
  ...kinds('postgresql.cnpg.io', ['v1'], ['Cluster'], [{ path: 'spec.imageName' }]),
  ...kinds('monitoring.coreos.com', ['v1'], ['Prometheus', 'Alertmanager', 'ThanosRuler'], imageWithVersion),
  ...kinds('kafka.strimzi.io', ['v1beta2', 'v1'], ['Kafka'], [{ path: 'spec.kafka.image' }]),
  ...kinds('kafka.strimzi.io', ['v1beta2', 'v1'], ['KafkaConnect', 'KafkaBridge'], image),
  ...kinds('elasticsearch.k8s.elastic.co', ['v1'], ['Elasticsearch'], imageWithVersion),
  ...kinds('kibana.k8s.elastic.co', ['v1'], ['Kibana'], imageWithVersion),
  ...kinds('opentelemetry.io', ['v1beta1', 'v1alpha1'], ['OpenTelemetryCollector'], image),
  ...kinds('flink.apache.org', ['v1beta1'], ['FlinkDeployment'], image),
  // A WebAssembly module; without a scheme, the URL is that of an OCI image: https://istio.io/latest/docs/reference/config/proxy_extensions/wasm-plugin/
  ...kinds('extensions.istio.io', ['v1alpha1'], ['WasmPlugin'], [{ path: 'spec.url' }]),
  // "registry/image:tag or registry/image@sha256:digest": https://gateway.envoyproxy.io/docs/api/extension_types/#imagewasmcodesource
  ...kinds('gateway.envoyproxy.io', ['v1alpha1'], ['EnvoyExtensionPolicy'], [{ path: 'spec.wasm[*].code.image.url' }]),
  // https://www.spinkube.dev/docs/reference/spin-app/
  ...kinds('core.spinkube.dev', ['v1alpha1'], ['SpinApp'], image),
];
