/** The holds that keep an image from its targets until a user releases it (`operator.technomad.dev/release`), for service, commands and dashboard. */
import { reasonsWith } from './guard-reasons.ts';
import type { Condition, PolicyStatus } from './policy-status.ts';
import type { Reason } from './reasons.ts';

/** The reasons that a release ends: of guards, and of a BaseImagePolicy. They are those of the condition Stalled and of `status.waiting`. */
const holdReasons: ReadonlySet<string> = new Set([...reasonsWith('endsByRelease'), 'BaseRejected' satisfies Reason]);

/** Why an image is held, and since when. */
export interface Hold {
  readonly reason: string;
  /** The start of the hold, ISO 8601. */
  readonly since: string;
}

/** The hold that a release of this time ends; undefined if there is none. Without a time, it is the hold that a release would end now. */
export function holdOf(status: PolicyStatus, released?: Date): Hold | undefined {
  const { conditions = [], waiting } = status;
  const found = conditions.find((condition) => condition.status === 'True' && isHold(condition, status, released));
  if (found !== undefined) return { reason: found.reason, since: found.lastTransitionTime };
  if (waiting === undefined || !isHoldingWait(status)) return undefined;
  const since = conditions.find(({ type }) => type === 'Reconciling')?.lastTransitionTime;
  return { reason: waiting.reason, since: waiting.since ?? since ?? waiting.until };
}

/** Whether the policy waits because of a hold, so that a release may end the wait. */
export function isHoldingWait({ waiting }: PolicyStatus): boolean {
  return waiting !== undefined && holdReasons.has(waiting.reason);
}

/** Whether a condition is a hold. Stalled may also be about the image that replaced a rejected one and failed as well. */
function isHold({ type, reason }: Condition, { latest, rejected = [] }: PolicyStatus, released?: Date): boolean {
  if (type === 'Held') return true;
  if (type !== 'Stalled') return false;
  if (holdReasons.has(reason)) return true;
  const isRejected = rejected.some(
    ({ digest, at }) => digest === latest?.digest && (released === undefined || Date.parse(at) <= released.getTime()),
  );
  return reason === 'RolloutFailed' && isRejected;
}

/** The time of a rejection or a hold. A release from a moment ago must not release a later one, even if its author has another clock. */
export function rejectionTime(now: Date, released: Date | undefined): Date {
  const isRecent = released !== undefined && released.getTime() < now.getTime() + 1_000;
  return isRecent ? new Date(Math.max(now.getTime(), released.getTime() + 1)) : now;
}
