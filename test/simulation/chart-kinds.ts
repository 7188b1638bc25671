/** The resources that install charts and other artifacts: how they are written, and what they hold, in the form of an image. */
import { fieldsOf, textOrEmpty, type JsonObject } from '../../src/core/model/untyped.ts';
import type { ApiObject } from './api-server.ts';
import { containersOf } from './controllers.ts';
import { partsOf, registryHost } from './images.ts';

export const helmRepositories = 'source.toolkit.fluxcd.io/v1/helmrepositories';
/** The name and the URL of the HelmRepository. */
export const sourceName = 'charts';
export const sourceUrl = `oci://${registryHost}/shop`;

/** Each kind, with the field by which policies know what it holds. */
export const chartKinds = {
  Application: { apiVersion: 'argoproj.io/v1alpha1', plural: 'applications', field: 'spec.source.targetRevision' },
  HelmRelease: { apiVersion: 'helm.toolkit.fluxcd.io/v2', plural: 'helmreleases', field: 'spec.chart.spec.version' },
  OCIRepository: { apiVersion: 'source.toolkit.fluxcd.io/v1', plural: 'ocirepositories', field: 'spec.ref.tag' },
} as const;
export type ChartKind = keyof typeof chartKinds;

export function isChartKind(kind: string): kind is ChartKind {
  return Object.hasOwn(chartKinds, kind);
}

export function resourceOf(kind: ChartKind): string {
  return `${chartKinds[kind].apiVersion}/${chartKinds[kind].plural}`;
}

const resources: ReadonlySet<string> = new Set((Object.keys(chartKinds) as ChartKind[]).map(resourceOf));

export function isChartResource(resource: string): boolean {
  return resources.has(resource);
}

/** The spec of a resource that installs this at first. The source of a HelmRelease may be in another namespace. */
export function specWith(kind: ChartKind, image: string, sourceNamespace?: string): JsonObject {
  const { repository, tag, digest } = partsOf(image);
  const [folder, chart] = [repository.slice(0, repository.lastIndexOf('/')), repository.slice(repository.lastIndexOf('/') + 1)];
  if (kind === 'Application') return { project: 'default', source: { repoURL: folder, chart, targetRevision: tag } };
  if (kind === 'OCIRepository')
    return { interval: '1h', url: `oci://${repository}`, ref: { tag, ...(digest !== undefined && { digest }) } };
  const sourceRef = { kind: 'HelmRepository', name: sourceName, ...(sourceNamespace !== undefined && { namespace: sourceNamespace }) };
  return { interval: '1h', chart: { spec: { chart, version: tag, sourceRef } } };
}

/** The namespace of the HelmRepository that a HelmRelease names; undefined for other kinds. */
export function sourceNamespaceOf({ kind, metadata, spec }: ApiObject): string | undefined {
  if (kind !== 'HelmRelease') return undefined;
  return textOrEmpty(fieldsOf(chartOf(spec)['sourceRef'])['namespace']) || metadata.namespace;
}

/** What an object runs or installs: the images of its containers, or the one thing that it installs, under the names by which policies know them. */
export function heldBy({ kind, spec }: ApiObject): ReadonlyMap<string, string> {
  if (!isChartKind(kind)) return new Map(containersOf(spec).map(({ name, image }) => [textOrEmpty(name), textOrEmpty(image)]));
  return new Map([[chartKinds[kind].field, installedBy(kind, spec)]]);
}

function installedBy(kind: ChartKind, spec: JsonObject): string {
  const text = (fields: JsonObject, name: string) => textOrEmpty(fields[name]);
  if (kind === 'Application') {
    const source = fieldsOf(spec['source']);
    return `${text(source, 'repoURL')}/${text(source, 'chart')}:${text(source, 'targetRevision')}`;
  }
  if (kind === 'HelmRelease')
    return `${sourceUrl.slice('oci://'.length)}/${text(chartOf(spec), 'chart')}:${text(chartOf(spec), 'version')}`;
  const ref = fieldsOf(spec['ref']);
  const digest = text(ref, 'digest');
  return `${text(spec, 'url').slice('oci://'.length)}:${text(ref, 'tag')}${digest === '' ? '' : `@${digest}`}`;
}

function chartOf(spec: JsonObject): JsonObject {
  return fieldsOf(fieldsOf(spec['chart'])['spec']);
}

/** An object that runs or installs something else. */
export function withHeld(object: ApiObject, container: string, image: string): ApiObject {
  const { kind, spec } = object;
  if (isChartKind(kind))
    return {
      ...object,
      spec: { ...spec, ...specWith(kind, image, textOrEmpty(fieldsOf(chartOf(spec)['sourceRef'])['namespace']) || undefined) },
    };
  const containers = containersOf(spec).map((one): JsonObject => (one['name'] === container ? { ...one, image } : one));
  const template = fieldsOf(spec['template']);
  return { ...object, spec: { ...spec, template: { ...template, spec: { ...fieldsOf(template['spec']), containers } } } };
}

/** What discovery answers: the group versions, and the resources of each. */
export function discover(path: string): JsonObject | undefined {
  const served = [
    ...Object.entries(chartKinds),
    ['HelmRepository', { apiVersion: 'source.toolkit.fluxcd.io/v1', plural: 'helmrepositories' }] as const,
  ];
  if (path === '/apis') {
    const versions = [...new Set(served.map(([, { apiVersion }]) => apiVersion))];
    return { groups: versions.map((groupVersion) => ({ name: groupVersion.split('/')[0], versions: [{ groupVersion }] })) };
  }
  const found = served.filter(([, { apiVersion }]) => path === `/apis/${apiVersion}`);
  return found.length === 0 ? undefined : { resources: found.map(([kind, { plural }]) => ({ name: plural, kind, namespaced: true })) };
}
