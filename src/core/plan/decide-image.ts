/**
 * Decides whether a running image is replaced by the candidate. Pure.
 *
 * | the container runs …                      | pin: Tag                       | pin: Digest                      |
 * | ----------------------------------------- | ------------------------------ | -------------------------------- |
 * | another repository                        | ignored                        | ignored                          |
 * | an older candidate                        | change                         | change                           |
 * | the candidate itself                      | no: UpToDate or Retagged       | change when the digest differs   |
 * | a newer candidate                         | no: OlderThanRunning           | keep: OlderThanRunning           |
 * | an equal candidate, earlier by name       | change, unless it is one image | change, unless it is one image   |
 * | an equal candidate, later by name         | no: UpToDate                   | keep: UpToDate                   |
 * | a digest that is known by a tag           | as that tag                    | as that tag                      |
 * | no candidate, of another track, or not    | no: OtherTrack                 | keep: OtherTrack                 |
 * |   comparable and of another policy, in a  |                                |                                  |
 * |   container that we never changed         |                                |                                  |
 * | no candidate, a lower version, or created | change                         | change                           |
 * |   earlier (newest)                        |                                |                                  |
 * | no candidate, a higher version (semver),  | no: OlderThanRunning           | keep: OlderThanRunning           |
 * |   or created later (newest)               |                                |                                  |
 * | no candidate, and neither the status nor  | change                         | change                           |
 * |   the workload records an earlier change  |                                |                                  |
 * | no candidate, we rolled back to it, or a  | change                         | change                           |
 * |   workload that was created again          |                                |                                  |
 * | no candidate otherwise                    | no: NotComparable              | keep: NotComparable              |
 *
 * With allowDowngrade, what would stay as OlderThanRunning is changed. With select.replace, exactly the tag that it names is changed. With select.proven, every
 * other digest is, unless the tags are versions and the candidate's is lower. A rebased image is compared as
 * the image that it was made from.
 */
import { compareBuild, parse } from 'semver';
import { defined } from '../model/defined.ts';
import type { PolicySpec } from '../model/image-policy.ts';
import { tryParseImageReference, type Candidate, type ImageReference } from '../model/image-reference.ts';
import { lastUpdateOf } from '../model/last-update.ts';
import { isRebasedTag, originTag } from '../model/rebased-tag.ts';
import type { PolicyStatus } from '../model/policy-status.ts';
import type { Reason } from '../model/reasons.ts';
import { runningDigest, runningTag } from '../model/running-image.ts';
import type { Workload } from '../model/workload.ts';
import { isNewerImage } from '../select/select-tag.ts';
import { areOtherTracks } from '../select/tag-track.ts';

/** The policy treats a container as before its first change. `left` is the tag from which it rolled back. */
export interface Start {
  readonly left?: string;
}

/** The policy and its records, with which a running image is compared. */
export interface Comparison {
  readonly spec: PolicySpec;
  readonly candidate: Candidate;
  /** Whether the policy has ever changed anything. */
  readonly hasApplied: boolean;
  /** Whether a workload records that the policy has changed the container. The status is written later, and may not contain the change yet. */
  readonly hasAppliedTo?: (workload: Workload, container: string) => boolean;
  /** Present if a container with this image counts as never changed: the policy rolled back to it from the tag `left`, or the workload was created again. */
  readonly startsOver?: (workload: Workload, container: string, image: string) => Start | undefined;
  /** The digest of a tag when the policy selected or applied it, if it is known. */
  readonly digestOf?: (tag: string) => string | undefined;
  /** The status, which remembers images. A digest that is recorded with a tag counts as that tag. */
  readonly status?: PolicyStatus;
  /** The tracks of tags; absent if every tag may be replaced. */
  readonly tracks?: Tracks;
}

/** Which containers a policy has not changed yet, and which tags may belong to another policy. */
export interface Tracks {
  /** Whether the policy has ever changed the container. */
  readonly isOwn: (workload: Workload, container: string) => boolean;
  /** The name of another policy that follows the tag on the workload. */
  readonly followerOf: (workload: Workload, tag: string) => string | undefined;
  /** The name of another policy that selects tags of this form for the container. */
  readonly selectorOf: (workload: Workload, container: string, tag: string) => string | undefined;
}

/** Whether the running image is replaced, or else why not. */
export type ImageDecision = 'change' | { readonly reason: Reason; readonly message: string };

