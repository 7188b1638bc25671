/** What happened between two statuses of a BaseImagePolicy. Pure. */
import type { BaseImagePolicy, BaseStatus } from '../../core/model/base-policy.ts';
import type { IdentifiedNotice, Notice, NoticeKind } from '../../core/model/notice.ts';
import { newConditions } from '../../core/model/new-conditions.ts';

type Subject = Pick<BaseImagePolicy, 'namespace' | 'name' | 'uid'>;
type Details = Omit<Notice, 'kind' | 'subject' | 'at'>;

/** The notices about one write of a status. However many images are built on a base, a new one is one notice, and so is the end of its roll-out. `eventId`: the push that led to the write. */
export function baseNotices(
  { namespace, name, uid }: Subject,
  before: BaseStatus,
  after: BaseStatus,
  at: string,
  eventId?: string,
): IdentifiedNotice[] {
  const subject = { kind: 'BaseImagePolicy' as const, namespace, name, uid };
  const [wasSelected] = before.history ?? [];
  const about = (kind: NoticeKind, details: Details | undefined): IdentifiedNotice[] => {
    if (details === undefined) return [];
    const { digest = '', reason = '' } = details;
    return [
      {
        notice: { kind, subject, at, ...details, ...(eventId !== undefined && { eventId }) },
        identity: [uid, kind, digest, reason, wasSelected?.digest ?? ''],
      },
    ];
  };
  return [
    ...about('Updated', selected(before, after)),
    ...about('RolledOut', rolledOut(before, after)),
    ...about('RolloutFailed', failed(before, after)),
    ...about('ApprovalRequired', approval(before, after)),
    ...about('Blocked', blocked(before, after)),
  ];
}

/** Another base is used; not the one that a new policy begins with unless images are behind it. */
function selected({ history: [was] = [] }: BaseStatus, { history: [now] = [], images, conditions }: BaseStatus): Details | undefined {
  if (now === undefined || now.digest === was?.digest || now.result === 'Rejected') return undefined;
  if (was === undefined && (images?.behind ?? 0) === 0) return undefined;
  const message = readyMessage(conditions);
  return { tag: now.tag, digest: now.digest, ...(was && { from: [was.tag] }), ...(message !== undefined && { message }) };
}

/** No image is behind any more, and images were. */
function rolledOut(before: BaseStatus, { latest, images, waves, conditions }: BaseStatus): Details | undefined {
  const isDone =
    images !== undefined && images.behind === 0 && images.current > 0 && (waves?.pending ?? 0) + (waves?.progressing ?? 0) === 0;
  if (!isDone || latest === undefined || before.latest?.digest !== latest.digest) return undefined;
  const wasBehind = (before.images?.behind ?? 0) > 0 || (before.waves?.progressing ?? 0) > 0;
  const message = readyMessage(conditions);
  return wasBehind ? { tag: latest.tag, digest: latest.digest, ...(message !== undefined && { message }) } : undefined;
}

/** The waves were stopped, or the base is not used again. */
function failed({ rejected: known = [], waves }: BaseStatus, { rejected = [], waves: now, latest }: BaseStatus): Details | undefined {
  const rejection = rejected.find(({ digest }) => known.every((one) => one.digest !== digest));
  if (rejection !== undefined) return { tag: rejection.tag, digest: rejection.digest, reason: 'BaseRejected', message: rejection.message };
  if (now?.stopped === undefined || waves?.stopped !== undefined || known.some(({ digest }) => digest === now.base)) return undefined;
  return { digest: now.base, ...(latest?.digest === now.base && { tag: latest.tag }), reason: 'RolloutFailed', message: now.stopped };
}

function approval({ pendingApproval: known }: BaseStatus, { pendingApproval, conditions }: BaseStatus): Details | undefined {
  if (pendingApproval === undefined || pendingApproval.digest === known?.digest) return undefined;
  const message = readyMessage(conditions);
  return { ...pendingApproval, reason: 'ApprovalRequired', ...(message !== undefined && { message }) };
}

/** A base that failed has its own notice. */
function blocked(before: BaseStatus, { conditions, latest }: BaseStatus): Details | undefined {
  const [first] = newConditions(before.conditions, conditions, ['Stalled', 'Held']).filter(({ reason }) => reason !== 'BaseRejected');
  return first && { reason: first.reason, message: first.message, ...(latest && { tag: latest.tag, digest: latest.digest }) };
}

function readyMessage(conditions: BaseStatus['conditions']): string | undefined {
  return conditions?.find(({ type }) => type === 'Ready')?.message;
}
