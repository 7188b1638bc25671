/**
 * Identifies the image of a policy that runs, whatever form the cluster stores. Admission, people and other tools may name the same image by its digest alone,
 * or by a tag and another digest. Other hosts of a registry and the defaults of a name are unified when they are parsed (`image-reference.ts`).
 */
import { type Candidate, type ImageReference, tryParseImageReference } from './image-reference.ts';
import { changesOf, fieldManager, type LastUpdate, lastUpdateOf, updatedTag } from './last-update.ts';
import type { PolicyStatus } from './policy-status.ts';
import { findContainer, type Workload } from './workload.ts';

/** The sources that assign tags to digests. */
export interface KnownImages {
  /** The image that a running one is compared with. */
  readonly candidate?: Candidate;
  /** The status of the policy, which remembers images. */
  readonly status?: PolicyStatus;
  /** The workload that runs the image. */
  readonly workload?: Workload | undefined;
  readonly container?: string;
}

/** The tag of a running image, `latest` if it has neither tag nor digest. Undefined for a digest whose tag is not known. */
export function runningTag({ tag, digest }: ImageReference, known: KnownImages): string | undefined {
  if (tag !== undefined || digest === undefined) return tag ?? 'latest';
  const { candidate, status = {}, workload, container = '' } = known;
  if (candidate?.digest === digest) return candidate.tag;
  const update = workload && lastUpdateOf(workload, container);
  return tagInRecord(digest, update, isOurs(known)) ?? tagInStatus(digest, status);
}

/** The tag of an image in its text form. Undefined if the text is not an image, or if its tag is not known. */
export function tagOfImage(image: string, known: KnownImages): string | undefined {
  const reference = tryParseImageReference(image);
  return reference && runningTag(reference, known);
}

/**
 * The digest of a running image as the policy knows it. If we wrote the image, it is the digest that was applied, because admission may have resolved the tag
 * to the digest of one platform. Undefined if neither the image nor our record has one.
 */
export function runningDigest({ digest }: Pick<ImageReference, 'digest'>, tag: string | undefined, known: KnownImages): string | undefined {
  const update = known.workload && lastUpdateOf(known.workload, known.container ?? '');
  const isRecorded = digest !== undefined && update !== undefined && isOurs(known) && updatedTag(update) === tag;
  return isRecorded && digest !== known.candidate?.digest ? (update.digest ?? digest) : digest;
}

/** Whether we wrote the image last. Then the image corresponds to our record, possibly rewritten by admission. */
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