/** The place of a running image. */
export interface ImageLocation {
  readonly workload: Workload;
  readonly container: string;
  readonly image: string;
  /** Whether every tag may be replaced: the policy names the container, or takes over every track. */
  readonly isNamed?: boolean;
}

/** Decides whether an image is replaced. */
export function decideImage(written: ImageReference, where: ImageLocation, input: Comparison): ImageDecision {
  const { candidate, status } = input;
  const known = { candidate, workload: where.workload, container: where.container, ...defined({ status }) };
  const tag = runningTag(written, known);
  const digest = runningDigest(written, tag, known);
  const decision = decideKnown({ ...written, ...defined({ digest }) }, tag, where, input);
  const isNamed = written.tag !== undefined || written.digest === undefined || tag === undefined || decision === 'change';
  return isNamed ? decision : { ...decision, message: `${decision.message} (${tag} by its digest)` };
}

/** Decides about an image with its known tag and digest. */
function decideKnown(running: ImageReference, tag: string | undefined, where: ImageLocation, input: Comparison): ImageDecision {
  const { spec, candidate } = input;
  if (spec.strategy.isProven === true) return decideProven(running, tag, input);
  if (spec.strategy.replaces !== undefined) return decideReplacement(running, tag, input);
  if (tag === undefined || tag === candidate.tag || !isRebasedTag(tag)) return compareImage(running, tag, where, input);
  const { repository, name } = running;
  const origin = originTag(tag);
  const digest = originDigest(where, origin);
  const decision = compareImage({ repository, name, tag: origin, ...defined({ digest }) }, origin, where, input);
  // The origin of a rebased image may not be recorded. A rebased image of the same tag is not reverted for that.
  const isKept = decision === 'change' && digest === undefined && origin === candidate.tag && spec.strategy.mutableTag === undefined;
  if (decision === 'change' && !isKept) return 'change';
  const reason = decision === 'change' ? 'UpToDate' : decision.reason;
  const why = decision === 'change' ? `already runs ${origin}` : decision.message;
  return { reason, message: `${why} (as ${tag}, on a newer base)` };
}

/** The digest of the image from which a rebased one was made. It is recorded only if the rebased image directly replaced that image. */
function originDigest({ workload, container, image }: ImageLocation, origin: string): string | undefined {
  const update = lastUpdateOf(workload, container);
  const from = update?.to === image ? tryParseImageReference(update.from) : undefined;
  return from?.tag === origin ? from.digest : undefined;
}

/** The digest of other policies replaces any other one. Names of tags decide only where both are versions, of which none goes backwards. */
function decideProven(running: ImageReference, tag: string | undefined, { spec, candidate }: Comparison): ImageDecision {
  if (running.digest === candidate.digest) return { reason: 'UpToDate', message: `already runs ${candidate.tag}` };
  const order = compareVersions(spec.strategy, tag, candidate.tag);
  return tag !== undefined && order !== undefined && order > 0 ? older(tag, spec, candidate) : 'change';
}

function decideReplacement(running: ImageReference, tag: string | undefined, { spec, candidate }: Comparison): ImageDecision {
  if (tag === candidate.tag) return compareSameTag(running, tag, spec, candidate);
  if (tag === spec.strategy.replaces) return 'change';
  const message = `${tag ?? running.digest ?? running.name} runs; the policy replaces only ${spec.strategy.replaces} by ${candidate.tag}`;
  return { reason: 'NotComparable', message };
}

function compareImage(running: ImageReference, tag: string | undefined, where: ImageLocation, input: Comparison): ImageDecision {
  const { workload, container, image } = where;
  const { spec, candidate, hasApplied, hasAppliedTo, startsOver, digestOf = () => undefined } = input;
  const start = startsOver?.(workload, container, image);
  const isCandidate = tag !== undefined && spec.strategy.reject(tag) === undefined;
  if (isCandidate) {
    const rank = spec.strategy.compare(tag, candidate.tag);
    if (rank < 0) return 'change';
    if (rank > 0) return older(tag, spec, candidate);
    if (tag === candidate.tag) return compareSameTag(running, tag, spec, candidate);
    const digest = running.digest ?? digestOf(tag);
    if (isNewerImage(candidate, { tag, ...defined({ digest }) }, spec)) return 'change';
    return { reason: 'UpToDate', message: `already runs ${tag}, which ranks equal with ${candidate.tag}` };
  }
  const order = compareOutside(spec, tag ?? running.digest, candidate.tag);
  const otherTrack = start === undefined && tag !== undefined ? findOtherTrack(tag, order !== undefined, where, input) : undefined;
  if (otherTrack !== undefined) return { reason: 'OtherTrack', message: otherTrack };
  if (order === 'older') return 'change';
  if (order === 'newer') return older(tag ?? running.digest ?? '', spec, candidate);
  const isFirst = !hasApplied && hasAppliedTo?.(workload, container) !== true;
  if (isFirst || (start !== undefined && mayFollow(start, spec, candidate))) return 'change';
  const what = tag ?? running.digest ?? running.name;
  return {
    reason: 'NotComparable',
    message: `"${what}" runs, which the policy does not select${because(spec, tag)}: change the image by hand once, or the policy`,
  };
}

