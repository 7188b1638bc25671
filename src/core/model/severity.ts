/** How urgent each kind of notice is, and which kinds a target gets by default. Pure. */
import { noticeKinds, type NoticeKind } from './notice.ts';
import { programTypes, type TargetType } from './notification-target.ts';

/** Failure: something is broken. Attention: somebody has to act or to check. Success and info: nobody has to act. */
export const severities = ['failure', 'attention', 'success', 'info'] as const;
export type Severity = (typeof severities)[number];

/** The severity of each kind of notice, the most urgent kind first. */
export const severityOf: Readonly<Record<NoticeKind, Severity>> = {
  RolloutFailed: 'failure',
  RolledBack: 'attention',
  FixAvailable: 'attention',
  ApprovalRequired: 'attention',
  Blocked: 'attention',
  Refused: 'attention',
  Behind: 'attention',
  CertificateExpiring: 'attention',
  WebhookMissing: 'attention',
  RolledOut: 'success',
  ApprovalEnded: 'info',
  RebuildRequested: 'info',
  Rebased: 'info',
  Updated: 'info',
};

const order = Object.keys(severityOf);

/** All kinds of notices, the most urgent first. */
export const kindsByUrgency: readonly NoticeKind[] = noticeKinds.toSorted((a, b) => order.indexOf(a) - order.indexOf(b));

/** The kinds that need somebody, the most urgent first: chats and mails get them by default. */
export const urgentKinds: readonly NoticeKind[] = kindsByUrgency.filter((kind) => ['failure', 'attention'].includes(severityOf[kind]));

/** The entry of `events` that stands for all kinds, also for those of later versions. */
export const everything = '*';

/** The kinds that a target gets: those that it names; by default everything for programs, and what needs somebody for people. */
export function eventsOf(type: TargetType, named: readonly (NoticeKind | typeof everything)[] | undefined): readonly NoticeKind[] {
  if (named === undefined) return programTypes.includes(type) ? noticeKinds : urgentKinds;
  return named.includes(everything) ? noticeKinds : named.filter((kind) => kind !== everything);
}
