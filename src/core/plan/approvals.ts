/**
 * Counts the approvals of a policy that asks for several people. An approval counts for exactly one image, from the time at which that image became pending, and
 * until the policy is changed. All that count must have been given within `within`: from when the first was given, as its author says, until the service has seen
 * the last. So an author who writes another time only shortens the time that is left.
 */
import { defined } from '../model/defined.ts';
import { hashId } from '../model/push-event.ts';
import type { ImagePolicy, PolicySpec, ApprovalRules } from '../model/image-policy.ts';
import { maxClockDifferenceMs, type NamedApproval } from '../model/named-approvals.ts';
import type { ApprovalRound, SeenApproval, UncountedApproval } from '../model/approval-round.ts';
import type { PolicyActions } from '../model/policy-actions.ts';

/** The parts of a policy of either kind that decide about its approvals. */
export interface Approvable extends Partial<Pick<ImagePolicy, 'actions' | 'editedBy' | 'generation'>> {
  readonly spec: Pick<PolicySpec, 'approvals'>;
  readonly status?: { readonly approvals?: ApprovalRound };
}

export interface ApprovalCount {
  /** The number of people who have to approve. */
  readonly required: number;
  readonly counted: readonly SeenApproval[];
  readonly uncounted: readonly UncountedApproval[];
  readonly isEnough: boolean;
  /** When the first of the counted approvals ends if the others do not come; RFC 3339. */
  readonly until?: string;
}

type Image = { readonly tag: string; readonly digest?: string };

/** Why an approval does not count, for people. */
export const whyUncounted: Readonly<Record<UncountedApproval['why'], string>> = {
  Expired: 'was given too long ago',
  Earlier: 'was given before this image waited, or before the policy was changed',
  Future: 'names a time in the future',
  Author: 'is that of who last changed the policy',
  AuthorUnknown: 'cannot count, because the policy does not say who last changed it',
};

/** Counts the approvals of an image; undefined if the policy does not ask for several people. */
export function countApprovals(policy: Approvable, image: Image, now: Date): ApprovalCount | undefined {
  const { approvals: rules } = policy.spec;
  if (rules === undefined) return undefined;
  const round = roundOf(policy, image);
  const found = approvalsOf(policy, image).map((approval) => ({ approval, why: whyNot(approval, { policy, rules, round, now }) }));
  const valid = found.flatMap(({ approval, why }) => (why === undefined ? [withSight(approval, round, now)] : []));
  const enough = valid.map((first) => within(valid, first, rules)).find((some) => some.length >= rules.count);
  const isLive = ({ at }: SeenApproval) => Date.parse(at) + rules.withinMs > now.getTime();
  const counted = enough ?? valid.filter(isLive);
  const expired = enough === undefined ? valid.filter((one) => !isLive(one)) : [];
  return {
    required: rules.count,
    counted,
    uncounted: [
      ...found.flatMap(({ approval: { user, at }, why }) => (why === undefined ? [] : [{ user, at, why }])),
      ...expired.map(({ user, at }) => ({ user, at, why: 'Expired' as const })),
    ],
    isEnough: enough !== undefined,
    ...(enough === undefined && counted.length > 0 && { until: endOf(counted, rules) }),
  };
}

/** The approvals of the image with this tag and digest. */
function approvalsOf({ actions }: Pick<Approvable, 'actions'>, { tag, digest }: Image): readonly NamedApproval[] {
  return (actions?.approvals ?? []).filter((one) => digest !== undefined && one.tag === tag && one.digest === digest);
}

/** The time in which approvals of this image count; undefined if it is not pending, or the policy was changed since it was. */
function roundOf({ status, generation }: Approvable, { tag, digest }: Image): ApprovalRound | undefined {
  const round = status?.approvals;
  return round !== undefined && round.tag === tag && round.digest === digest && round.generation === generation ? round : undefined;
}

/** The approvals of an image after a reconcile. They begin when the image becomes pending, and end with the image and with a change of the policy. */
export function nextRound(
  policy: Approvable & Pick<ImagePolicy, 'generation'>,
  { tag, digest }: Required<Image>,
  isPending: boolean,
  now: Date,
): ApprovalRound | undefined {
  const round = roundOf(policy, { tag, digest });
  const count = countApprovals(policy, { tag, digest }, now);
  if (count === undefined || (round === undefined && !isPending)) return undefined;
  const { required, counted, uncounted, until } = count;
  return {
    tag,
    digest,
    since: round?.since ?? now.toISOString(),
    generation: policy.generation,
    required,
    ...(counted.length > 0 && { given: [...counted] }),
    ...(uncounted.length > 0 && { uncounted: [...uncounted] }),
    ...defined({ until }),
  };
}

