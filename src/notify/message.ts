/** Words a notice. Each target escapes the texts for its markup. Pure. */
import { defined } from '../core/model/defined.ts';
import { maxCompanions } from '../core/model/companion-status.ts';
import { formatRepository, tryParseImageReference } from '../core/model/image-reference.ts';
import { linksOf, type Link, type Origins } from '../core/model/image-origin.ts';
import type { Notice, NoticeKind } from '../core/model/notice.ts';
import { documentation, isReason, pageOf } from '../core/model/reasons.ts';
import type { ForgeType, TargetType } from '../core/model/notification-target.ts';
import { factOf, oneLine, type Fact } from './fact.ts';
import { titleOf } from './notice-title.ts';
import type { SendResult } from '../service/proxy/exchange.ts';
import type { RenderedMessage } from './render-template.ts';
import { severityOf, type Severity } from '../core/model/severity.ts';
import { looks } from './looks.ts';
import { messageOfSummary, type SummaryContent } from './summary.ts';

/** A message. Its texts come from registries and users. */
export interface Message {
  readonly severity: Severity;
  /** What it is about, and the outcome, without the icon of the severity. */
  readonly title: string;
  readonly facts: readonly Fact[];
  /** Sentences: why it happened, and what to do next. */
  readonly notes: readonly Fact[];
  /** A command to copy. */
  readonly code?: string;
  /** The one thing to do: the page to open. */
  readonly button?: Link;
  /** Links to the source of the image. */
  readonly links: readonly Link[];
  /** Whether a template made the title, which then has no icon. */
  readonly isOwnTitle?: boolean;
  /** The result of a template in the markup of the target. It replaces the title, the facts and the notes. */
  readonly text?: RenderedMessage['text'];
}

/** Signs a link: returns a text for an address; undefined if the notice has no digest. */
export type SignLink = (notice: Notice) => string | undefined;
type LinkMeans = Pick<Delivery, 'dashboardUrl' | 'signLink'>;

/** A request to a target. */
export interface TargetRequest {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** The body of a mail in HTML, besides the plain text in `body`. */
  readonly html?: string;
  /** The method; POST by default. */
  readonly method?: 'POST' | 'PUT' | 'PATCH';
  /** A path below that of the address of the target, such as `/ID/close`, and a query. */
  readonly path?: string;
  readonly query?: Readonly<Record<string, string>>;
}

/** The inputs of a request besides the notice. */
export interface Delivery {
  /** The id of the message. It is the same at every try, so that a receiver can recognise a repetition. */
  readonly id: string;
  /** The key with which requests are signed; empty for chats. */
  readonly secret: string;
  readonly now: Date;
  /** The channel in the query of the target's address, for types that post to one. */
  readonly channel?: string | undefined;
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
export type MessageType = Exclude<TargetType, ForgeType>;

/** How the messages of a type are changed and answered. */
export interface Threads {
  /** Reads the id of a posted message from the response. */
  readonly idOf: (json: unknown) => string | undefined;
  /** The form of an id. It becomes part of an address, and whoever can write to Redis could have changed it. */
  readonly id: RegExp;
  /** Makes of the request that posts a message the one that changes an earlier message to it. */
  readonly change: (request: TargetRequest, id: string) => TargetRequest;
  /** Makes of it the request that posts the message below an earlier one; absent for types without answers. `calls`: all readers of the channel should see it. */
  readonly answer?: (request: TargetRequest, id: string, calls: boolean) => TargetRequest;
  /** Whether all readers of the channel see an answer that calls them. Otherwise, what calls them is posted as a new message. */
  readonly answerCalls?: boolean;
}

/** A type of target that receives messages. Each has its own file. */
export interface NotificationTarget {
  /** The name of the type in the configuration, which is also the file name. */
  readonly id: MessageType;
  /** How the message is sent: as a POST, or as a mail, which has only the header `subject`. */
  readonly via: 'http' | 'smtp';
  /** Why nothing is sent for a content; undefined if it is sent. Absent for types that get everything. */
  readonly skips?: (content: Content) => string | undefined;
  /** The form of the `channel` in the query of its address; absent for types without channels. */
  readonly channel?: RegExp;
  /** How its messages are changed and answered; absent for types that cannot do that. */
  readonly threads?: Threads;
  /** The failure that the body of a successful response describes. */
  readonly readFailure?: (json: unknown) => SendResult | undefined;
  /** Builds the request with the message. */
  build(content: Content, delivery: Delivery): TargetRequest;
}

/** The most names that a fact shows; of companions, all are shown. */
const maxNames = 5;

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
    ...(text !== undefined && { text, facts: [], notes: [] }),
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
    facts: factOf('Target', { names: [target] }),
    notes: [],
    button: { text: 'About notifications', url: `${documentation}/notifications.md` },
    links: [],
  };
}

