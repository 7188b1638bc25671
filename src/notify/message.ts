/** Words a notice. Each target escapes the texts for its markup. Pure. */
import { defined } from '../core/model/defined.ts';
import { linksOf, type Link, type Origins } from '../core/model/image-origin.ts';
import type { Notice } from '../core/model/notice.ts';
import { documentation, isReason } from '../core/model/reasons.ts';
import type { TargetType } from '../core/model/notification-target.ts';
import { cut } from '../core/model/text.ts';
import { titleOf } from './notice-title.ts';
import type { RenderedMessage } from './render-template.ts';
import { looks, severityOf, type Severity } from './severity.ts';
import { messageOfSummary, type SummaryContent } from './summary.ts';

/** A message; `facts` are pairs of a label and a text, `code` is a command to copy. */
export interface Message {
  readonly severity: Severity;
  /** What it is about, and the outcome, without the icon of the severity. */
  readonly title: string;
  readonly facts: readonly (readonly [label: string, text: string])[];
  readonly code?: string;
  readonly links: readonly Link[];
  /** Whether a template made the title, which then has no icon. */
  readonly isOwnTitle?: boolean;
  /** The result of a template in the markup of the target. It replaces the title and the facts. */
  readonly text?: RenderedMessage['text'];
}

/** Signs a link: returns a text for an address; undefined if the notice has no digest. */
export type SignLink = (notice: Notice) => string | undefined;
type LinkMeans = Pick<Delivery, 'dashboardUrl' | 'signLink'>;

