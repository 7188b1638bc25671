import { valueAt } from '../../../service/resources/validation/problem.ts';
import { formatFieldPath } from '../../../core/model/field-path.ts';
import { sameRepository, tryParseImageReference } from '../../../core/model/image-reference.ts';
import { fieldsOf } from '../../../core/model/untyped.ts';
import type { Skipped, SourceObject } from '../importer.ts';
import { readWorkload, type SourceWorkload } from '../workload.ts';
import { repositoryOf, targetOf } from '../workload-target.ts';
import type { FoundTarget } from './found-target.ts';
import { type Marker, readMarkers } from './markers.ts';

/** The targets that markers name, and those that a policy cannot have. */
export interface Marked {
  readonly targets: readonly FoundTarget[];
  readonly skipped: readonly Skipped[];
}

/** Finds the targets that markers name in all objects: workloads, custom resources, and kustomizations, which set images of workloads. */
export function findMarked(objects: readonly SourceObject[]): Marked {
  const workloads = objects.flatMap((object) => readWorkload(object) ?? []);
  const targets: FoundTarget[] = [];
  const skipped: Skipped[] = [];
  for (const object of objects) {
    for (const [policyKey, markers] of byPolicy(readMarkers(object))) {
      const found = isKustomization(object) ? findKustomized(object, markers, workloads) : findIn(object, markers);
      targets.push(...found.map((one) => ({ ...one, policyKey })));
      if (found.length === 0) skipped.push({ object: describe(object), problem: whyNone(object, policyKey) });
    }
  }
  return { targets, skipped };
}

type Found = Omit<FoundTarget, 'policyKey'>;

function byPolicy(markers: readonly Marker[]): ReadonlyMap<string, readonly Marker[]> {
  return Map.groupBy(markers, ({ policyKey }) => policyKey);
}

function describe({ kind, namespace, name, file }: SourceObject): string {
  return name === '' && file !== undefined ? `${kind} in ${file}` : `${kind} ${namespace}/${name}`;
}

function whyNone(object: SourceObject, policyKey: string): string {
  return isKustomization(object)
    ? `ImagePolicy ${policyKey} sets an image of it, and no workload in the files runs that image: write the targets by hand`
    : `ImagePolicy ${policyKey} writes fields of it that hold neither an image nor a tag`;
}

function isKustomization({ apiVersion, kind }: SourceObject): boolean {
  return kind === 'Kustomization' && /^kustomize\.(?:config\.k8s|toolkit\.fluxcd)\.io\//.test(apiVersion);
}

const assumed = (namespace: string) => `Its manifest names no namespace: "${namespace}" is assumed (--namespace).`;

function findIn(object: SourceObject, markers: readonly Marker[]): Found[] {
  const workload = readWorkload(object);
  return workload === undefined ? findFields(object, markers) : findContainers(object, workload, markers);
}

function findContainers(object: SourceObject, workload: SourceWorkload, markers: readonly Marker[]): Found[] {
  const named = (list: 'containers' | 'initContainers') =>
    markers.flatMap(({ keys }) => {
      const [inList, index, field] = keys.slice(-3);
      const name = inList === list && field === 'image' ? fieldsOf(valueAt(object.value, keys.slice(0, -1)))['name'] : undefined;
      return typeof index === 'number' && typeof name === 'string' ? [name] : [];
    });
  const marked = { containers: named('containers'), initContainers: named('initContainers') };
  const chosen = [...marked.containers, ...marked.initContainers];
  const first = [...workload.containers, ...workload.initContainers].find(({ name }) => chosen.includes(name));
  if (first === undefined) return [];
  const runs = repositoryOf(first.image);
  return [found(object, targetOf(workload, marked, runs), { takesDigest: true, runs })];
}

/** One target for each image: a field with a whole reference, or the fields for name, tag and digest below one parent. */
function findFields(object: SourceObject, markers: readonly Marker[]): Found[] {
  const { apiVersion, kind, name } = object;
  const parents = Map.groupBy(markers, ({ part, keys }) => formatFieldPath(part === 'image' ? keys : keys.slice(0, -1)));
  return [...parents.values()].flatMap((group) => {
    const keysOf = (wanted: Marker['part']) => group.find(({ part }) => part === wanted)?.keys;
    const [image, repository, tag, digest] = [keysOf('image'), keysOf('name'), keysOf('tag'), keysOf('digest')];
    if (image === undefined && tag === undefined && digest === undefined) return [];
    const fields = image
      ? { image: formatFieldPath(image) }
      : {
          ...(repository && { repository: formatFieldPath(repository) }),
          ...(tag && { tag: formatFieldPath(tag) }),
          ...(digest && { digest: formatFieldPath(digest) }),
        };
    const runs = repositoryOf(valueAt(object.value, image ?? repository ?? [...(tag ?? digest ?? []).slice(0, -1), 'repository']));
    return [found(object, { apiVersion, kind, name, fields }, { takesDigest: image !== undefined || digest !== undefined, runs })];
  });
}

/** The targets of a kustomization. An entry of `images` replaces the image of workloads in the files. */
function findKustomized(object: SourceObject, markers: readonly Marker[], workloads: readonly SourceWorkload[]): Found[] {
  const entries = new Map(
    markers.map(({ keys }) => {
      const entry = keys.slice(0, keys.lastIndexOf('images') + 2);
      return [formatFieldPath(entry), entry];
    }),
  );
  return [...entries.values()].flatMap((keys) => {
    const { name, newName = name } = fieldsOf(valueAt(object.value, keys));
    const wanted = repositoryOf(name);
    const runs = repositoryOf(newName);
    const takesDigest = markers.some(({ part }) => part === 'digest' || part === 'image');
    return workloads.flatMap((workload): Found[] => {
      const running = workload.containers.filter(({ image }) => isOf(image, wanted));
      if (running.length === 0) return [];
      const target = targetOf(workload, { containers: running.map((one) => one.name), initContainers: [] }, wanted);
      const { kind, namespace } = workload;
      const notes = [
        `${describe(object)} sets this image: remove its entry in images, or the next time that it is applied sets the image back.`,
      ];
      return [{ object: `${kind} ${namespace}/${workload.name}`, namespace, target, takesDigest, runs, notes }];
    });
  });
}

function isOf(image: string, wanted: ReturnType<typeof repositoryOf>): boolean {
  const repository = tryParseImageReference(image)?.repository;
  return repository !== undefined && wanted !== undefined && sameRepository(repository, wanted);
}

function found(object: SourceObject, target: Found['target'], rest: Pick<Found, 'takesDigest' | 'runs'>): Found {
  const { namespace, isNamespaceAssumed } = object;
  return { object: describe(object), namespace, target, ...rest, notes: isNamespaceAssumed ? [assumed(namespace)] : [] };
}
