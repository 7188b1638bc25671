/** Notices about the difference between two statuses of an ImagePolicy. Pure. */
import { isSameWhole, wholeDigest } from '../model/companions.ts';
import { defined } from '../model/defined.ts';
import { endedApproval } from './ended-approvals.ts';
import { fixNotices } from './fix-notices.ts';
import { alongsideOf, imagesOfPending } from './notice-images.ts';
import { newConditions, trueCondition } from '../model/new-conditions.ts';
import { isUsable, type ImagePolicy } from '../model/image-policy.ts';
import type { IdentifiedNotice, Notice, NoticeKind, Share } from '../model/notice.ts';
import { isTriggered } from '../model/is-triggered.ts';
import { maxListed, type Condition, type HistoryEntry, type PolicyStatus, type RejectedImage } from '../model/policy-status.ts';
import { isSameContainer } from '../plan/past.ts';
import { isWaveWait } from '../model/wave-wait.ts';
import { isRejectionOf } from '../plan/rejections.ts';
import { whyNoRollback } from '../rollout/automatic-rollback.ts';
import { endedWaves } from '../rollout/waves-ended.ts';
import { formatWorkload, workloadKey } from '../model/workload.ts';

type Subject = Pick<ImagePolicy, 'namespace' | 'name' | 'uid'> & Partial<Pick<ImagePolicy, 'spec'>>;
type Details = Omit<Notice, 'kind' | 'subject'>;

const isNew = ({ entry, was }: Change) => was === undefined && entry.trigger !== 'Rollback' && entry.result !== 'Failed';
const isRollback = ({ entry, was }: Change) => was === undefined && entry.trigger === 'Rollback';
const isFailure = ({ entry, was }: Change) => entry.result === 'Failed' && was?.result !== 'Failed';

/**
 * The notices about one write of a status: at most one of each kind for each image, however many workloads it concerns. `eventId`: the push that caused the
 * write. A rollout has the push that the status names.
 */
export function policyNotices(
  { namespace, name, uid, spec }: Subject,
  { before, after }: { readonly before: PolicyStatus; readonly after: PolicyStatus },
  at: string,
  eventId?: string,
): IdentifiedNotice[] {
  const subject = { kind: 'ImagePolicy' as const, namespace, name, uid };
  const own = eventId === undefined ? {} : { eventId };
  const changes = changedEntries(before, after);
  const about = (kind: NoticeKind, fits: (change: Change) => boolean) =>
    byImage(changes.filter(fits)).map((entries) => {
      const push = kind === 'Updated' && eventId !== undefined ? own : pushOf(entries, [after, before]);
      const share = shareOf(kind, entries, after);
      const interim = followsMore(kind, entries, { after, spec });
      // What is rolled out may be reported by an older entry of the same image.
      const undone = kind === 'RolledOut' ? undoneBy((after.history ?? []).slice(0, 1), after)[0]?.digest : undefined;
      return {
        kind,
        subject,
        ...describeEntries(kind, entries, after),
        ...defined({ share, undone }),
        ...(interim && { interim }),
        ...push,
      };
    });
  const found = [
    ...about('Updated', isNew),
    ...about('RolloutFailed', isFailure),
    ...about('RolledBack', isRollback),
    ...(isRolledOut(before, after) ? about('RolledOut', ({ entry }) => isOut(entry, after)) : []),
    ...approvals(before, after).map((found) => ({ kind: 'ApprovalRequired' as const, subject, at, ...found, ...own })),
    ...endings(before, after).map((found) => ({ subject, at, ...found, ...own })),
    ...blocks(before, after).map((found) => ({ kind: 'Blocked' as const, subject, at, ...found, ...own })),
    ...fixNotices({ before, after }, spec).map((found) => ({ kind: 'FixAvailable' as const, subject, at, ...found, ...own })),
  ];
  return found.map((notice) => ({ notice, identity: identityOf(notice, before) }));
}

/**
 * The identity of a notice. It is the same however often the status is written after an event: the times of changes may differ then, but the history before
 * them does not. A condition that recurs within the hour has the same identity.
 */
function identityOf(
  { kind, subject, tag, digest, setDigest, reason, workloads, fixes }: Notice,
  { history: [last] = [] }: PolicyStatus,
): string[] {
  const image = setDigest ?? digest ?? tag ?? '';
  if (fixes !== undefined) return [subject.uid, kind, image, fixes[0]?.severity ?? ''];
  const isCondition = kind === 'ApprovalRequired' || kind === 'ApprovalEnded' || kind === 'Blocked';
  return [subject.uid, kind, image, ...(isCondition ? [reason ?? ''] : [last?.at ?? '', last?.to ?? '', ...(workloads ?? [])])];
}

