import { formatFieldPath, type FieldSteps } from '../../../core/model/field-path.ts';
import { type Repository, sameRepository, tryParseImageReference } from '../../../core/model/image-reference.ts';
import { fieldsOf, isObject } from '../../../core/model/untyped.ts';
import type { Skipped, SourceObject } from '../importer.ts';
import { readWorkload, type SourceWorkload } from '../workload.ts';
import { targetOf } from '../workload-target.ts';
import type { FoundTarget } from './found-target.ts';
import { type FluxPolicy, keyOf } from './resources.ts';

/** A policy of Flux with its repository. */
export interface KnownPolicy {
  readonly policy: FluxPolicy;
  readonly repository: Repository;
}

/** Finds targets by the images that they run, because the API server stores no comments, and so no markers. */
export function findRunning(
  objects: readonly SourceObject[],
  policies: readonly KnownPolicy[],
): { readonly targets: readonly FoundTarget[]; readonly skipped: readonly Skipped[] } {
  const targets: FoundTarget[] = [];
  const skipped: Skipped[] = [];
  const add = (
    object: string,
    tag: string | undefined,
    repository: Repository,
    found: Omit<FoundTarget, 'policyKey' | 'object' | 'notes' | 'runs'>,
  ) => {
    const chosen = choose(policies, repository, tag);
    if (chosen === undefined) return;
    if ('problem' in chosen) skipped.push({ object, problem: chosen.problem });
    else targets.push({ object, policyKey: keyOf(chosen.policy), runs: repository, ...found, notes: notesOn(chosen.policy, tag) });
  };
  const releases = objects.filter(({ kind, apiVersion }) => kind === 'HelmRelease' && apiVersion.startsWith('helm.toolkit.fluxcd.io/'));
  for (const { apiVersion, kind, namespace, name, value } of releases) {
    for (const { repository, tag, fields } of imagesInValues(fieldsOf(value['spec'])['values'], ['spec', 'values'])) {
      const takesDigest = 'digest' in fields || 'image' in fields;
      add(`${kind} ${namespace}/${name}`, tag, repository, { namespace, target: { apiVersion, kind, name, fields }, takesDigest });
    }
  }
  for (const workload of objects.flatMap((object) => readWorkload(object) ?? [])) {
    const object = `${workload.kind} ${workload.namespace}/${workload.name}`;
    const release = workload.labels['helm.toolkit.fluxcd.io/name'];
    for (const { repository, tag, containers } of repositoriesOf(workload)) {
      if (release !== undefined) {
        const namespace = workload.labels['helm.toolkit.fluxcd.io/namespace'] ?? workload.namespace;
        const isCovered = targets.some(
          ({ object, runs }) => object === `HelmRelease ${namespace}/${release}` && runs !== undefined && sameRepository(runs, repository),
        );
        const problem = `it is part of the HelmRelease ${namespace}/${release}, whose values do not name the image: write it there, and import again`;
        if (!isCovered && choose(policies, repository, tag) !== undefined) skipped.push({ object, problem });
        continue;
      }
      const target = targetOf(workload, { containers, initContainers: [] }, repository);
      add(object, tag, repository, { namespace: workload.namespace, target, takesDigest: true });
    }
  }
  return { targets, skipped };
}

/** The policy for a repository. Of several, the one whose latest tag runs is taken; undefined if there is none. */
function choose(
  policies: readonly KnownPolicy[],
  repository: Repository,
  tag: string | undefined,
): KnownPolicy | { readonly problem: string } | undefined {
  const same = policies.filter((one) => sameRepository(one.repository, repository));
  const latest = same.filter(({ policy }) => policy.latestTag === tag);
  const [only, ...others] = same.length > 1 ? latest : same;
  if (same.length === 0) return undefined;
  if (only !== undefined && others.length === 0) return only;
  const names = same.map(({ policy }) => keyOf(policy)).join(', ');
  return {
    problem: `several ImagePolicies are for its image (${names}), and only the markers in Git say which one: name the files of your repository instead`,
  };
}

function notesOn({ latestTag }: FluxPolicy, tag: string | undefined): string[] {
  if (tag === undefined || latestTag === undefined || tag === latestTag) return [];
  return [`It runs ${tag}, and Flux's latest is ${latestTag}: check in Git that the image has a marker of this policy.`];
}

interface RunningRepository {
  readonly repository: Repository;
  readonly tag: string | undefined;
  readonly containers: readonly string[];
}

function repositoriesOf({ containers }: SourceWorkload): RunningRepository[] {
  const images = containers.flatMap(({ name, image }) => {
    const parsed = tryParseImageReference(image);
    return parsed === undefined ? [] : [{ ...parsed, name }];
  });
  const groups = Map.groupBy(images, ({ repository, tag }) => `${repository.registry}/${repository.path}:${tag ?? ''}`);
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    return first === undefined ? [] : [{ repository: first.repository, tag: first.tag, containers: group.map(({ name }) => name) }];
  });
}

type Fields = { readonly image: string } | { readonly repository: string; readonly tag?: string; readonly digest?: string };

interface ValuesImage {
  readonly repository: Repository;
  readonly tag: string | undefined;
  readonly fields: Fields;
}

/** The image blocks (`{repository, tag}`) and whole references (`image: web:1.4.2`) in the values of a chart. */
function imagesInValues(values: unknown, steps: FieldSteps): ValuesImage[] {
  if (Array.isArray(values)) return values.flatMap((value: unknown, index) => imagesInValues(value, [...steps, index]));
  if (!isObject(values)) return [];
  const path = (key: string) => formatFieldPath([...steps, key]);
  const { image, repository, tag, digest } = values;
  const whole = typeof image === 'string' ? tryParseImageReference(image) : undefined;
  const block = typeof repository === 'string' && typeof tag === 'string' ? tryParseImageReference(repository) : undefined;
  return [
    ...(whole === undefined ? [] : [{ repository: whole.repository, tag: whole.tag, fields: { image: path('image') } }]),
    ...(block === undefined
      ? []
      : [
          {
            repository: block.repository,
            tag: String(tag),
            fields: {
              repository: path('repository'),
              tag: path('tag'),
              ...(typeof digest === 'string' && digest !== '' && { digest: path('digest') }),
            },
          },
        ]),
    ...Object.entries(values).flatMap(([key, value]) => imagesInValues(value, [...steps, key])),
  ];
}
