/**
 * The image that all targets of a policy run, complete and available, and since when: what other policies follow (`plan/proven.ts`). A rollout that is complete once
 * stays complete, whatever fails later; this is about now.
 *
 * | the targets …                                          | the status                                         |
 * | ------------------------------------------------------ | -------------------------------------------------- |
 * | run one digest, all pods updated and available         | that digest, since a check has read that they do   |
 * | have been unavailable since, or have run another one,  | since they run it, available, as their status says |
 * |   though nobody has seen it                            |                                                    |
 * | run another digest, or are not complete or available   | none: whoever sees that first removes it           |
 *
 * Only a check of rollouts, which reads the workloads, begins the time, by the clock of the API server. Every writer ends it, and needs no clock for that.
 */
import { defined } from '../model/defined.ts';
import type { HealthyImage } from '../model/followed-status.ts';
import { isUsable, type ImagePolicy, type PolicySpec } from '../model/image-policy.ts';
import { sameRepository, tryParseImageReference } from '../model/image-reference.ts';
import type { PolicyStatus } from '../model/policy-status.ts';
import { matchesTarget } from '../model/resolve-target.ts';
import { runningDigest, runningTag } from '../model/running-image.ts';
import type { TargetSnapshot } from '../model/target-snapshot.ts';
import { cut, toSeconds } from '../model/text.ts';
import { maxLengths } from '../model/status-fields.ts';
import { formatWorkload, imagesOf, type Workload } from '../model/workload.ts';
import { isWatchedTarget } from './watched-images.ts';

/** The image that all targets run, complete and available, or the first reason why there is none. */
export type Health = HealthyNow | { readonly why: string };

interface HealthyNow {
  readonly image: Pick<HealthyImage, 'tag' | 'digest'>;
  /** When the last of them was complete and available, as far as their controllers say it; at the end of the second that they name. */
  readonly availableSince?: Date;
}

/** Finds the image that all targets run, complete and available, as the snapshot shows them. */
export function healthOf(
  { spec, status, generation }: ImagePolicy,
  { targets, aliases }: Pick<TargetSnapshot, 'targets' | 'aliases'>,
): Health {
  const unwatched = whyUnwatched(spec);
  if (unwatched !== undefined || !isUsable(spec)) return { why: unwatched ?? 'its spec cannot be used' };
  // With other targets, the time begins anew.
  if (status.observedGeneration !== generation) return { why: 'it has changed and has not been evaluated since' };
  const missing = spec.targets.find((target) => !targets.some((workload) => matchesTarget(target, workload)));
  if (missing !== undefined) return { why: 'a target does not exist' };
  if (!targets.some(({ rollout }) => rollout !== undefined)) return { why: 'none of its targets rolls out' };
  let image: HealthyNow['image'] | undefined;
  for (const workload of targets) {
    const incomplete = whyIncomplete(workload);
    if (incomplete !== undefined) return { why: incomplete };
    const images = imagesIn(workload, { spec, status, aliases });
    if (images.length === 0) return { why: `${formatWorkload(workload)} does not run its repository` };
    for (const one of images) {
      if (one.digest === undefined) return { why: `${formatWorkload(workload)} runs an image without a digest` };
      if (image !== undefined && image.digest !== one.digest) return { why: 'its targets run different images' };
      image ??= { digest: one.digest, ...defined({ tag: one.tag }) };
    }
  }
  if (image === undefined) return { why: 'it has no targets' };
  const { digest } = image;
  // An image counts as rejected even if it was so as a part of a set of which other images run now.
  if (status.rejected?.some((rejected) => rejected.digest === digest) === true) return { why: 'what it runs has been rejected' };
  const times = targets.map(({ rollout }) => Date.parse(rollout?.availableSince ?? '')).filter((time) => !Number.isNaN(time));
  return { image, ...(times.length > 0 && { availableSince: new Date(endOfSecond(Math.max(...times))) }) };
}