function messageOfNotice(notice: Notice, origins: Origins, means: LinkMeans): Message {
  const {
    kind,
    subject,
    tag,
    digest,
    base,
    from = [],
    alongside = [],
    fixes = [],
    workloads = [],
    hasMore = false,
    reason,
    message,
    nextStep,
  } = notice;
  const button = linkFor(notice, means);
  return {
    severity: severityOf[kind],
    title: titleOf(notice),
    facts: [
      ...factOf('Image', { names: tag === undefined ? [] : [tag], text: digest && `(${shortDigest(digest)})` }),
      ...factOf('Base', { names: base === undefined ? [] : [shortDigest(base)] }),
      ...factOf('Fixes', { names: fixes.map(({ id, severity }) => `${id} (${severity})`), most: maxNames }),
      ...factOf('Images', { text: describeCounts(notice) }),
      ...factOf(kind === 'FixAvailable' ? 'Runs' : 'Before', { names: from, most: maxNames }),
      ...factOf('Alongside', { names: unique(alongside.map(({ to }) => to)), most: maxCompanions }),
      ...factOf('Before alongside', { names: unique(alongside.flatMap((one) => one.from ?? [])), most: maxCompanions }),
      ...factOf('Workloads', { names: workloads, most: maxNames, hasMore }),
      ...factOf('Reason', { names: reason === undefined ? [] : [reason] }),
    ],
    notes: [...factOf('Why', { text: message }), ...factOf('Next', { text: nextStep })],
    ...(kind === 'ApprovalRequired' && { code: approveCommand(subject) }),
    ...defined({ button }),
    links: linksOf(origins),
  };
}

function unique(names: readonly string[]): string[] {
  return [...new Set(names)];
}

/** A text whose digest, if it ends with one, is shortened. */
function shortDigest(text: string): string {
  const at = text.lastIndexOf('sha256:');
  return at === -1 ? text : text.slice(0, at + 'sha256:'.length + 12);
}

function describeCounts({ images }: Pick<Notice, 'images'>): string | undefined {
  return images && `${images.current} current, ${images.behind} behind, ${images.refused} of these refused, ${images.unknown} unknown`;
}

/** Where the page of a policy shows the cause of a notice. */
const anchors: Readonly<Partial<Record<NoticeKind, string>>> = {
  Updated: 'push',
  RolledOut: 'push',
  RolloutFailed: 'push',
  RolledBack: 'push',
  Blocked: 'explanation',
  FixAvailable: 'vulnerabilities',
  WebhookMissing: 'explanation',
};

/** The page to open: the form that approves, which needs a sign-in; the policy, base or image; or, without a dashboard, the explanation of the reason. */
function linkFor(notice: Notice, { dashboardUrl, signLink }: LinkMeans): Link | undefined {
  const { kind, reason, subject } = notice;
  const page = pageFor(subject);
  if (dashboardUrl !== undefined && page !== undefined) {
    const url = `${dashboardUrl}${page.path}`;
    const anchor = subject.kind === 'ImagePolicy' ? anchors[kind] : undefined;
    if (kind !== 'ApprovalRequired') return { text: page.open, url: anchor === undefined ? url : `${url}#${anchor}` };
    const link = subject.kind === 'ImagePolicy' ? signLink?.(notice) : undefined;
    return { text: 'Approve', url: `${url}/approve${link === undefined ? '' : `?link=${link}`}` };
  }
  return isReason(reason) ? { text: 'What to do', url: pageOf(reason) } : undefined;
}

/** The page of the dashboard about a subject; undefined if it has none. */
export function pageFor({ kind, namespace = '', name }: Notice['subject']): { readonly path: string; readonly open: string } | undefined {
  const path = `${encodeURIComponent(namespace)}/${encodeURIComponent(name)}`;
  if (kind === 'ImagePolicy') return { path: `/policies/${path}`, open: 'Open the policy' };
  if (kind === 'BaseImagePolicy') return { path: `/bases/${path}`, open: 'Open the base' };
  const image = kind === 'Image' ? tryParseImageReference(name) : undefined;
  if (image === undefined) return undefined;
  const query = new URLSearchParams({ repository: formatRepository(image.repository), runsIn: namespace });
  return { path: `/image?${query.toString()}#places`, open: 'Open the image' };
}

/** The title with the icon of the severity before it. The title of a template shows what its author writes. */
export function headingOf({ severity, title, isOwnTitle = false }: Message): string {
  return isOwnTitle ? title : `${looks[severity].icon} ${title}`;
}

/** The command that approves the waiting image. */
function approveCommand({ kind, namespace = '', name }: Notice['subject']): string {
  return kind === 'BaseImagePolicy' ? `image-watcher approve -n ${namespace} bipol/${name}` : `image-watcher approve ${namespace}/${name}`;
}
