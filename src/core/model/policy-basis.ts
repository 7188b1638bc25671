/**
 * The parts of a policy besides its spec from which a plan is made: the actions of users, and a part of the status. They have no generation, so a plan is valid
 * only while they are the same. The rest of the status describes results, and changes with most of our own writes, so it must not cause another plan.
 */
import type { ImagePolicy } from './image-policy.ts';
import type { PolicyActions } from './policy-actions.ts';
import type { PolicyStatus } from './policy-status.ts';
import { isSameJson } from './untyped.ts';

/** A function for each field, which returns the part that a plan depends on; false if a plan depends on no part of it. */
type Deciding<T> = { readonly [Field in keyof T]-?: false | ((value: NonNullable<T[Field]>) => unknown) };

const whole = (value: unknown) => value;

/** A new field of the status does not compile until it is listed here. */
const decidingStatus: Deciding<PolicyStatus> = {
  observedGeneration: false,
  conditions: false,
  // The tag and its digest, as far as the policy knows it.
  latest: ({ tag, digest, setDigest }) => ({ tag, digest, setDigest }),
  trigger: false,
  lastCheckTime: false,
  lastHandledRequest: false,
  lastHandledRollback: whole,
  lastRollbackProblem: false,
  lastHandledRejection: whole,
  rollback: whole,
  waiting: whole,
  refused: false,
  announced: false,
  running: false,
  targets: false,
  targetCounts: false,
  // The time from which the pause between two waves counts.
  rollouts: ({ lastDoneAt }) => lastDoneAt,
  lastAppliedTag: whole,
  history: (entries) => entries.map((entry) => without(entry, 'rollbackRefused')),
  rejected: (images) => images.map((image) => without(image, 'message')),
  incomplete: (images) => images.map((image) => without(image, 'missing')),
  reverted: whole,
  checks: (records) => records.map(({ id, state }) => ({ id, state })),
  // The evidence is read again for each plan.
  vulnerabilities: false,
  pendingApproval: whole,
  approvals: whole,
  healthy: false,
  follows: false,
};

const decidingActions: Deciding<PolicyActions> = {
  approve: whole,
  reject: whole,
  rollbackTo: whole,
  release: whole,
  requestedAt: false,
  approvals: whole,
  promote: whole,
  hold: whole,
};

/** The parts of a policy besides its spec that a plan depends on. */
function decidingParts({ actions = {}, status }: Pick<ImagePolicy, 'actions' | 'status'>): Readonly<Record<string, unknown>> {
  return { ...partsOf(actions, decidingActions), ...partsOf(status, decidingStatus) };
}

/** Whether two states of a policy give the same plan, if their specs are the same. */
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
