/** Refusals of rebases. */
import type { finalReasons } from '../../core/model/rebase-rules.ts';

/** Why an image is not rebased. `reason`: a stable word. `rules`: the names that `allow` must contain to rebase anyway; empty if nothing helps. */
export interface Refusal {
  readonly kind: 'refused';
  readonly reason: string;
  readonly message: string;
  readonly rules: readonly string[];
}

/** Creates a refusal that `allow` cannot override. */
export function refuse(reason: (typeof finalReasons)[number], message: string): Refusal {
  return { kind: 'refused', reason, message, rules: [] };
}

/** Whether a value is a refusal. */
export function isRefusal(value: object): value is Refusal {
  return 'kind' in value && value.kind === 'refused';
}
