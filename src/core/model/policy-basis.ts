/**
 * What a plan is made from, of a policy beside its spec: the actions of users and a part of the status. Neither has a generation, so a plan counts only while these
 * parts are the same. The rest of the status describes what was done, and changes with most writes of our own: it must not cause another plan.
 */
import type { ImagePolicy } from './image-policy.ts';
import type { PolicyActions } from './policy-actions.ts';
import type { PolicyStatus } from './policy-status.ts';
import { isSameJson } from './untyped.ts';

/** For each field, what of it decides; false: nothing does. */
type Deciding<T> = { readonly [Field in keyof T]-?: false | ((value: NonNullable<T[Field]>) => unknown) };

const whole = (value: unknown) => value;

/** Complete by its type: a new field does not compile until it is listed. */
const decidingStatus: Deciding<PolicyStatus> = {
  observedGeneration: false,
  conditions: false,
  // Its digest is that of its tag, as far as the policy knows.
  latest: ({ tag, digest }) => ({ tag, digest }),
  trigger: false,
  lastCheckTime: false,
  lastHandledRequest: false,
  lastHandledRollback: whole,
  rollback: whole,
  waiting: whole,
  running: false,
  targets: false,
  targetCounts: false,
  // The pause between two waves.
  rollouts: ({ lastDoneAt }) => lastDoneAt,
  lastAppliedTag: whole,
  history: (entries) => entries.map((entry) => without(entry, 'rollbackRefused')),
  rejected: (images) => images.map((image) => without(image, 'message')),
  reverted: whole,
  pendingApproval: whole,
};

const decidingActions: Deciding<PolicyActions> = { approve: whole, rollbackTo: whole, release: whole, requestedAt: false };

/** What decides, beside the spec. */
export function decidingParts({ actions = {}, status }: Pick<ImagePolicy, 'actions' | 'status'>): Readonly<Record<string, unknown>> {
  return { ...partsOf(actions, decidingActions), ...partsOf(status, decidingStatus) };
}

/** Whether a plan that was made from one of them would be made from the other as well, as far as the spec is the same. */
export function decideAlike(a: Pick<ImagePolicy, 'actions' | 'status'>, b: Pick<ImagePolicy, 'actions' | 'status'>): boolean {
  return (a.status === b.status && a.actions === b.actions) || isSameJson(decidingParts(a), decidingParts(b));
}

function partsOf<T extends object>(value: T, deciding: Deciding<T>): Record<string, unknown> {
  const parts: Record<string, unknown> = {};
  for (const field in deciding) {
    const [choose, present] = [deciding[field], value[field]];
    if (choose !== false && present !== undefined && present !== null) parts[field] = choose(present);
  }
  return parts;
}

function without<T extends object, Field extends keyof T>(value: T, field: Field): Omit<T, Field> {
  const { [field]: _, ...others } = value;
  return others;
}
