/** How urgent each kind of notice is, and how chats show that. Pure. */
import { noticeKinds, type NoticeKind } from '../core/model/notice.ts';

/** Failure: something is broken. Attention: somebody has to act or to check. Success and info: nobody has to act. */
export const severities = ['failure', 'attention', 'success', 'info'] as const;
export type Severity = (typeof severities)[number];

/** The severity of each kind of notice, the most urgent kind first. */
export const severityOf: Readonly<Record<NoticeKind, Severity>> = {
  RolloutFailed: 'failure',
  RolledBack: 'attention',
  ApprovalRequired: 'attention',
  Blocked: 'attention',
  Refused: 'attention',
  Behind: 'attention',
  CertificateExpiring: 'attention',
  WebhookMissing: 'attention',
  RolledOut: 'success',
  RebuildRequested: 'info',
  Rebased: 'info',
  Updated: 'info',
};

const order = Object.keys(severityOf);

/** All kinds of notices, the most urgent first. */
export const kindsByUrgency: readonly NoticeKind[] = noticeKinds.toSorted((a, b) => order.indexOf(a) - order.indexOf(b));

/** The looks of a severity: an emoji, and a colour such as `#2e8540`. The emojis differ in shape, for readers who do not see colours. */
export const looks: Readonly<Record<Severity, { readonly icon: string; readonly color: `#${string}` }>> = {
  failure: { icon: '❌', color: '#cc2936' },
  attention: { icon: '🔔', color: '#b45f06' },
  success: { icon: '✅', color: '#2e8540' },
  info: { icon: '🔵', color: '#2f6fb3' },
};
