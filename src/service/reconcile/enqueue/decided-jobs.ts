/** The jobs for promotions and holds that the status of a policy does not show as they are. */
import { wholeDigest } from '../../../core/model/companions.ts';
import { defined } from '../../../core/model/defined.ts';
import { isUsable, type ImagePolicy } from '../../../core/model/image-policy.ts';
import type { Reason } from '../../../core/model/reasons.ts';
import { holdOn, parsePromotion, promotable } from '../../../core/model/promotion.ts';
import { hashId } from '../../../core/model/push-event.ts';
import type { PolicyJob } from '../../queue/jobs.ts';

type DecidedJob = Pick<PolicyJob, 'source' | 'cause' | 'hint' | 'actions'>;

/** The waits of guards that come after the hold: with it, their image does not wait for them any more. */
const endedByHold: ReadonlySet<string> = new Set<Reason>(['Window', 'TooManyChanges', 'CheckPending', 'WavePending', 'WavePause']);

/** The job for a promotion of what waits, or for a hold that has begun or ended. */
export function decidedJob({ actions = {}, spec, status }: ImagePolicy, now: Date): DecidedJob | undefined {
  const { latest, conditions = [], waiting } = status;
  if (!isUsable(spec) || spec.suspended || latest === undefined) return undefined;
  const hint = { tag: latest.tag, ...defined({ digest: latest.digest }) };
  const isShown = conditions.some(({ type, reason }) => type === 'Held' && reason === 'OnHold');
  const isHeld = holdOn(latest, actions, now) !== undefined;
  if (isShown && isHeld) return undefined;
  const { hold, release = '', promote } = actions;
  // A promotion of another image, or of one that no followed policy runs, would change nothing.
  if (promote !== undefined && isPromotion(promote, promotable(status, actions)))
    return { source: 'Approval', cause: `promote:${promote}`, hint, actions };
  const isOutrun = isHeld && waiting !== undefined && endedByHold.has(waiting.reason);
  if (!isShown && !isOutrun) return undefined;
  const decided = hashId([JSON.stringify(hold ?? ''), release, promote ?? '', wholeDigest(latest) ?? latest.tag]);
  return { source: 'Request', cause: `${isShown ? 'hold-over' : 'hold'}:${decided}`, hint, actions };
}

/** Whether a promotion is of the image that can be promoted. */
function isPromotion(promote: string, found: ReturnType<typeof promotable>): boolean {
  return 'digest' in found && parsePromotion(promote)?.digest === found.digest;
}
