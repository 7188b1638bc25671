/** A notice in words; each target escapes them for its markup. Pure. */
import { linksOf, type Link, type Origins } from '../core/model/image-origin.ts';
import { formatSubject, type Notice, type NoticeKind } from '../core/model/notice.ts';
import { documentation, isReason } from '../core/model/reasons.ts';
import type { TargetType } from '../core/model/notification-target.ts';
import { cut } from '../core/model/text.ts';
import type { RenderedMessage } from './render-template.ts';
import { messageOfSummary, type SummaryContent } from './summary.ts';

/** A message; `facts` are pairs of a label and a text, `code` is a command to copy. */
export interface Message {
  readonly title: string;
  readonly facts: readonly (readonly [label: string, text: string])[];
  readonly code?: string;
  readonly links: readonly Link[];
  /** In place of the title and the facts, in the markup of the target: what a template makes of it. */
  readonly text?: RenderedMessage['text'];
}

/** Returns a text that can stand in an address; undefined if the notice names no digest. */
export type SignLink = (notice: Notice) => string | undefined;
type LinkMeans = Pick<Delivery, 'dashboardUrl' | 'signLink'>;

/** What is sent to a target. */
export interface TargetRequest {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** What a request is built from, besides the notice. */
export interface Delivery {
  /** The same at every try, so that a receiver can recognise a repetition. */
  readonly id: string;
  /** The key that requests are signed with; empty for chats. */
  readonly secret: string;
  readonly now: Date;
  /** The address of the dashboard, for links; absent where it has none. */
  readonly dashboardUrl?: string | undefined;
  /** Signs a link that approves what a notice is about; absent where the dashboard has no secret. */
  readonly signLink?: SignLink | undefined;
  /** What the template of the target made of the content. */
  readonly rendered?: RenderedMessage | undefined;
}

/** What a target is sent. */
export type Content =
  | SummaryContent
  | { readonly type: 'notice'; readonly notice: Notice; readonly origins?: Origins }
  /** Shows that a target is configured correctly; `at` in RFC 3339. */
  | { readonly type: 'test'; readonly target: string; readonly at: string };

/** The kinds of targets that are sent messages. */
export type MessageType = Exclude<TargetType, 'githubDeployment'>;

/** A kind of target that is sent messages: one file for each. */
export interface NotificationTarget {
  /** The name in the configuration, and the file name. */
  readonly id: MessageType;
  /** How it is sent: as a POST, or as a mail, whose only header here is `subject`. */
  readonly via: 'http' | 'smtp';
  /** Builds what is sent. */
  build(content: Content, delivery: Delivery): TargetRequest;
}

/** The most characters of one text: chats refuse longer messages. */
const maxText = 500;
const maxWorkloads = 5;
/** The most characters that a template makes. */
const maxRendered = 1_500;

const verbs: Readonly<Record<NoticeKind, string>> = {
  Updated: 'was updated to',
  RolledOut: 'has rolled out',
  RolloutFailed: 'failed to roll out',
  RolledBack: 'was rolled back to',
  ApprovalRequired: 'waits for approval of',
  Blocked: 'is blocked:',
  WebhookMissing: 'was updated by polls only: no webhooks arrive',
  CertificateExpiring: 'must be renewed',
};

/** What a reader is shown. */
export function messageOf(
  content: Content,
  { dashboardUrl, signLink, rendered = {} }: Pick<Delivery, 'dashboardUrl' | 'signLink' | 'rendered'> = {},
): Message {
  if (content.type === 'summary') return messageOfSummary(content, dashboardUrl);
  if (content.type === 'test') return messageOfTest(content.target);
  const message = messageOfNotice(content.notice, content.origins ?? {}, { dashboardUrl, signLink });
  const { title = message.title, text } = rendered;
  return { ...message, title: oneLine(title), ...(text !== undefined && { text }) };
}

function messageOfTest(target: string): Message {
  return {
    title: 'Test message of image-watcher',
    facts: [['Target', target]],
    links: [{ text: 'About notifications', url: `${documentation}/notifications.md` }],
  };
}

function messageOfNotice(notice: Notice, origins: Origins, means: LinkMeans): Message {
  const { kind, subject, tag, digest, from, reason, message } = notice;
  const name = formatSubject(subject);
  const tellsReason = kind === 'Blocked';
  const image = [tag, digest && `(${digest.slice(0, 'sha256:'.length + 12)})`].filter(Boolean).join(' ');
  const facts: (readonly [string, string | undefined])[] = [
    ['Image', image],
    ['Before', from?.slice(0, maxWorkloads).join(', ')],
    ['Workloads', listWorkloads(notice)],
    ['Reason', reason],
    ['Why', message],
  ];
  return {
    title: oneLine(
      [...(subject.kind === 'BaseImagePolicy' ? ['base'] : []), name, verbs[kind], tellsReason ? (reason ?? '') : (tag ?? '')].join(' '),
    ),
    facts: facts.flatMap(([label, text]) => (text === undefined || text === '' ? [] : [[label, oneLine(text)] as const])),
    ...(kind === 'ApprovalRequired' && { code: approveCommand(subject) }),
    links: [...linkFor(notice, means), ...linksOf(origins)],
  };
}

/** To the page that asks whether to approve, which needs a sign-in; to the policy; or, without a dashboard, to what the reason means. */
function linkFor(notice: Notice, { dashboardUrl, signLink }: LinkMeans): Link[] {
  const { kind, reason, subject } = notice;
  const { namespace, name } = subject;
  if (dashboardUrl !== undefined && subject.kind === 'ImagePolicy') {
    const page = `${dashboardUrl}/policies/${encodeURIComponent(namespace ?? '')}/${encodeURIComponent(name)}`;
    if (kind !== 'ApprovalRequired') return [{ text: 'Open the policy', url: page }];
    const link = signLink?.(notice);
    return [{ text: 'Approve', url: `${page}/approve${link === undefined ? '' : `?link=${link}`}` }];
  }
  return isReason(reason) ? [{ text: 'What to do', url: `${documentation}/reasons.md` }] : [];
}

/** The message of a chat without its own structure: one line for each fact. */
export function textOf({ title, facts, code, links, text }: Message, markup: Markup): string {
  const lines =
    text === undefined
      ? [markup.bold(markup.escape(title)), ...facts.map(([label, value]) => `${label}: ${markup.escape(value)}`)]
      : [cut(text(markup.escape), maxRendered)];
  const command = code === undefined ? [] : [`To approve: ${markup.code(code)}`];
  const more = links.map(({ text, url }) => markup.link(text, url));
  return [...lines, ...command, ...more].join('\n');
}

/** How a chat writes what the message needs. `escape` makes sure that a text is shown as it is: no links, no mentions, no markup. */
export interface Markup {
  escape(text: string): string;
  bold(text: string): string;
  code(text: string): string;
  link(text: string, url: string): string;
}

/** The command that approves what waits. */
function approveCommand({ kind, namespace = '', name }: Notice['subject']): string {
  return kind === 'BaseImagePolicy' ? `image-watcher approve -n ${namespace} bipol/${name}` : `image-watcher approve ${namespace}/${name}`;
}

function listWorkloads({ workloads = [], hasMore = false }: Pick<Notice, 'workloads' | 'hasMore'>): string {
  const more = workloads.length - maxWorkloads;
  const count = more > 0 ? ` and ${more} ${hasMore ? 'or more ' : ''}others` : hasMore ? ' and others' : '';
  return `${workloads.slice(0, maxWorkloads).join(', ')}${count}`;
}

/** Without control characters and those that reorder a line. */
function oneLine(text: string): string {
  return cut(text.replaceAll(/[\p{Cc}\p{Cf}\s]+/gu, ' ').trim(), maxText);
}
