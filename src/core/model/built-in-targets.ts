/** The image fields of well-known custom resources. Each is tested against a real API server. */
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
  return versions.flatMap((version) => names.map((kind) => ({ apiVersion: `${group}/${version}`, kind, fields })));
}

const image: readonly FieldRule[] = [{ path: 'spec.image' }];
/** Kinds whose operator configures what runs according to the version in a separate field, not according to the image. */
const imageWithVersion: readonly FieldRule[] = [{ path: 'spec.image', version: 'spec.version' }];

export const builtInTargets: readonly CustomTarget[] = [
  ...kinds('helm.toolkit.fluxcd.io', ['v2', 'v2beta2', 'v2beta1'], ['HelmRelease'], helmValues('spec.values')),
  ...kinds(
    'argoproj.io',
    ['v1alpha1'],
    ['Application'],
    [...helmValues('spec.source.helm.valuesObject'), ...helmValues('spec.sources[*].helm.valuesObject')],
  ),
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
];