/** Why a first change must not replace a tag that may belong to another policy; undefined if it may. A tag that is not comparable belongs to the policy that selects it. */
function findOtherTrack(
  tag: string,
  isComparable: boolean,
  { workload, container, isNamed }: ImageLocation,
  { candidate, tracks }: Comparison,
): string | undefined {
  if (tracks === undefined || isNamed === true || tracks.isOwn(workload, container)) return undefined;
  const stays = (why: string) =>
    `${container} runs ${tag}, which ${why}: if it is to be replaced, name it in containers, or write takeOver: true`;
  const follower = tracks.followerOf(workload, tag);
  if (follower !== undefined) return stays(`${follower} follows`);
  const isOther = areOtherTracks(tag, candidate.tag);
  const owner = isOther || !isComparable ? tracks.selectorOf(workload, container, tag) : undefined;
  if (isOther) return stays(`is of another track than ${candidate.tag}${owner === undefined ? '' : `, that of ${owner}`}`);
  return owner === undefined ? undefined : stays(`${owner} selects`);
}

/** Whether a change may follow the tag that was left. With creation times, no older image may. A tag that is no candidate cannot be compared. */
function mayFollow({ left }: Start, { strategy }: PolicySpec, candidate: Candidate): boolean {
  return (
    strategy.withCreationTimes === undefined ||
    left === undefined ||
    strategy.reject(left) !== undefined ||
    strategy.compare(candidate.tag, left) >= 0
  );
}

/** The reason for the message if the tag is rejected for something other than its name. */
function because({ strategy }: PolicySpec, tag: string | undefined): string {
  const why = strategy.withCreationTimes === undefined || tag === undefined ? undefined : strategy.reject(tag);
  return why === undefined ? '' : ` (${why})`;
}

function compareSameTag(running: ImageReference, tag: string, spec: PolicySpec, candidate: Candidate): ImageDecision {
  const upToDate = { reason: 'UpToDate', message: `already runs ${tag}` } as const;
  if (candidate.digest === undefined || running.digest === candidate.digest) return upToDate;
  if (spec.pin === 'Digest') return 'change';
  if (running.digest === undefined) return upToDate;
  return { reason: 'Retagged', message: `${tag} moved to ${candidate.digest}; the policy pins tags, so nothing changes` };
}

function older(tag: string, spec: PolicySpec, candidate: Candidate): ImageDecision {
  if (spec.allowDowngrade) return 'change';
  return { reason: 'OlderThanRunning', message: `${candidate.tag} is older than ${tag}, which runs` };
}

/** Whether a running tag or digest outside the candidates is older or newer than the candidate: by creation times, or as versions; undefined if not known. */
function compareOutside({ strategy }: PolicySpec, running: string | undefined, candidate: string): 'older' | 'newer' | undefined {
  const ages = running === undefined ? undefined : strategy.compareAges?.(running, candidate);
  if (ages !== undefined) return readOrder(ages);
  const order = readOrder(compareVersions(strategy, running, candidate));
  // A strategy that does not order by version may still change to a higher version, but not back to a lower one.
  return order === 'newer' && strategy.id !== 'semver' ? undefined : order;
}

function readOrder(order: number | undefined): 'older' | 'newer' | undefined {
  if (order === undefined || order === 0) return undefined;
  return order < 0 ? 'older' : 'newer';
}

/** Compares two tags as versions, by the part that the policy compares; undefined if either is not a version. */
function compareVersions(strategy: PolicySpec['strategy'], running: string | undefined, candidate: string): number | undefined {
  const read = (tag: string | undefined) => parse(tag === undefined || strategy.partOf === undefined ? tag : strategy.partOf(tag));
  const [a, b] = [read(running), read(candidate)];
  return a === null || b === null ? undefined : compareBuild(a, b);
}