/** Why a policy never shows that its targets are healthy; undefined if it may. */
function whyUnwatched(spec: ImagePolicy['spec']): string | undefined {
  if (!isUsable(spec)) return 'its spec cannot be used';
  if (spec.suspended) return 'it is suspended';
  if (spec.rollout === undefined) return 'its rollouts are not watched';
  return spec.targets.some(({ fields }) => fields !== undefined)
    ? 'it writes fields of custom resources, whose pods are not known'
    : undefined;
}

/** Why not all pods of a workload are of its newest revision and available; undefined if they are, or if it is of a kind without rollouts. */
function whyIncomplete(workload: Workload): string | undefined {
  const { rollout, generation } = workload;
  if (rollout === undefined) return undefined;
  const { observedGeneration, wanted, updated, available, outdated } = rollout;
  const isComplete = observedGeneration >= generation && wanted > 0 && updated >= wanted && outdated === 0 && available >= wanted;
  return isComplete ? undefined : `${formatWorkload(workload)} is not complete and available`;
}

function imagesIn(
  workload: Workload,
  { spec, status, aliases }: { readonly spec: PolicySpec; readonly status: PolicyStatus } & Pick<TargetSnapshot, 'aliases'>,
): Partial<HealthyNow['image']>[] {
  return imagesOf(workload).flatMap(({ container: { name, image } }) => {
    const written = tryParseImageReference(image, aliases);
    if (written === undefined || !sameRepository(written.repository, spec.repository) || !isWatchedTarget(spec.targets, workload, name))
      return [];
    const known = { status, workload, container: name };
    const tag = runningTag(written, known);
    const digest = written.digest === undefined ? undefined : runningDigest(written, tag, known);
    return [defined({ tag, digest })];
  });
}

/** What a writer of the status knows besides the snapshot. */
export interface HealthCheck {
  /** Whether another policy follows this one; if none does, nobody needs to know. Undefined where other policies are not known: then nothing begins. */
  readonly isFollowed: boolean | undefined;
  /** When the targets were read from the API server, by its clock; undefined if they are only known from the caches. */
  readonly readAt?: Date | undefined;
}

/** The image for the status; undefined if there is none, or if its time cannot begin before the targets are read. */
export function nextHealthy(policy: ImagePolicy, snapshot: TargetSnapshot, { isFollowed, readAt }: HealthCheck): HealthyImage | undefined {
  const health = isFollowed === false ? { why: 'nobody follows it' } : healthOf(policy, snapshot);
  if ('why' in health) return undefined;
  const { healthy: before } = policy.status;
  const { image, availableSince } = health;
  const known = before?.digest === image.digest ? Date.parse(before.since) : readAt && endOfSecond(readAt.getTime());
  if (known === undefined || Number.isNaN(known)) return undefined;
  const since = Math.max(known, availableSince?.getTime() ?? 0);
  const tag = image.tag === undefined ? undefined : cut(image.tag, maxLengths.tag);
  return { ...defined({ tag }), digest: image.digest, since: toSeconds(new Date(Math.ceil(since / 1_000) * 1_000)) };
}

/** The API server and its controllers name their time in whole seconds, rounded down. The later end is meant, so that no time counts that has not passed. */
function endOfSecond(time: number): number {
  return Math.floor(time / 1_000) * 1_000 + 1_000;
}

/** The status without the image if the snapshot shows that it is not true any more. */
export function withoutDisproved(status: PolicyStatus, policy: ImagePolicy, snapshot: TargetSnapshot): PolicyStatus {
  const { healthy, ...others } = status;
  if (healthy === undefined) return status;
  const health = healthOf({ ...policy, status }, snapshot);
  return 'image' in health && health.image.digest === healthy.digest ? status : others;
}

/** Whether a check has to write another image than the status has: one that begins, has been interrupted, or has ended. */
export function isHealthOutdated(
  policy: ImagePolicy,
  snapshot: Pick<TargetSnapshot, 'targets' | 'aliases'>,
  isFollowed: boolean | undefined,
): boolean {
  if (isFollowed === undefined) return false;
  const { healthy } = policy.status;
  const health = isFollowed ? healthOf(policy, snapshot) : { why: 'nobody follows it' };
  if ('why' in health) return healthy !== undefined;
  return healthy?.digest !== health.image.digest || (health.availableSince?.getTime() ?? 0) > Date.parse(healthy.since);
}
