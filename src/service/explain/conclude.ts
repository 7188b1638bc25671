/** Makes the first sentence of `explain`: what the policy selects, or what a push would do. Pure. */
import type { Candidate } from '../../core/model/image-reference.ts';
import { tagOfImage } from '../../core/model/running-image.ts';
import type { TargetExplanation } from '../../core/plan/guard-plan.ts';
import { formatDuration } from '../../core/model/text.ts';
import type { PlannedNow, Pushed } from './plan-now.ts';

export type Planned = Exclude<PlannedNow, { why: string }>;

/** The name of a candidate: `1.4.0`, or `1.4.0@sha256:…` if the digest is known, with its companions. */
export function nameOf({ tag, digest, companions = [] }: Candidate): string {
  const own = `${tag}${digest === undefined ? '' : `@${digest}`}`;
  return companions.length === 0 ? own : `${own} with ${companions.map((one) => `${one.image}:${one.tag}@${one.digest}`).join(' and ')}`;
}

/** The fact that only the registry knows and the result of the push depends on; undefined if it depends on no such fact. */
export function unknownOf({ policy: { status }, spec, candidate, targets }: Planned, { digest }: Pushed): string | undefined {
  const isCandidate = (image: string) => tagOfImage(image, { candidate, status }) === candidate.tag;
  const all = targets.flatMap(({ unchanged }) => unchanged);
  if (spec.strategy.withCreationTimes !== undefined && !all.some(({ image }) => isCandidate(image)))
    return 'its image was created later than the running one, which only the registry knows';
  const runsTag = all.some(({ image, reason }) => reason === 'UpToDate' && isCandidate(image));
  if (spec.pin !== 'Digest' || digest !== undefined || !runsTag || targets.some(({ changes }) => changes.length > 0)) return undefined;
  return 'its digest is another one than that of the running image: add it to --push as @sha256:…';
}

/** Describes the result of a push that has not happened. */
export function describePush(planned: Planned, pushed: Pushed): string {
  const unknown = unknownOf(planned, pushed);
  const what = `a push of ${nameOf(pushed)}`;
  return unknown === undefined ? `${what} would change ${describeResult(planned)}` : `${what} changes something only if ${unknown}`;
}

function describeResult({ targets, pending, hold, candidate, allowed, spec }: Planned): string {
  if (pending !== undefined) {
    return pending.tag === candidate.tag
      ? `nothing until its digest has been known for ${formatDuration(spec.minAgeMs ?? 0)} (minAge)`
      : `nothing before ${pending.tag}, which is pending until ${pending.until} (minAge)`;
  }
  const changed = allowed.targets.flatMap(({ changes }) => changes).length;
  const wanted = targets.flatMap(({ changes }) => changes).length;
  if (changed === 0) return `nothing: ${whyNothing(targets, hold)}`;
  const all = `${wanted} ${wanted === 1 ? 'container' : 'containers'}`;
  return changed === wanted ? all : `${changed} of ${all}`;
}

function whyNothing(targets: readonly TargetExplanation[], hold: Planned['hold']): string {
  for (const { guards } of targets) for (const { result, reason, message } of guards) if (result !== 'pass') return `${reason}: ${message}`;
  if (hold !== undefined) return `${hold.reason}: ${hold.message}`;
  for (const { problem } of targets) if (problem !== undefined) return problem.message;
  const unchanged = targets.flatMap((target) => target.unchanged);
  const other = unchanged.find(({ reason }) => reason !== 'UpToDate');
  if (other !== undefined) return other.message;
  const [first] = unchanged;
  return first === undefined ? 'no target runs an image of the policy' : `${first.container} ${first.message}`;
}
