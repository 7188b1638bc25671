/**
 * Promotions and holds: what somebody has decided about one policy. A promotion lets one digest pass before it is proven, and past a hold that began before. A hold
 * keeps the policy at what it runs; rollbacks go on. Pure.
 *
 * | the image …                                        | on hold | promoted before the hold | promoted since |
 * | -------------------------------------------------- | ------- | ------------------------ | -------------- |
 * | is proven, or the policy follows no other one      | stays   | stays                    | is applied     |
 * | is not proven, and at least one followed policy    | stays   | stays                    | is applied     |
 * |   runs it, complete and available                  |         |                          |                |
 * | is run by no followed policy, complete and available | stays | stays                    | stays          |
 */
import { defined } from './defined.ts';
import { wholeDigest } from './companions.ts';
import type { Candidate } from './image-reference.ts';
import { holdAnnotation, type NamedHold } from './named-hold.ts';
import { maxClockDifferenceMs } from './named-approvals.ts';
import { parseApproval, releaseTime, type PolicyActions } from './policy-actions.ts';
import type { PolicyStatus } from './policy-status.ts';
import { listFew, readTime } from './text.ts';
import type { Followed } from './followed-status.ts';
import { policyKey } from './image-policy.ts';

type Whole = Pick<Candidate, 'digest' | 'setDigest'>;

/** A promotion: the image, and when it was promoted, as its author says. */
interface Promotion {
  readonly tag: string;
  readonly digest: string;
  readonly at?: Date;
}

/** The promotion that an annotation requests: `TAG@sha256:… TIME`; undefined for any other text. */
export function parsePromotion(value: string | undefined): Promotion | undefined {
  const [image, time = ''] = (value ?? '').split(' ');
  const found = parseApproval(image);
  const at = readTime(time);
  return found && { ...found, ...defined({ at }) };
}

/** The value of a promotion that is requested now. It counts for a hold that began before, also if that was by another clock. */
export function promotionValue({ tag, digest }: Promotable, { hold }: PolicyActions = {}, now: Date): string {
  const since = Date.parse(hold?.at ?? '');
  const isRecent = since - now.getTime() < maxClockDifferenceMs;
  return `${tag}@${digest} ${new Date(isRecent ? Math.max(now.getTime(), since) : now.getTime()).toISOString()}`;
}

/** Whether exactly this digest is promoted. Its tag does not matter: the digest travels. */
export function promotionOf({ promote }: PolicyActions = {}, image: Whole): Promotion | undefined {
  const promotion = parsePromotion(promote);
  return promotion !== undefined && promotion.digest === wholeDigest(image) ? promotion : undefined;
}

/** The hold that keeps an image from being applied; undefined if there is none, if it was released, or if the image was promoted since it began. */
export function holdOn(image: Whole, actions: PolicyActions = {}, now: Date): NamedHold | undefined {
  const { hold } = actions;
  if (hold === undefined) return undefined;
  // Without a time, nothing is known to be later.
  const since = Date.parse(hold.at ?? '');
  if (Number.isNaN(since)) return hold;
  const [released, promoted] = [releaseTime(actions), promotionOf(actions, image)?.at];
  const isOver = (at: Date | undefined, latest: number) => at !== undefined && at.getTime() >= since && at.getTime() <= latest;
  // A promotion in the future would also pass holds that begin later.
  return isOver(released, now.getTime()) || isOver(promoted, now.getTime() + maxClockDifferenceMs) ? undefined : hold;
}

/** Whether at least one of the followed policies runs an image. */
export function runsSomewhere({ digest }: Candidate, policies: readonly Followed[]): boolean {
  return digest !== undefined && policies.some((one) => one.digest === digest);
}

/** An image that waits, and may be promoted. */
export interface Promotable {
  readonly tag: string;
  readonly digest: string;
}

/** The image of a policy that a promotion would let go, as the status says it; otherwise why there is none. */
export function promotable(
  { conditions = [], latest, waiting, follows = [] }: PolicyStatus,
  { hold }: PolicyActions = {},
): Promotable | { readonly why: string } {
  const says = (reason: string) => waiting?.reason === reason || conditions.some((one) => one.reason === reason && one.status === 'True');
  const isUnproven = says('NotProven') || conditions.some(({ type, reason }) => type === 'Ready' && reason === 'NotProven');
  if (!isUnproven && !says('OnHold')) return { why: 'no image waits for its proof, or because of a hold' };
  if (says('OnHold') && hold !== undefined && hold.at === undefined)
    return { why: `the annotation ${holdAnnotation} does not begin with a time: remove it to end the hold` };
  const digest = latest && wholeDigest(latest);
  if (latest === undefined || digest === undefined)
    return { why: 'nothing is selected yet: the policies that it follows run no common image' };
  if (isUnproven && !runsSomewhere(latest, follows))
    return { why: `none of the policies that it follows runs ${latest.tag}, complete and available: ${listFew(follows, policyKey)}` };
  return { tag: latest.tag, digest };
}
