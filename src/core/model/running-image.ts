/**
 * Which image of a policy a running one is, in whatever form the cluster stores it: admission, people and other tools may name the same image by its digest alone,
 * or by a tag and another digest. Other hosts of a registry and the defaults of a name are the same when they are parsed (`image-reference.ts`).
 */
import { type Candidate, type ImageReference, tryParseImageReference } from './image-reference.ts';
import { changesOf, fieldManager, type LastUpdate, lastUpdateOf, updatedTag } from './last-update.ts';
import type { PolicyStatus } from './policy-status.ts';
import { findContainer, type Workload } from './workload.ts';

/** What names images by tag and digest. */
export interface KnownImages {
  /** The image that a running one is compared with. */
  readonly candidate?: Candidate;
  /** The policy's memory. */
  readonly status?: PolicyStatus;
  /** Where the image runs. */
  readonly workload?: Workload | undefined;
  readonly container?: string;
}

/** The tag of a running image, `latest` where it has neither tag nor digest; undefined for a digest that nothing knows by a tag. */
export function runningTag({ tag, digest }: Pick<ImageReference, 'tag' | 'digest'>, known: KnownImages): string | undefined {
  if (tag !== undefined || digest === undefined) return tag ?? 'latest';
  const { candidate, status = {}, workload, container = '' } = known;
  if (candidate?.digest === digest) return candidate.tag;
  const update = workload && lastUpdateOf(workload, container);
  return tagInRecord(digest, update, isOurs(known)) ?? tagInStatus(digest, status);
}

/** The same for the text of an image; undefined also where that is none. */
export function tagOfImage(image: string, known: KnownImages): string | undefined {
  const reference = tryParseImageReference(image);
  return reference && runningTag(reference, known);
}

/**
 * The digest of a running image as the policy knows it: where the image is ours, the digest that was applied. Admission may have resolved the tag to the digest
 * of one platform. Undefined where neither the image nor our record names one.
 */
export function runningDigest({ digest }: Pick<ImageReference, 'digest'>, tag: string | undefined, known: KnownImages): string | undefined {
  const update = known.workload && lastUpdateOf(known.workload, known.container ?? '');
  const isRecorded = digest !== undefined && update !== undefined && isOurs(known) && updatedTag(update) === tag;
  return isRecorded && digest !== known.candidate?.digest ? (update.digest ?? digest) : digest;
}

/** Whoever wrote the image last also wrote the record, so the image is what the cluster made of the recorded one. */
function isOurs({ workload, container = '' }: KnownImages): boolean {
  return workload !== undefined && findContainer(workload, container)?.imageOwner === fieldManager;
}

function tagInRecord(digest: string, update: LastUpdate | undefined, isWritten: boolean): string | undefined {
  if (update === undefined) return undefined;
  if (isWritten && updatedTag(update) !== '') return updatedTag(update);
  const changes = [{ tag: updatedTag(update), digest: tryParseImageReference(update.to)?.digest }, ...changesOf(update)];
  return [...changes, tryParseImageReference(update.from)].find((one) => one?.digest === digest && one.tag)?.tag;
}

function tagInStatus(digest: string, { latest, waiting, pendingApproval, history = [], rejected = [] }: PolicyStatus): string | undefined {
  const changed = history.flatMap(({ tag, to, from = '', ...change }) => [
    { tag, digest: change.digest },
    { tag, digest: tryParseImageReference(to)?.digest },
    tryParseImageReference(from),
  ]);
  return [latest, ...changed, pendingApproval, waiting, ...rejected].find((one) => one?.digest === digest && one.tag)?.tag;
}
