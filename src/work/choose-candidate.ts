import { PermanentError } from '../core/errors.ts';
import type { ImagePolicy, PolicySpec } from '../core/image-policy.ts';
import type { ImageSource } from '../core/image-source.ts';
import type { Outcome } from '../core/outcome.ts';
import { hasChanges, type Candidate } from '../core/plan-update.ts';
import { chooseTag, type ListTags } from './choose-tag.ts';
import { planWith, type PlanPorts } from './plan-with.ts';
import { formatTag, resolveCandidate, type HeadManifest, type Hint } from './resolve-candidate.ts';

export interface ChoosePorts {
  readonly headManifest: HeadManifest;
  readonly listTags: ListTags;
  /** Where a policy's images come from, and on whose behalf the registry is asked. */
  readonly sourceOf: (policy: ImagePolicy, spec: PolicySpec) => ImageSource;
  readonly now: () => number;
}

/** Where to look, and how much of it is believed. */
export interface ChoiceRequest {
  /** Without one the whole repository is listed. */
  readonly hint?: Hint;
  /** Whether a webhook announced the hint, so that the registry may still be about to show it. */
  readonly announced: boolean;
  /** What the registry said of the hint a moment ago. */
  readonly resolved?: Candidate;
}

/** The image that should run. */
export interface Chosen {
  readonly candidate: Candidate;
  /** Whether it is the best of all tags, not just the one that somebody pointed at. */
  readonly isComplete: boolean;
}

/** Why a policy does not want a tag, or undefined; costs no request. */
export function rejectHint(spec: PolicySpec, tag: string): Outcome | undefined {
  const why = spec.strategy.reject(tag);
  return why === undefined ? undefined : { kind: 'ignored', reason: 'NotSelected', message: why, tag };
}

/** The candidate of one look, or how the look ends without one; throws PermanentError where the repository holds none. */
export async function chooseCandidate(
  policy: ImagePolicy,
  spec: PolicySpec,
  request: ChoiceRequest,
  ports: ChoosePorts & PlanPorts,
  signal: AbortSignal,
): Promise<Chosen | Outcome> {
  const { hint } = request;
  const rejection = hint === undefined ? undefined : rejectHint(spec, hint.tag);
  if (rejection !== undefined) return rejection;
  const source = ports.sourceOf(policy, spec);
  const isComplete = hint === undefined || mayGoBack(spec);
  const tag = isComplete ? await chooseTag(spec.strategy, source, ports.listTags, signal, hint?.tag) : hint.tag;
  // A tag that would change nothing, whatever its digest, needs no question to the registry.
  if (spec.pin === 'Tag' && !hasChanges(planWith(policy, spec, { tag }, ports))) return { candidate: { tag }, isComplete };
  if (request.resolved?.tag === tag) return { candidate: request.resolved, isComplete };
  const isHinted = hint?.tag === tag;
  const candidate = await resolveCandidate(source, isHinted ? hint : { tag }, ports.headManifest, {
    announced: request.announced && isHinted,
    signal,
    now: ports.now,
  });
  if (candidate !== undefined) return { candidate, isComplete };
  const message = `the registry holds no ${formatTag(spec.repository, tag)}`;
  if (!isHinted) throw new PermanentError('NoMatchingTag', message);
  return { kind: 'ignored', reason: 'TagNotFound', message, tag };
}

/**
 * The choice once more, because what runs changed since the registry was asked. Where candidates have an order there is no need to; digests have none,
 * and a policy that may go back does not go by it: whoever changed what runs may have had the newer answer.
 */
export async function chooseAgain(
  chosen: Chosen,
  policy: ImagePolicy,
  spec: PolicySpec,
  ports: ChoosePorts,
  signal: AbortSignal,
): Promise<Chosen> {
  if (spec.pin !== 'Digest' && !mayGoBack(spec)) return chosen;
  const source = ports.sourceOf(policy, spec);
  const tag = mayGoBack(spec) ? await chooseTag(spec.strategy, source, ports.listTags, signal) : chosen.candidate.tag;
  const candidate = await resolveCandidate(source, { tag }, ports.headManifest, { announced: false, signal, now: ports.now });
  return candidate === undefined ? chosen : { ...chosen, candidate };
}

/** Then a pushed tag may be older than the best one, and only a look at all of them tells. */
function mayGoBack({ allowDowngrade, strategy }: PolicySpec): boolean {
  return allowDowngrade && strategy.movingTag === undefined;
}