/** Identifies the approvals of a pending image that the status does not show as they are: given, or taken back. Undefined if it shows all of them. */
export function unseenApprovals(actions: PolicyActions, { approvals, pendingApproval }: Waiting): string | undefined {
  if (approvals === undefined || pendingApproval === undefined) return undefined;
  const found = approvalsOf({ actions }, approvals).map(keyOf);
  const shown = new Set([...(approvals.given ?? []), ...(approvals.uncounted ?? [])].map(keyOf));
  if (found.length === shown.size && found.every((key) => shown.has(key))) return undefined;
  return `approvals:${approvals.digest}:${hashId([...found, 'and not', ...shown])}`;
}

/** Identifies approvals that the status counts although they were taken back; undefined if there are none. */
export function withdrawnApprovals(actions: PolicyActions, { approvals }: Waiting): string | undefined {
  if (approvals === undefined) return undefined;
  const found = new Set(approvalsOf({ actions }, approvals).map(keyOf));
  const gone = (approvals.given ?? []).map(keyOf).filter((key) => !found.has(key));
  return gone.length === 0 ? undefined : `approvals-gone:${approvals.digest}:${hashId(gone)}`;
}

/** Identifies the end of approvals that came before there were enough; undefined if none has ended. */
export function endedRound(
  { approvals: { digest, until } = {} }: { readonly approvals?: Partial<ApprovalRound> },
  now: Date,
): string | undefined {
  if (digest === undefined || until === undefined || Date.parse(until) > now.getTime()) return undefined;
  return `approvals-end:${digest}:${until}`;
}

/** The parts of a status that say what waits for approval, and who has approved it. */
interface Waiting {
  readonly approvals?: ApprovalRound;
  readonly pendingApproval?: Image;
}

function keyOf({ user, at }: { readonly user: string; readonly at: string }): string {
  return `${at} ${user}`;
}

function whyNot(
  { at, user }: NamedApproval,
  of: { readonly policy: Approvable; readonly rules: ApprovalRules; readonly round: ApprovalRound | undefined; readonly now: Date },
): UncountedApproval['why'] | undefined {
  const { policy, rules, round, now } = of;
  if (round === undefined || Date.parse(at) < Date.parse(round.since)) return 'Earlier';
  if (Date.parse(at) > now.getTime() + maxClockDifferenceMs) return 'Future';
  if (!rules.notByAuthor) return undefined;
  if (policy.editedBy === undefined) return 'AuthorUnknown';
  return policy.editedBy === user ? 'Author' : undefined;
}

/** The approval, with the time at which the service saw it first. */
function withSight({ user, at, reason }: NamedApproval, round: ApprovalRound | undefined, now: Date): SeenApproval {
  const known = round?.given?.find((one) => one.user === user && one.at === at);
  return known ?? { user, at, seenAt: now.toISOString(), ...defined({ reason }) };
}

/** The approvals that were given after the first one, and seen while it lasted. */
function within(all: readonly SeenApproval[], first: SeenApproval, { withinMs }: ApprovalRules): readonly SeenApproval[] {
  const [start, end] = [Date.parse(first.at), Date.parse(first.at) + withinMs];
  return all.filter(({ at, seenAt }) => Date.parse(at) >= start && Date.parse(seenAt) < end);
}

function endOf(counted: readonly SeenApproval[], { withinMs }: ApprovalRules): string {
  return new Date(Math.min(...counted.map(({ at }) => Date.parse(at))) + withinMs).toISOString();
}

/** Describes a count for people: `1 of 2 approvals (ada@example.com), until 2026-…`. */
export function describeCount({ required, counted, uncounted, until }: ApprovalCount): string {
  const names = counted.length === 0 ? '' : ` (${counted.map(({ user }) => user).join(', ')})`;
  const others = uncounted.slice(0, 5).map(({ user, why }) => `; the approval of ${user} ${whyUncounted[why]}`);
  return `${counted.length} of ${required} approvals${names}${until === undefined ? '' : `, until ${until}`}${others.join('')}`;
}
