/** Combines many notices into one message. Pure. */
import { formatSubject, noticeKinds, type Notice, type NoticeKind } from '../core/model/notice.ts';
import { factOf } from './fact.ts';
import type { Message } from './message.ts';
import { kindsByUrgency, severityOf } from '../core/model/severity.ts';

/** The notices that were held back, because the target had received its maximum of messages in a minute. */
export interface SummaryContent {
  readonly type: 'summary';
  readonly target: string;
  /** The time of the summary, RFC 3339. */
  readonly at: string;
  readonly notices: readonly Notice[];
  /** The number of further notices. */
  readonly more: number;
}

const labels: Readonly<Record<NoticeKind, string>> = {
  RolloutFailed: 'Failed to roll out',
  RolledBack: 'Rolled back',
  FixAvailable: 'Fixes that wait',
  ApprovalRequired: 'Waiting for approval',
  ApprovalEnded: 'Not approved',
  Blocked: 'Blocked',
  Behind: 'Behind their base',
  Rebased: 'Rebased',
  RebuildRequested: 'To be rebuilt',
  Refused: 'Not brought to their base',
  CertificateExpiring: 'Certificates that end',
  WebhookMissing: 'Without webhooks',
  Updated: 'Updated',
  RolledOut: 'Rolled out',
};
const maxNamed = 10;

/** The message of a summary: the count for each kind, with the first names. */
export function messageOfSummary({ notices, more }: SummaryContent, dashboardUrl?: string): Message {
  const kinds = Map.groupBy(notices, ({ kind }) => kind);
  const [worst] = kindsByUrgency.filter((kind) => kinds.has(kind));
  const facts = kindsByUrgency.flatMap((kind) => {
    const names = namesOf(kinds.get(kind) ?? []);
    return factOf(`${labels[kind]} (${names.length})`, { names, most: maxNamed });
  });
  const count = notices.length + more;
  return {
    severity: worst === undefined ? 'info' : severityOf[worst],
    title: count === 1 ? '1 more notification' : `${count} more notifications, summed up`,
    facts: more > 0 ? [...facts, ...factOf('Not listed', { text: String(more) })] : facts,
    notes: [],
    ...(dashboardUrl !== undefined && { button: { text: 'Open the dashboard', url: dashboardUrl } }),
    links: [],
  };
}

function namesOf(notices: readonly Notice[]): string[] {
  return [...new Set(notices.map(({ subject, tag }) => [formatSubject(subject), tag ?? ''].join(' ').trim()))];
}

/** The number of notices of each kind, for programs. */
export function countKinds(notices: readonly Notice[]): Readonly<Partial<Record<NoticeKind, number>>> {
  return Object.fromEntries(
    noticeKinds.flatMap((kind) => {
      const count = notices.filter((notice) => notice.kind === kind).length;
      return count === 0 ? [] : [[kind, count]];
    }),
  );
}
