import type { PolicySpec } from '../model/image-policy.ts';
import {
  sameRepository,
  tryParseImageReference,
  type ImageReference,
  type RegistryAliases,
  type Candidate,
} from '../model/image-reference.ts';
import type { HistoryEntry, PolicyStatus } from '../model/policy-status.ts';
import { matchesTarget, type WorkloadView } from '../model/resolve-target.ts';

/** A policy, with its workloads and the aliases of registries. */
export interface Past extends Pick<WorkloadView, 'findWorkload'> {
  readonly spec: Pick<PolicySpec, 'repository' | 'targets'>;
  readonly status: PolicyStatus;
  readonly aliases: RegistryAliases;
}

/**
 * The image that `previous` or a tag stands for, by the history: `previous` is the latest that ran before the last applied one and has not been rolled back from
 * or failed since. A tag that is not in the history stands for itself. Undefined where there was nothing before.
 */
export function rollbackImage(past: Past, wanted: string): Candidate | undefined {
  const known = imagesOf(past);
  if (wanted !== 'previous') return known.find(({ tag }) => tag === wanted) ?? { tag: wanted };
  const [current, ...earlier] = known;
  return earlier.find((image) => current !== undefined && !isSame(image, current) && !isLeft(image, past.status));
}

/** The images that a rollback leaves: the last applied one and the selected one, if their digests are known. */
export function leftImages(past: Past, candidate: Candidate): Required<Pick<Candidate, 'tag' | 'digest'>>[] {
  const [current] = imagesOf(past);
  const left = [current, past.status.latest].flatMap((image) =>
    image?.digest === undefined || isSame(image, candidate) ? [] : [{ tag: image.tag, digest: image.digest }],
  );
  return left.filter(({ digest }, index) => left.findIndex((other) => other.digest === digest) === index);
}

/** Every image of the policy's repository that ran on its targets by the history, the latest first; other entries are ignored. */
function imagesOf(past: Past): Candidate[] {
  const { spec, status, findWorkload } = past;
  const history = (status.history ?? []).filter((entry) => {
    const { labels } = findWorkload(entry) ?? {};
    return (
      readImage(entry.to, past) !== undefined &&
      spec.targets.some((target) => matchesTarget(target, { ...entry, ...(labels && { labels }) }))
    );
  });
  return history.flatMap((entry, index) => {
    const { tag, digest } = entry;
    const before = entry.from === undefined ? undefined : beforeImage(entry.from, history.slice(index + 1), past);
    return [{ tag, ...(digest !== undefined && { digest }) }, ...(before === undefined ? [] : [before])];
  });
}

function beforeImage(from: string, older: readonly HistoryEntry[], past: Past): Candidate | undefined {
  const { tag, digest } = readImage(from, past) ?? {};
  if (tag === undefined) return undefined;
  const known = digest ?? older.find((entry) => entry.tag === tag)?.digest;
  return { tag, ...(known !== undefined && { digest: known }) };
}

function readImage(text: string, { spec, aliases }: Past): ImageReference | undefined {
  const image = tryParseImageReference(text, aliases);
  return image !== undefined && sameRepository(image.repository, spec.repository) ? image : undefined;
}

function isSame(a: Candidate, b: Candidate): boolean {
  if (a.digest !== undefined && b.digest !== undefined) return a.digest === b.digest;
  return a.tag === b.tag;
}

function isLeft(image: Candidate, { rejected = [] }: PolicyStatus): boolean {
  return rejected.some(({ tag, digest }) => (image.digest === undefined ? tag === image.tag : digest === image.digest));
}
