import { valueAt } from '../../../service/resources/validation/problem.ts';
import { parseFieldPath } from '../../../core/model/field-path.ts';
import { checkFields } from '../../../core/model/field-rules.ts';
import { type Repository, sameRepository } from '../../../core/model/image-reference.ts';
import { fieldsOf, type JsonObject, textOrEmpty } from '../../../core/model/untyped.ts';
import type { Draft, SourceObject } from '../importer.ts';
import { type SourceWorkload, textsOf } from '../workload.ts';
import { repositoryOf, targetOf } from '../workload-target.ts';
import type { ImageSettings } from './settings.ts';

/** An Application of Argo CD, or the data that an ImageUpdater has about one that is not in the files. */
export interface Application {
  readonly namespace: string;
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly value: JsonObject;
  /** The namespace to which the Application deploys its workloads. */
  readonly destination: string;
  /** Whether the destination is assumed, because it is not known. */
  readonly isAssumed: boolean;
}

export function readApplication({ namespace, name, value }: SourceObject, assumedNamespace: string): Application {
  const metadata = fieldsOf(value['metadata']);
  const destination = textOrEmpty(fieldsOf(fieldsOf(value['spec'])['destination'])['namespace']);
  return {
    namespace,
    name,
    labels: textsOf(metadata['labels']),
    annotations: textsOf(metadata['annotations']),
    value,
    destination: destination === '' ? assumedNamespace : destination,
    isAssumed: destination === '',
  };
}

/** The cluster that an Application deploys to; undefined for the cluster of Argo CD itself. */
export function otherCluster({ value }: Application): string | undefined {
  const { server, name } = fieldsOf(fieldsOf(value['spec'])['destination']);
  const cluster = textOrEmpty(name) || textOrEmpty(server);
  return ['', 'in-cluster', 'https://kubernetes.default.svc'].includes(cluster) ? undefined : cluster;
}

type Found = Pick<Draft, 'namespace' | 'target' | 'notes'>;

/** The targets for an image of an Application: its Helm values if they contain the image, else the workloads that it manages. */
export function findTargets(
  application: Application,
  settings: ImageSettings,
  repository: Repository,
  workloads: readonly SourceWorkload[],
): readonly Found[] {
  const values = findValues(application, settings, repository);
  if (values.length > 0) return values;
  const { status } = application.value;
  const { resources } = fieldsOf(status);
  const notes = [...notesOnHelm(application, settings), ...notesOnHealing(application)];
  if (!Array.isArray(resources)) return [byLabel(application, notes)];
  const managed = new Set(resources.map((one: unknown) => keyOf(fieldsOf(one))));
  return workloads
    .filter((workload) => managed.has(keyOf({ ...workload })))
    .flatMap((workload): Found[] => {
      const names = (list: SourceWorkload['containers']) =>
        list.filter(({ image }) => isSame(repositoryOf(image), repository)).map(({ name }) => name);
      const chosen = { containers: names(workload.containers), initContainers: names(workload.initContainers) };
      if (chosen.containers.length + chosen.initContainers.length === 0) return [];
      return [{ namespace: workload.namespace, target: targetOf(workload, chosen, repository), notes }];
    });
}

function keyOf({ kind, namespace, name }: JsonObject): string {
  return [kind, namespace, name].map(String).join(' ');
}

function isSame(a: Repository | undefined, b: Repository): boolean {
  return a !== undefined && sameRepository(a, b);
}

/** A target that selects by the label with which Argo CD 2 marks managed objects by default. It is used if nothing else shows them. */
function byLabel({ name, destination, isAssumed }: Application, notes: readonly string[]): Found {
  const label = 'app.kubernetes.io/instance';
  return {
    namespace: destination,
    target: { kind: 'Deployment', selector: { matchLabels: { [label]: name } } },
    notes: [
      `The workloads of the Application ${name} are not in the files: the target is every Deployment with the label ${label}. Check that Argo CD sets it, and add other kinds.`,
      ...(isAssumed ? [`The namespace of the workloads is not in the files: "${destination}" is assumed (--namespace).`] : []),
      ...notes,
    ],
  };
}

/** The Helm values in the Application itself, if they name the image. Argo CD sets the workload from them. */
function findValues({ namespace, name, value }: Application, { helm }: ImageSettings, repository: Repository): Found[] {
  const sources = fieldsOf(value['spec'])['sources'];
  const bases = [
    'spec.source.helm.valuesObject',
    ...(Array.isArray(sources) ? sources.map((_, index) => `spec.sources[${index}].helm.valuesObject`) : []),
  ];
  const apiVersion = 'argoproj.io/v1alpha1';
  return bases.flatMap((base): Found[] => {
    const fields =
      helm.spec === ''
        ? { repository: `${base}.${helm.name || 'image.name'}`, tag: `${base}.${helm.tag || 'image.tag'}` }
        : { image: `${base}.${helm.spec}` };
    const holder = valueAt(value, parseFieldPath(fields.image ?? fields.repository ?? ''));
    const isThere = isSame(repositoryOf(holder), repository);
    const context = { customTargets: [], aliases: new Map<string, string>() };
    if (!isThere || !('fields' in checkFields({ apiVersion, kind: 'Application' }, fields, { repository }, context))) return [];
    return [{ namespace, target: { apiVersion, kind: 'Application', name, fields }, notes: [] }];
  });
}

function notesOnHelm({ name }: Application, { helm }: ImageSettings): string[] {
  // Argo CD Image Updater ignores the Helm parameters for name and tag if there is one for the whole image.
  const parameters = (helm.spec === '' ? [helm.name, helm.tag] : [helm.spec]).filter((parameter) => parameter !== '');
  if (parameters.length === 0) return [];
  return [
    `The Helm parameters ${parameters.join(', ')} are not written: the workload is changed itself. Take them out of the Application ${name}, or write the image into its valuesObject, and import again.`,
  ];
}

function notesOnHealing({ name, value }: Application): string[] {
  const { automated } = fieldsOf(fieldsOf(value['spec'])['syncPolicy']);
  if (fieldsOf(automated)['selfHeal'] !== true) return [];
  return [`The Application ${name} heals itself (selfHeal), and would set the image back: name the image in its ignoreDifferences.`];
}
