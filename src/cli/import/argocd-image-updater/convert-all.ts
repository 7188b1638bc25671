import { formatRepository } from '../../../core/model/image-reference.ts';
import { matchesSelector } from '../../../core/model/label-selector.ts';
import { compilePattern } from '../../../core/model/pattern.ts';
import { fieldsOf, type JsonObject, textOrEmpty } from '../../../core/model/untyped.ts';
import type { Draft, Imported, Skipped, SourceObject, Sources } from '../importer.ts';
import { policiesOf } from '../merge-drafts.ts';
import { globPattern } from '../tag-patterns.ts';
import { readWorkload, type SourceWorkload, textsOf } from '../workload.ts';
import { type Application, findTargets, otherCluster, readApplication } from './application.ts';
import { convertImage } from './convert-image.ts';
import { convertRegistries } from './registries.ts';
import { type ApplicationSettings, type ImageSettings, readAnnotations, readReference } from './settings.ts';

const remark =
  'Argo CD applies what its Applications and Git say: the image must not be set there too, or Argo CD sets it back (see docs/targets.md, "Who else writes there?").';

interface Updated {
  readonly application: Application;
  readonly settings: ApplicationSettings;
  readonly notes: readonly string[];
}

/** The policies for everything that Argo CD Image Updater updates. */
export function convertAll({ objects, areFiles, assumedNamespace = 'default' }: Sources): Imported {
  const skipped: Skipped[] = [];
  const applications = objects
    .filter(({ apiVersion, kind }) => kind === 'Application' && apiVersion.startsWith('argoproj.io/'))
    .map((object) => readApplication(object, assumedNamespace));
  const updaters = objects.filter(
    ({ kind, apiVersion }) => kind === 'ImageUpdater' && apiVersion.startsWith('argocd-image-updater.argoproj.io/'),
  );
  const updated = applications.flatMap((application) => settingsFor(application, updaters) ?? []);
  for (const updater of updaters)
    for (const reference of referencesOf(updater)) {
      const pattern = textOrEmpty(reference['namePattern']);
      const readsAnnotations = reference['useAnnotations'] === true;
      if (readsAnnotations || applications.some((one) => one.namespace === updater.namespace && matches(one, reference))) continue;
      if (areFiles && isExact(pattern))
        updated.push({
          application: unseen(updater, pattern, assumedNamespace),
          settings: readReference(fieldsOf(updater.value['spec']), reference),
          notes: [],
        });
      else skipped.push({ object: `ImageUpdater ${updater.namespace}/${updater.name}`, problem: `no Application matches "${pattern}"` });
    }
  const workloads = objects.flatMap((object) => readWorkload(object) ?? []);
  const drafts = updated.flatMap((one) => draftsFor(one, workloads, skipped));
  const merged = policiesOf(drafts);
  const remarks = [...(merged.policies.length > 0 ? [remark] : []), ...convertRegistries(objects)];
  return { policies: merged.policies, skipped: [...skipped, ...merged.skipped], remarks };
}

/** The settings of an Application: the most specific reference of the ImageUpdaters in its namespace. Before version 1 there were only annotations. */
function settingsFor(application: Application, updaters: readonly SourceObject[]): Updated | undefined {
  const annotated = readAnnotations(application.annotations);
  const [best] = updaters
    .filter(({ namespace }) => namespace === application.namespace)
    .flatMap((updater) => referencesOf(updater).map((reference) => ({ spec: fieldsOf(updater.value['spec']), reference })))
    .filter(({ reference }) => matches(application, reference))
    .sort((a, b) => specificity(b.reference) - specificity(a.reference));
  if (best !== undefined && best.reference['useAnnotations'] !== true)
    return { application, settings: readReference(best.spec, best.reference), notes: [] };
  if (annotated === undefined) return undefined;
  const isIgnored = best === undefined && updaters.length > 0;
  const note = 'No ImageUpdater reads the annotations of the Application: Argo CD Image Updater 1 ignores them.';
  return { application, settings: annotated, notes: isIgnored ? [note] : [] };
}

function referencesOf({ value }: SourceObject): JsonObject[] {
  const references = fieldsOf(value['spec'])['applicationRefs'];
  return Array.isArray(references) ? references.map(fieldsOf) : [];
}

function matches({ name, labels }: Application, { namePattern, labelSelectors }: JsonObject): boolean {
  const pattern = globPattern(textOrEmpty(namePattern));
  if (!('allow' in pattern) || pattern.allow === undefined || compilePattern(pattern.allow).matchWhole(name) === undefined) return false;
  const { matchLabels, matchExpressions } = fieldsOf(labelSelectors);
  const isEmpty = Object.keys(fieldsOf(matchLabels)).length + Object.keys(fieldsOf(matchExpressions)).length === 0;
  return isEmpty || matchesSelector(fieldsOf(labelSelectors), labels);
}

function isExact(pattern: string): boolean {
  return pattern !== '' && !/[*?[\\]/.test(pattern);
}

/** The rank of a reference: an exact name first, then labels, then the number of characters that are no wildcards. */
function specificity({ namePattern, labelSelectors }: JsonObject): number {
  const pattern = textOrEmpty(namePattern);
  const { matchLabels, matchExpressions } = fieldsOf(labelSelectors);
  const requirements = Object.keys(fieldsOf(matchLabels)).length + Object.keys(fieldsOf(matchExpressions)).length;
  return (isExact(pattern) ? 1_000_000 : 0) + (requirements > 0 ? 1_000 + requirements * 100 : 0) + pattern.replaceAll(/[*?]/g, '').length;
}

function unseen({ namespace }: SourceObject, name: string, destination: string): Application {
  return { namespace, name, labels: {}, annotations: textsOf(undefined), value: {}, destination, isAssumed: true };
}

function draftsFor({ application, settings, notes }: Updated, workloads: readonly SourceWorkload[], skipped: Skipped[]): Draft[] {
  const object = `Application ${application.namespace}/${application.name}`;
  const cluster = otherCluster(application);
  if (cluster !== undefined) {
    skipped.push({ object, problem: `it deploys to another cluster (${cluster}): install image-watcher there` });
    return [];
  }
  return settings.images.flatMap((image): Draft[] => {
    const converted = convertImage(image, settings.writeBack);
    if ('problem' in converted) {
      skipped.push({ object, problem: `${image.image}: ${converted.problem}` });
      return [];
    }
    const { repository, spec, secrets } = converted;
    const targets = findTargets(application, image, repository, workloads);
    if (targets.length === 0) skipped.push({ object, problem: `none of its workloads runs ${formatRepository(repository)}` });
    return targets.map((found) => ({
      namespace: found.namespace,
      name: nameOf(application, image, settings.images.length),
      spec,
      target: found.target,
      notes: [
        ...notes,
        ...converted.notes,
        ...(settings.writeBack.usesGit ? ['Argo CD Image Updater writes the image to Git; image-watcher writes it to the cluster.'] : []),
        ...secrets
          .filter(({ namespace }) => namespace !== found.namespace)
          .map(({ name, namespace }) => `Copy the Secret ${name} from ${namespace} to ${found.namespace}, where the policy is.`),
        ...found.notes,
      ],
    }));
  });
}

/** The name of a policy: that of the Application, with the alias if there are several images. */
function nameOf({ name }: Application, { alias, image }: ImageSettings, images: number): string {
  const own = (alias || (image.split('/').at(-1) ?? ''))
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '');
  return images === 1 || own === '' ? name : `${name}-${own}`;
}