/** An entry of the new history, with the same entry of the old one. */
interface Change {
  readonly entry: HistoryEntry;
  readonly was: HistoryEntry | undefined;
}

function changedEntries({ history: old = [] }: PolicyStatus, { history = [] }: PolicyStatus): Change[] {
  const known = new Map(old.map((entry) => [entryKey(entry), entry]));
  return history.map((entry) => ({ entry, was: known.get(entryKey(entry)) }));
}

function entryKey(entry: HistoryEntry): string {
  return JSON.stringify([workloadKey(entry), entry.container, entry.to, entry.at]);
}

/** The entries of each image, in the order of the history. */
function byImage(changes: readonly Change[]): HistoryEntry[][] {
  const groups = Map.groupBy(changes, ({ entry }) => `${entry.tag}@${wholeDigest(entry)}`);
  return [...groups.values()].map((group) => group.map(({ entry }) => entry));
}

function describeEntries(kind: NoticeKind, entries: readonly HistoryEntry[], after: PolicyStatus): Details {
  const { rejected = [] } = after;
  const { tag, digest, setDigest, trigger } = entries[0] ?? {};
  const isBack = trigger === 'Rollback';
  const from = unique(entries.flatMap((entry) => entry.from ?? []));
  // What is said about a rollback is why the image that it replaces was left.
  const undone = isBack ? undoneBy(entries, after) : [];
  // An image that was rejected before, and released, is not left when it is applied again. That the one before it is out again has no such reason.
  const left = kind === 'RolledOut' ? [] : isBack ? undone : kind === 'RolloutFailed' ? entries.slice(0, 1) : [];
  const rejection = rejected.find((one) => left.some((entry) => isRejectionOf(one, entry)));
  return {
    // The image may be out on some workloads since earlier changes to it.
    at: entries.map((entry) => entry.at).reduce((one, at) => ((kind === 'RolledOut' ? at > one : at < one) ? at : one)),
    ...defined({ tag, digest, setDigest, alongside: alongsideOf(entries) }),
    ...(from.length > 0 && { from }),
    workloads: unique(entries.map(formatWorkload)).sort(),
    ...(entries.length >= maxListed && { hasMore: true }),
    ...defined({ undone: undone[0]?.digest }),
    ...(rejection !== undefined && { reason: rejection.reason }),
    ...(rejection?.message !== undefined && { message: rejection.message }),
  };
}

/** The push that caused changes, if a status still contains it. For a rollback, it is the push of the changes that are undone. */
function pushOf(entries: readonly HistoryEntry[], statuses: readonly PolicyStatus[]): Pick<Notice, 'eventId'> | undefined {
  const status = statuses.find(
    (one) => one.trigger?.event && [...entries, ...undoneBy(entries, one)].some((entry) => isTriggered(one, entry)),
  );
  return status?.trigger?.event === undefined ? undefined : { eventId: status.trigger.event };
}

/** The changes that rollbacks undo. */
function undoneBy(entries: readonly HistoryEntry[], { history = [] }: PolicyStatus): HistoryEntry[] {
  return history.filter((one) =>
    // The rollback of companions alone leaves the own image as it is.
    entries.some((entry) => entry !== one && entry.trigger === 'Rollback' && entry.from === one.to),
  );
}

/** The number of workloads on which the image has failed or was left so far, of those that got it; undefined for other notices, and if the history has no room for all. */
function shareOf(kind: NoticeKind, entries: readonly HistoryEntry[], after: PolicyStatus): Share | undefined {
  const { history = [] } = after;
  if ((kind !== 'RolloutFailed' && kind !== 'RolledBack') || history.length >= maxListed) return undefined;
  const [first] = entries;
  const isOfImage = (one: HistoryEntry) =>
    first !== undefined && one.trigger !== 'Rollback' && one.tag === first.tag && isSameWhole(one, first);
  const all = kind === 'RolledBack' ? undoneBy(entries, after) : history.filter(isOfImage);
  const over = all.filter(({ result }) => result === 'RolledBack' || (kind === 'RolloutFailed' && result === 'Failed'));
  return over.length === 0 ? undefined : { count: countWorkloads(over), total: countWorkloads(all) };
}

function countWorkloads(entries: readonly HistoryEntry[]): number {
  return new Set(entries.map(workloadKey)).size;
}

