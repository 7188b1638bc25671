/** What a notice is for services that call somebody: it opens an incident, resolves one, or is none of their business. Pure. */
import { formatSubject, type NoticeKind, type NoticeSubject } from '../core/model/notice.ts';
import { hashId } from '../core/model/push-event.ts';
import { formatFact, maxLengthOf, unlinked } from './markup.ts';
import { messageOf, type Content, type Delivery, type Message } from './message.ts';

type Effect = 'trigger' | 'resolve' | 'none';

/** The effect of each kind of notice. A rollback resolves, because what worked runs again. */
export const effects: Readonly<Record<NoticeKind, Effect>> = {
  RolloutFailed: 'trigger',
  RolledBack: 'resolve',
  ApprovalRequired: 'trigger',
  FixAvailable: 'trigger',
  Blocked: 'trigger',
  Refused: 'trigger',
  Behind: 'trigger',
  CertificateExpiring: 'trigger',
  WebhookMissing: 'trigger',
  RolledOut: 'resolve',
  ApprovalEnded: 'resolve',
  RebuildRequested: 'none',
  Rebased: 'none',
  Updated: 'none',
};

export interface Incident {
  readonly action: 'trigger' | 'resolve';
  /** The same for all notices about a subject, so that a later one resolves what an earlier one has opened. */
  readonly key: string;
  /** What it is about: `shop/web`. */
  readonly subject: string;
  readonly message: Message;
  /** The time of the event, RFC 3339. */
  readonly at: string;
}

/** Why a content is no incident; undefined if it is one. */
export function skipsIncident(content: Content): string | undefined {
  if (content.type === 'test') return undefined;
  if (content.type === 'notice') {
    const { kind, reason } = content.notice;
    // The incident is about the image that waits instead.
    const isSuperseded = kind === 'ApprovalEnded' && reason === 'ApprovalSuperseded';
    return isSuperseded || effects[kind] === 'none' ? `${kind} needs nobody` : undefined;
  }
  return content.notices.some(({ kind }) => effects[kind] === 'trigger') ? undefined : 'the summary needs nobody';
}

/** The incident of a content. A test resolves an incident that does not exist, which calls nobody and shows that the key is valid. */
export function incidentOf(content: Content, delivery: Delivery): Incident {
  const message = messageOf(content, delivery);
  if (content.type === 'test')
    return { action: 'resolve', key: keyOf(['test', delivery.id]), subject: content.target, message, at: content.at };
  if (content.type === 'summary')
    return { action: 'trigger', key: keyOf(['summary', delivery.id]), subject: content.target, message, at: content.at };
  const { kind, subject, at } = content.notice;
  const action = effects[kind] === 'resolve' ? 'resolve' : 'trigger';
  return { action, key: keyOfSubject(subject, delivery.cluster), subject: formatSubject(subject), message, at };
}

/** What an incident says, line by line, as plain text. */
export function linesOf(message: Message): string[] {
  const { facts, notes, code } = message;
  const most = maxLengthOf(message);
  const lines = [...facts, ...notes].map((fact) => `${fact.label}: ${formatFact(fact, unlinked, most)}`);
  return code === undefined ? lines : [...lines, `To approve: ${unlinked.name(code)}`];
}

/** An image has no uid of its own: that of its notices is the uid of the policy that reports it. */
function keyOfSubject({ kind, namespace = '', name, uid }: NoticeSubject, cluster = ''): string {
  return keyOf([cluster, kind, namespace, name, kind === 'Image' ? '' : uid]);
}

function keyOf(parts: readonly string[]): string {
  return `image-watcher-${hashId(parts)}`;
}
