import { parseDuration } from '../model/text.ts';
import type { RolloutSettings } from '../model/image-policy.ts';
import type { specSchema } from './v1-spec.ts';
import type { z } from 'zod';

const defaultTimeoutMs = 600_000;

/**
 * What follows a change; undefined where it is not watched. Policies that say nothing of it are watched and told of, and nothing is put back: so it was
 * with v1alpha1, and what its policies are now cannot be told from those that were written as v1 without the field.
 */
export function readRollout(rollout: z.output<typeof specSchema>['rollout']): RolloutSettings | undefined {
  if (rollout === undefined) return { timeoutMs: defaultTimeoutMs, onFailure: 'Ignore' };
  if (!rollout.watch) return undefined;
  return { timeoutMs: parseDuration(rollout.timeout) ?? defaultTimeoutMs, onFailure: rollout.onFailure };
}