/** Whether another notice says how it ended: a rollout is under way, or the failed images are about to be rolled back. */
function followsMore(
  kind: NoticeKind,
  entries: readonly HistoryEntry[],
  { after, spec }: { readonly after: PolicyStatus; readonly spec: ImagePolicy['spec'] | undefined },
): boolean {
  if (kind === 'Updated') return (after.rollouts?.progressing ?? 0) > 0 && entries.some(({ result }) => result === 'Applied');
  if (kind !== 'RolloutFailed' || spec === undefined || !isUsable(spec) || spec.rollout?.onFailure !== 'Rollback') return false;
  return entries.some((entry) => entry.rollbackRefused === undefined && whyNoRollback(entry) === undefined);
}

/** Whether the last rollout is complete, and no wave follows. */
function isRolledOut(before: PolicyStatus, after: PolicyStatus): boolean {
  const { rollouts, waiting } = after;
  if (rollouts === undefined || rollouts.progressing > 0 || rollouts.failed > 0) return false;
  const isLastWave = (before.rollouts?.progressing ?? 0) > 0 && !isWaveWait(waiting);
  return isLastWave || endedWaves(before, after).length > 0;
}

/** Whether an entry is of the changes that are complete now. */
function isOut(entry: HistoryEntry, after: PolicyStatus): boolean {
  return isLastOut(entry, after) && !isReplaced(entry, after) && !isLeftAlone(entry, after);
}

/** Whether the last rollback did not change the container of an entry: it runs the image since an earlier change. */
function isLeftAlone(entry: HistoryEntry, { history = [] }: PolicyStatus): boolean {
  const [last] = history;
  if (last?.trigger !== 'Rollback') return false;
  const newest = history.find((one) => isSameContainer(one, entry));
  if (newest?.trigger !== 'Rollback') return true;
  const since = history.slice(0, history.indexOf(newest));
  return newest.from !== last.from && since.some(({ trigger }) => trigger !== 'Rollback');
}

/** Whether an entry is about the image that was applied last, and is rolled out. */
function isLastOut(entry: HistoryEntry, { history = [] }: PolicyStatus): boolean {
  const [last] = history;
  return entry.result === 'RolledOut' && last !== undefined && entry.tag === last.tag && isSameWhole(entry, last);
}

/** Whether a later change of the same container is rolled out, too: what the image replaced before says nothing about this time. */
function isReplaced(entry: HistoryEntry, { history = [] }: PolicyStatus): boolean {
  return history.slice(0, history.indexOf(entry)).some((one) => one.result === 'RolledOut' && isSameContainer(one, entry));
}

function approvals(before: PolicyStatus, after: PolicyStatus): Partial<Details>[] {
  const { pendingApproval, conditions } = after;
  if (pendingApproval === undefined || pendingApproval.digest === before.pendingApproval?.digest) return [];
  const message = trueCondition(conditions, 'ApprovalRequired')?.message;
  return [{ tag: pendingApproval.tag, ...imagesOfPending(pendingApproval, after), reason: 'ApprovalRequired', ...defined({ message }) }];
}

/** What ends without an approval. An image that still waits needs somebody again. */
function endings(before: PolicyStatus, after: PolicyStatus): (Partial<Details> & Pick<Notice, 'kind'>)[] {
  const ended = endedApproval(before, after);
  if (ended === undefined || before.pendingApproval === undefined) return [];
  const images = imagesOfPending(before.pendingApproval, before);
  return [{ kind: ended.reason === 'ApprovalsEnded' ? 'ApprovalRequired' : 'ApprovalEnded', ...ended, ...images }];
}

/** The Stalled and Held conditions for notices. A failed rollout has its own notice. */
function blocks(before: PolicyStatus, after: PolicyStatus): Partial<Details>[] {
  const isOwnNotice = ({ reason }: Condition) =>
    reason === 'RolloutFailed' ||
    isOfRejection(after, reason) ||
    (reason === 'RejectedDigest' && after.history?.[0]?.trigger === 'Rollback');
  const [first] = newConditions(before.conditions, after.conditions, ['Stalled', 'Held']).filter((one) => !isOwnNotice(one));
  if (first === undefined) return [];
  const { tag, digest, setDigest } = after.latest ?? {};
  return [{ reason: first.reason, message: first.message, ...defined({ tag, digest, setDigest }) }];
}

/** Whether a hold is the rejection of the selected image by a user, which has its own notice. */
function isOfRejection({ rejected = [], latest }: PolicyStatus, reason: string): boolean {
  const isOf = (one: RejectedImage) => latest !== undefined && one.reason === 'RejectedByUser' && isRejectionOf(one, latest);
  return reason === 'RejectedDigest' && rejected.some(isOf);
}

function unique(texts: readonly string[]): string[] {
  return [...new Set(texts)];
}
