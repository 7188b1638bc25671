import type { PolicySpec } from '../model/image-policy.ts';
import {
  sameRepository,
  tryParseImageReference,
  type ImageReference,
  type RegistryAliases,
  type Candidate,
} from '../model/image-reference.ts';
import type { HistoryEntry, PolicyStatus } from '../model/policy-status.ts';
import { isMeant, type WorkloadView } from '../model/resolve-target.ts';

/** A policy with what is known of its targets, and under which names registries are known. */
export interface Past extends Pick<WorkloadView, 'findWorkload'> {
  readonly spec: Pick<PolicySpec, 'repository' | 'targets'>;
  readonly status: PolicyStatus;
  readonly aliases: RegistryAliases;
}

/**
 * The image that `previous` or a tag stands for, by the history: `previous` is the latest that ran before what was applied last and has not been left or
 * failed since. A tag that the history does not know stands for itself. Undefined where there was nothing before.
 */
export function rollbackImage(past: Past, wanted: string): Candidate | undefined {
  const known = imagesOf(past);
  if (wanted !== 'previous') return known.find(({ tag }) => tag === wanted) ?? { tag: wanted };
  const [current, ...earlier] = known;
  return earlier.find((image) => current !== undefined && !isSame(image, current) && !isLeft(image, past.status));
}

/** What a rollback leaves: what was applied last, and what is selected; as far as their digests are known. */
export function leftImages(past: Past, candidate: Candidate): Required<Pick<Candidate, 'tag' | 'digest'>>[] {
  const [current] = imagesOf(past);
  const left = [current, past.status.latest].flatMap((image) =>
    image?.digest === undefined || isSame(image, candidate) ? [] : [{ tag: image.tag, digest: image.digest }],
  );
  return left.filter(({ digest }, index) => left.findIndex((other) => other.digest === digest) === index);
}

/** Everything of the policy's repository that ran on its targets by the history, the latest first; what else the history says does not count. */
function imagesOf(past: Past): Candidate[] {
  const { spec, status, findWorkload } = past;
  const history = (status.history ?? []).filter((entry) => {
    const { labels } = findWorkload(entry) ?? {};
    return (
      readImage(entry.to, past) !== undefined && spec.targets.some((target) => isMeant(target, { ...entry, ...(labels && { labels }) }))
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
