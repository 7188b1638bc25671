import type { Candidate } from '../model/image-reference.ts';
import type { ImagePolicy, PolicySpec } from '../model/image-policy.ts';
import { isNewerImage } from '../select/select-tag.ts';
import type { UpdatePlan } from './plan-update.ts';

/**
 * Whether a candidate named by a push or the like is the image that the policy selects of all tags, as far as can be known without listing them. Never true for
 * one that is older than the last selection or than the running image.
 */
export function isSelection(candidate: Candidate, spec: PolicySpec, { status }: ImagePolicy, plan: UpdatePlan): boolean {
  const { strategy } = spec;
  if (strategy.mutableTag !== undefined || strategy.isProven === true) return true;
  const before = status.latest;
  if (before !== undefined && strategy.reject(before.tag) === undefined)
    return candidate.tag === before.tag || isNewerImage(candidate, before, spec);
  return !isOlderThanRunning(plan);
}

/**
 * Whether the best tag in the registry is the image that the policy selects. Where images are ordered by creation time, a running image that is gone from the
 * registry stays selected, because nothing else records when it was created.
 */
export function isBestSelection({ strategy, allowDowngrade }: PolicySpec, plan: UpdatePlan): boolean {
  return strategy.withCreationTimes === undefined || allowDowngrade || !isOlderThanRunning(plan);
}

function isOlderThanRunning(plan: UpdatePlan): boolean {
  return plan.targets.some(({ unchanged }) => unchanged.some(({ reason }) => reason === 'OlderThanRunning'));
}
