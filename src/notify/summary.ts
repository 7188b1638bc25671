/** One message in place of many. Pure. */
import { formatSubject, noticeKinds, type Notice, type NoticeKind } from '../core/model/notice.ts';
import { cut } from '../core/model/text.ts';
import type { Message } from './message.ts';

/** What was held back, because the target had got as many messages in a minute as it may. */
export interface SummaryContent {
  readonly type: 'summary';
  readonly target: string;
  /** RFC 3339. */
  readonly at: string;
  readonly notices: readonly Notice[];
  /** How many more there were. */
  readonly more: number;
}

/** What needs somebody comes first. */
const urgency: readonly NoticeKind[] = [
  'RolloutFailed',
  'RolledBack',
  'ApprovalRequired',
  'Blocked',
  'CertificateExpiring',
  'WebhookMissing',
  'Updated',
  'RolledOut',
];
const labels: Readonly<Record<NoticeKind, string>> = {
  RolloutFailed: 'Failed to roll out',
  RolledBack: 'Rolled back',
  ApprovalRequired: 'Waiting for approval',
  Blocked: 'Blocked',
  CertificateExpiring: 'Certificates that end',
  WebhookMissing: 'Without webhooks',
  Updated: 'Updated',
  RolledOut: 'Rolled out',
};
const maxNamed = 10;
/** Of one kind: chats refuse long messages, and all notices of a summary would be lost. */
const maxText = 500;

/** Counts for each kind, with the first names. */
export function messageOfSummary({ notices, more }: SummaryContent, dashboardUrl?: string): Message {
  const kinds = Map.groupBy(notices, ({ kind }) => kind);
  const facts = urgency.flatMap((kind): [string, string][] => {
    const found = kinds.get(kind);
    return found === undefined ? [] : [[labels[kind], cut(describe(found), maxText)]];
  });
  const count = notices.length + more;
  return {
    title: count === 1 ? '1 more notification' : `${count} more notifications, summed up`,
    facts: more > 0 ? [...facts, ['Not listed', String(more)]] : facts,
    links: dashboardUrl === undefined ? [] : [{ text: 'Open the dashboard', url: dashboardUrl }],
  };
}

function describe(notices: readonly Notice[]): string {
  const names = [...new Set(notices.map(({ subject, tag }) => [formatSubject(subject), tag ?? ''].join(' ').trim()))];
  const others = names.length - maxNamed;
  return `${names.length}: ${names.slice(0, maxNamed).join(', ')}${others > 0 ? ` and ${others} others` : ''}`;
}

/** For programs: how many notices of each kind there were. */
export function countKinds(notices: readonly Notice[]): Readonly<Partial<Record<NoticeKind, number>>> {
  return Object.fromEntries(
    noticeKinds.flatMap((kind) => {
      const count = notices.filter((notice) => notice.kind === kind).length;
      return count === 0 ? [] : [[kind, count]];
    }),
  );
}