/** A request to a target. */
export interface TargetRequest {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** The inputs of a request besides the notice. */
export interface Delivery {
  /** The id of the message. It is the same at every try, so that a receiver can recognise a repetition. */
  readonly id: string;
  /** The key with which requests are signed; empty for chats. */
  readonly secret: string;
  readonly now: Date;
  /** The address of the dashboard for links; absent if there is none. */
  readonly dashboardUrl?: string | undefined;
  /** The name of the cluster for people, with which the title begins; absent if it has none. */
  readonly cluster?: string | undefined;
  /** Signs a link that approves the image of a notice; absent if the dashboard has no secret. */
  readonly signLink?: SignLink | undefined;
  /** The result of the target's template. */
  readonly rendered?: RenderedMessage | undefined;
}

/** The content that is sent to a target. */
export type Content =
  | SummaryContent
  | { readonly type: 'notice'; readonly notice: Notice; readonly origins?: Origins }
  /** A test message, which shows that a target is configured correctly. `at` in RFC 3339. */
  | { readonly type: 'test'; readonly target: string; readonly at: string };

/** The types of targets that receive messages. */
export type MessageType = Exclude<TargetType, 'githubDeployment'>;

/** A type of target that receives messages. Each has its own file. */
export interface NotificationTarget {
  /** The name of the type in the configuration, which is also the file name. */
  readonly id: MessageType;
  /** How the message is sent: as a POST, or as a mail, which has only the header `subject`. */
  readonly via: 'http' | 'smtp';
  /** Builds the request with the message. */
  build(content: Content, delivery: Delivery): TargetRequest;
}

/** The maximum number of characters of one text: chats refuse longer messages. */
const maxText = 500;
const maxWorkloads = 5;
/** The maximum number of characters of a rendered template. */
const maxRendered = 1_500;

/** The message about a notice for readers. */
export function messageOf(
  content: Content,
  { dashboardUrl, cluster, signLink, rendered = {} }: Pick<Delivery, 'dashboardUrl' | 'cluster' | 'signLink' | 'rendered'> = {},
): Message {
  const message = wordsOf(content, { dashboardUrl, signLink });
  const { title: own, text } = content.type === 'notice' ? rendered : {};
  const title = own ?? message.title;
  return {
    ...message,
    title: oneLine(cluster === undefined ? title : `[${cluster}] ${title}`),
    ...(own !== undefined && { isOwnTitle: true }),
    ...defined({ text }),
  };
}

function wordsOf(content: Content, means: LinkMeans): Message {
  if (content.type === 'summary') return messageOfSummary(content, means.dashboardUrl);
  if (content.type === 'test') return messageOfTest(content.target);
  return messageOfNotice(content.notice, content.origins ?? {}, means);
}

function messageOfTest(target: string): Message {
  return {
    severity: 'info',
    title: 'Test message of image-watcher',
    facts: [['Target', target]],
    links: [{ text: 'About notifications', url: `${documentation}/notifications.md` }],
  };
}

function messageOfNotice(notice: Notice, origins: Origins, means: LinkMeans): Message {
  const { kind, subject, tag, digest, base, from, reason, message, nextStep } = notice;
  const image = [tag, digest && `(${shortDigest(digest)})`].filter(Boolean).join(' ');
  const facts: (readonly [string, string | undefined])[] = [
    ['Image', image],
    ['Base', base && shortDigest(base)],
    ['Images', describeCounts(notice)],
    ['Before', from?.slice(0, maxWorkloads).join(', ')],
    ['Workloads', listWorkloads(notice)],
    ['Reason', reason],
    ['Why', message],
    ['Next', nextStep],
  ];
  return {
    severity: severityOf[kind],
    title: titleOf(notice),
    facts: facts.flatMap(([label, text]) => (text === undefined || text === '' ? [] : [[label, oneLine(text)] as const])),
    ...(kind === 'ApprovalRequired' && { code: approveCommand(subject) }),
    links: [...linkFor(notice, means), ...linksOf(origins)],
  };
}

/** A text whose digest, if it ends with one, is shortened. */
function shortDigest(text: string): string {
  const at = text.lastIndexOf('sha256:');
  return at === -1 ? text : text.slice(0, at + 'sha256:'.length + 12);
}

function describeCounts({ images }: Pick<Notice, 'images'>): string | undefined {
  return images && `${images.current} current, ${images.behind} behind, ${images.refused} of these refused, ${images.unknown} unknown`;
}

/** A link for a notice: to the page that asks to approve, which needs a sign-in; to the policy; or, without a dashboard, to the explanation of the reason. */
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

/** The title with the icon of the severity before it. The title of a template shows what its author writes. */
export function headingOf({ severity, title, isOwnTitle = false }: Message): string {
  return isOwnTitle ? title : `${looks[severity].icon} ${title}`;
}

/** The message for a chat without a structure of its own: one line for each fact. */
export function textOf(message: Message, markup: Markup): string {
  const { facts, code, links, text } = message;
  const lines =
    text === undefined
      ? [markup.bold(markup.escape(headingOf(message))), ...facts.map(([label, value]) => `${label}: ${markup.escape(value)}`)]
      : [cut(text(markup.escape), maxRendered)];
  const command = code === undefined ? [] : [`To approve: ${markup.code(code)}`];
  const more = links.map(({ text, url }) => markup.link(text, url));
  return [...lines, ...command, ...more].join('\n');
}

/** The markup of a chat. `escape` makes a text appear as it is: no links, no mentions, no markup. */
export interface Markup {
  escape(text: string): string;
  bold(text: string): string;
  code(text: string): string;
  link(text: string, url: string): string;
}

/** The command that approves the waiting image. */
function approveCommand({ kind, namespace = '', name }: Notice['subject']): string {
  return kind === 'BaseImagePolicy' ? `image-watcher approve -n ${namespace} bipol/${name}` : `image-watcher approve ${namespace}/${name}`;
}

function listWorkloads({ workloads = [], hasMore = false }: Pick<Notice, 'workloads' | 'hasMore'>): string {
  const more = workloads.length - maxWorkloads;
  const count = more > 0 ? ` and ${more} ${hasMore ? 'or more ' : ''}others` : hasMore ? ' and others' : '';
  return `${workloads.slice(0, maxWorkloads).join(', ')}${count}`;
}

/** A text without control characters and characters that reorder a line. */
function oneLine(text: string): string {
  return cut(text.replaceAll(/[\p{Cc}\p{Cf}\s]+/gu, ' ').trim(), maxText);
}
