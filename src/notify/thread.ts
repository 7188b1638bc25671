/** Which notices belong together, in which order, and what becomes of the earlier message when a later notice arrives. Pure. */
import { programTypes, isForgeType } from '../core/model/notification-target.ts';
import type { ConfiguredTarget } from '../core/model/configured-target.ts';
import type { Notice, NoticeKind } from '../core/model/notice.ts';
import { hashId } from '../core/model/push-event.ts';
import { urgentKinds } from '../core/model/severity.ts';
import type { ThreadState } from '../service/queue/notice-threads.ts';
import { targets } from './targets/index.ts';

/** A notice by its place in a thread. */
export type ThreadEvent = Omit<ThreadState, 'id'>;

/** The thread of a notice: the image of a policy, or the new base of an image. Undefined for what is about no single image. */
export function threadOf({ kind, subject, digest, undone, base, tag }: Notice): string | undefined {
  if (kind === 'WebhookMissing' || subject.kind === 'Certificate') return undefined;
  const { kind: what, namespace = '', name, uid } = subject;
  // Several policies may report the same image.
  if (what === 'Image') return base === undefined ? undefined : hashId([what, namespace, name, base]);
  const image = undone ?? (kind === 'RolledBack' ? undefined : (digest ?? base ?? tag));
  return image === undefined ? undefined : hashId([what, namespace, name, uid, image]);
}

/** The order of the notices about one change. */
const order: Readonly<Record<NoticeKind, number>> = {
  WebhookMissing: 0,
  CertificateExpiring: 0,
  ApprovalRequired: 0,
  FixAvailable: 0,
  Behind: 0,
  Blocked: 1,
  Updated: 1,
  Rebased: 1,
  RebuildRequested: 1,
  RolledOut: 2,
  RolloutFailed: 2,
  Refused: 2,
  ApprovalEnded: 2,
  RolledBack: 3,
};

/** Whether a notice is later than another one. Notices about the same change follow from each other; otherwise, the order in which they were stored counts. */
export function isLater(one: ThreadEvent, other: ThreadEvent): boolean {
  const steps = order[one.kind] - order[other.kind];
  if (one.at === other.at && steps !== 0) return steps > 0;
  const ms = Date.parse(one.receivedAt) - Date.parse(other.receivedAt);
  return ms > 0 || (ms === 0 && steps > 0);
}

/** Whether two are the same notice. */
export function isSameEvent(one: ThreadEvent, other: ThreadEvent): boolean {
  return one.kind === other.kind && one.at === other.at && one.receivedAt === other.receivedAt;
}

/** Whether somebody has to hear of a notice anew, although an earlier one of the thread was sent: a change of a message notifies nobody. */
export function callsAnew(kind: NoticeKind, last: NoticeKind): boolean {
  const isKnown = kind === last || (kind === 'RolledBack' && last === 'RolloutFailed');
  return urgentKinds.includes(kind) && !isKnown;
}

/** Whether the messages of a target are changed and answered. */
export function hasThreads({ kind }: Pick<ConfiguredTarget, 'kind'>): boolean {
  return !isForgeType(kind) && targets[kind].threads !== undefined;
}

/**
 * Whether what was sent before decides what becomes of a notice: for messages that can be changed; otherwise for a failure that its rollback reports with it, and for that
 * rollback.
 */
export function needsThread(target: Pick<ConfiguredTarget, 'kind' | 'events'>, notice: Notice): boolean {
  if (hasThreads(target)) return true;
  return !programTypes.includes(target.kind) && (notice.kind === 'RolledBack' || untilEnd(target, notice) === 'wait');
}

/**
 * What becomes of a notice that is not the only one about its push, for people. Drop: another one reports the end. Wait: for a short time,
 * because the other one may not come.
 */
export function untilEnd(
  target: Pick<ConfiguredTarget, 'kind' | 'events'>,
  { kind, undone, interim = false }: Notice,
): 'drop' | 'wait' | undefined {
  if (programTypes.includes(target.kind)) return undefined;
  const gets = (...kinds: NoticeKind[]) => kinds.every((one) => target.events.includes(one));
  // The notice of the rollback has said that the previous image runs again.
  if (kind === 'RolledOut' && undone !== undefined && gets('RolledBack')) return 'drop';
  if (!interim || hasThreads(target)) return undefined;
  if (kind === 'Updated' && gets('RolledOut', 'RolloutFailed')) return 'drop';
  return kind === 'RolloutFailed' && gets('RolledBack') ? 'wait' : undefined;
}
