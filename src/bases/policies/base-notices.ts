/** Notices about the difference between two statuses of a BaseImagePolicy. Pure. */
import type { BaseImagePolicy } from '../../core/model/base-policy.ts';
import type { BaseStatus } from '../../core/model/base-status.ts';
import { defined } from '../../core/model/defined.ts';
import type { IdentifiedNotice, ImageCounts, Notice, NoticeKind } from '../../core/model/notice.ts';
import { newConditions } from '../../core/model/new-conditions.ts';
import type { Reason } from '../../core/model/reasons.ts';
import { endedApproval } from '../../core/status/ended-approvals.ts';
import { refusedStates } from './next-base-status.ts';

type Subject = Pick<BaseImagePolicy, 'namespace' | 'name' | 'uid'>;
type Details = Omit<Notice, 'kind' | 'subject' | 'at'>;

/** The notices about one write of a status. A new base is one notice for all its images, as is the end of its roll-out. `eventId`: the push that caused it. */
export function baseNotices(
  { namespace, name, uid }: Subject,
  { before, after }: { readonly before: BaseStatus; readonly after: BaseStatus },
  at: string,
  eventId?: string,
): IdentifiedNotice[] {
  const subject = { kind: 'BaseImagePolicy' as const, namespace, name, uid };
  const [wasSelected] = before.history ?? [];
  const ended = endedApproval(before, after);
  const about = (kind: NoticeKind, details: Details | undefined): IdentifiedNotice[] => {
    if (details === undefined) return [];
    const { digest = '', reason = '' } = details;
    return [
      {
        notice: { kind, subject, at, ...details, ...defined({ eventId }) },
        identity: [uid, kind, digest, reason, wasSelected?.digest ?? ''],
      },
    ];
  };
  return [
    ...about('Updated', selected(before, after)),
    ...about('RolledOut', rolledOut(before, after)),
    ...about('RolloutFailed', failed(before, after)),
    ...about('ApprovalRequired', approval(before, after)),
    ...(ended === undefined ? [] : about(ended.reason === 'ApprovalsEnded' ? 'ApprovalRequired' : 'ApprovalEnded', ended)),
    ...about('Blocked', blocked(before, after)),
  ];
}

/** The notice about a newly selected base. The first base of a new policy has one only if images are behind it. */
function selected({ history: [was] = [] }: BaseStatus, { history: [now] = [], images, conditions }: BaseStatus): Details | undefined {
  if (now === undefined || now.digest === was?.digest || now.result === 'Rejected') return undefined;
  if (was === undefined && (images?.behind ?? 0) === 0) return undefined;
  const message = readyMessage(conditions);
  return { tag: now.tag, digest: now.digest, ...(was && { from: [was.tag] }), ...defined({ message, images: countsOf(images) }) };
}

/** The notice that the roll-out is over: nothing more is done without somebody, although some images may be refused. It names these. */
function rolledOut(before: BaseStatus, after: BaseStatus): Details | undefined {
  const { latest, images, waves, conditions, rejected = [] } = after;
  const isDone = images !== undefined && images.current > 0 && (waves?.pending ?? 0) === 0 && !isUnderWay(after);
  if (!isDone || latest === undefined || before.latest?.digest !== latest.digest) return undefined;
  const wasBehind = isUnderWay(before) || (images.behind === 0 && (before.images?.behind ?? 0) > 0);
  if (!wasBehind || rejected.some(({ digest }) => digest === latest.digest)) return undefined;
  const message = [readyMessage(conditions) ?? '', ...describeRefused(after)].join('; ');
  return { tag: latest.tag, digest: latest.digest, message, ...defined({ images: countsOf(images) }) };
}

/** Whether images are being brought to the base. Those that are refused or only reported are not. */
function isUnderWay({ images, waves }: BaseStatus): boolean {
  const { behind = 0, refused = 0, reported = 0 } = images ?? {};
  return behind > refused + reported || (waves?.progressing ?? 0) > 0;
}

/** The maximum number of refused images that a notice names. */
const maxNamed = 5;

function describeRefused({ images, dependents = [] }: BaseStatus): string[] {
  const { refused = 0 } = images ?? {};
  if (refused === 0) return [];
  const named = dependents
    .filter(({ state, behindSince }) => behindSince !== undefined && refusedStates.has(state))
    .slice(0, maxNamed)
    .map(({ image, state, reason }) => `${image} (${reason ?? state})`);
  const more = refused > named.length ? [`and ${refused - named.length} more`] : [];
  return [`refused: ${[...named, ...more].join(', ')}`];
}

function countsOf(images: BaseStatus['images']): ImageCounts | undefined {
  return images && { current: images.current, behind: images.behind, refused: images.refused ?? 0, unknown: images.unknown };
}

/** The notice that waves were stopped, or that a base was rejected. */
function failed({ rejected: known = [], waves }: BaseStatus, { rejected = [], waves: now, latest }: BaseStatus): Details | undefined {
  const rejection = rejected.find(({ digest, reason }) => reason !== 'RejectedByUser' && known.every((one) => one.digest !== digest));
  if (rejection !== undefined) return { tag: rejection.tag, digest: rejection.digest, reason: 'BaseRejected', message: rejection.message };
  if (now?.stopped === undefined || waves?.stopped !== undefined || known.some(({ digest }) => digest === now.base)) return undefined;
  return { digest: now.base, ...(latest?.digest === now.base && { tag: latest.tag }), reason: 'RolloutFailed', message: now.stopped };
}

function approval({ pendingApproval: known }: BaseStatus, { pendingApproval, conditions }: BaseStatus): Details | undefined {
  if (pendingApproval === undefined || pendingApproval.digest === known?.digest) return undefined;
  const message = readyMessage(conditions);
  return { ...pendingApproval, reason: 'ApprovalRequired', ...defined({ message }) };
}

/** Reasons of conditions that have notices of their own. */
const ownNotices: ReadonlySet<string> = new Set<Reason>(['BaseRejected', 'RejectedByUser']);

/** The notice about a stalled or held policy. A rejected base has its own notice. */
function blocked(before: BaseStatus, { conditions, latest }: BaseStatus): Details | undefined {
  const [first] = newConditions(before.conditions, conditions, ['Stalled', 'Held']).filter(({ reason }) => !ownNotices.has(reason));
  return first && { reason: first.reason, message: first.message, ...(latest && { tag: latest.tag, digest: latest.digest }) };
}

function readyMessage(conditions: BaseStatus['conditions']): string | undefined {
  return conditions?.find(({ type }) => type === 'Ready')?.message;
}
