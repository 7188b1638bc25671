/** Sends one content to one target of the configuration. */
import { describeError } from '../core/model/errors.ts';
import type { Notice } from '../core/model/notice.ts';
import { cut } from '../core/model/text.ts';
import type { RenderedMessage } from './render-template.ts';
import type { ConfiguredTarget } from '../core/model/configured-target.ts';
import { isForgeType, type MessageTemplate } from '../core/model/notification-target.ts';
import { reportStatus } from './commit-status.ts';
import type { ForgeRequest } from './forge-report.ts';
import { forges } from './forges/index.ts';
import { reportDeployment } from './github-deployment.ts';
import type { Content, NotificationTarget, SignLink, TargetRequest } from './message.ts';
import { sendInThread, type ThreadMeans } from './send-in-thread.ts';
import type { MailOptions } from './send-mail.ts';
import type { Exchanged, SendResult } from '../service/proxy/exchange.ts';
import { targets } from './targets/index.ts';

/** Sends a request to a URL, and reads the response if `wantsJson`. Never rejects. */
export type Exchange = (
  url: URL,
  request: ForgeRequest,
  options: { readonly signal: AbortSignal; readonly wantsJson?: boolean },
) => Promise<Exchanged>;
/** Sends a mail by the server at a URL. Never rejects. */
export type Mail = (url: URL, request: TargetRequest, options: MailOptions) => Promise<SendResult>;

export interface DeliveryMeans {
  /** The id of the message, which is the same at every try. */
  readonly id: string;
  readonly exchange: Exchange;
  readonly mail: Mail;
  /** The address of the dashboard for links. */
  readonly dashboardUrl?: string | undefined;
  /** The name of the cluster, with which messages begin. */
  readonly cluster?: string | undefined;
  readonly signLink?: SignLink | undefined;
  /** The thread of the message, for targets with threads. */
  readonly thread?: ThreadMeans | undefined;
  readonly now: () => number;
  readonly signal: AbortSignal;
}

const schemes = { http: { safe: 'https:', unsafe: 'http:' }, smtp: { safe: 'smtps:', unsafe: 'smtp:' } } as const;

/** Builds the request for the target, and sends it once. Rejects only if a message in a thread was sent and cannot be remembered. */
export async function deliver(target: ConfiguredTarget, content: Content, means: DeliveryMeans): Promise<SendResult> {
  const { id, exchange, mail, dashboardUrl, cluster, signLink, now, signal } = means;
  const { kind } = target;
  const via = isForgeType(kind) ? 'http' : targets[kind].via;
  const read = await readSecrets(target);
  if ('problem' in read) return { kind: 'failed', message: read.problem };
  const url = URL.parse(read.url);
  const { safe, unsafe } = schemes[via];
  if (url === null) return { kind: 'failed', message: 'its secret holds no URL', action: `put its URL, ${safe}//…, into the secret` };
  // A server with an smtp: address must support STARTTLS, unless `insecure`.
  const isAllowed = url.protocol === safe || (url.protocol === unsafe && (via === 'smtp' || target.insecure));
  if (!isAllowed) {
    const action = via === 'smtp' ? 'use an smtps: or smtp: URL' : 'use an https URL, or allow plain http with insecure: true';
    return { kind: 'failed', message: `its URL does not begin with ${safe}, and the target is not configured with insecure: true`, action };
  }
  if (isForgeType(kind)) {
    const { forge } = target;
    if (forge === undefined) return { kind: 'failed', message: 'it has no environment', action: 'set its environment' };
    const send = (to: URL, request: ForgeRequest) => exchange(to, request, { signal, wantsJson: true });
    const reporting = { ...forge, api: url, token: read.secret, dashboardUrl, exchange: send };
    return kind === 'githubDeployment' ? reportDeployment(content, reporting) : reportStatus(content, forges[kind], reporting);
  }
  const type = targets[kind];
  const { build, skips } = type;
  const skipped = skips?.(content);
  if (skipped !== undefined) return { kind: 'sent', message: `nothing to report: ${skipped}` };
  const channel = type.channel === undefined ? undefined : (url.searchParams.get('channel') ?? '');
  if (type.channel?.test(channel ?? '') === false)
    return { kind: 'failed', message: 'its URL names no channel', action: 'put ?channel= and the id of the channel behind the URL' };
  const request = await buildWithTemplate(target, content, now(), (shown, rendered) =>
    build(shown, { id, secret: read.secret, now: new Date(now()), channel, dashboardUrl, cluster, signLink, rendered }),
  );
  if ('problem' in request) return { kind: 'failed', message: request.problem, action: 'correct the template of the target' };
  if (via === 'http') {
    const send = (one: TargetRequest) => post(url, one, type, (to, sent) => exchange(to, sent, { signal, wantsJson: isAnswerRead(type) }));
    const { thread } = means;
    return thread === undefined || type.threads === undefined
      ? (await send(request)).result
      : sendInThread(request, { ...thread, threads: type.threads, send });
  }
  const { email, insecure } = target;
  if (email === undefined) return { kind: 'failed', message: 'it has no addresses', action: 'set email.from and email.to' };
  return mail(url, request, { ...email, id, insecure, signal });
}

/** What a test message needs: the targets, by their names, and what records the result. */
interface TestMeans extends Omit<DeliveryMeans, 'id' | 'signal' | 'thread'> {
  readonly findTarget: (name: string) => ConfiguredTarget | undefined;
  readonly onResult: (name: string, result: SendResult) => void;
  readonly newId: () => string;
}

/** Sends a test message to a target, once; undefined if there is no such target. */
export async function sendTest(name: string, { findTarget, onResult, newId, ...means }: TestMeans): Promise<SendResult | undefined> {
  const target = findTarget(name);
  if (target === undefined) return undefined;
  const content = { type: 'test', target: name, at: new Date(means.now()).toISOString() } as const;
  const result = await deliver(target, content, { ...means, id: newId(), signal: new AbortController().signal });
  onResult(name, result);
  return result;
}

/** Whether the body of a response is of interest. */
function isAnswerRead({ threads, readFailure }: NotificationTarget): boolean {
  return threads !== undefined || readFailure !== undefined;
}

async function post(
  url: URL,
  { method = 'POST', headers, body, path = '', query = {} }: TargetRequest,
  { channel, readFailure }: NotificationTarget,
  exchange: (to: URL, request: ForgeRequest) => Promise<Exchanged>,
): Promise<Exchanged> {
  const to = new URL(url);
  // The channel is in the body of the message.
  if (channel !== undefined) to.searchParams.delete('channel');
  if (path !== '') to.pathname = `${to.pathname.replace(/\/+$/, '')}${path}`;
  for (const [name, value] of Object.entries(query)) to.searchParams.set(name, value);
  const exchanged = await exchange(to, { method, headers, body });
  const failure = exchanged.result.kind === 'sent' ? readFailure?.(exchanged.json) : undefined;
  return failure === undefined ? exchanged : { ...exchanged, result: failure };
}

async function readSecrets({
  url,
  secret,
}: ConfiguredTarget): Promise<{ readonly url: string; readonly secret: string } | { readonly problem: string }> {
  try {
    return { url: await url(), secret: await secret() };
  } catch (error) {
    return { problem: describeError(error) };
  }
}

/** The notice with which `notify test` renders the template, to find its mistakes. */
const sample: Notice = {
  kind: 'Updated',
  subject: { kind: 'ImagePolicy', namespace: 'default', name: 'example', uid: '' },
  at: '2026-01-01T00:00:00Z',
  tag: '1.4.2',
  from: ['registry.example.com/example:1.4.1'],
  workloads: ['Deployment default/example'],
};

/** Failures of templates. They are not rendered again for a minute, so that a storm of events does not repeat the work. */
const failures = new WeakMap<MessageTemplate, { readonly problem: string; readonly until: number }>();
const failureMs = 60_000;

/** Builds the request with the template. If the template fails, the built-in one is sent with a note, so that no message is lost. Only a test fails. */
async function buildWithTemplate(
  { template }: ConfiguredTarget,
  content: Content,
  now: number,
  build: (content: Content, rendered?: RenderedMessage) => TargetRequest,
): Promise<TargetRequest | { readonly problem: string }> {
  if (template === undefined || content.type === 'summary') return build(content);
  const failure = failures.get(template);
  if (content.type === 'notice' && failure !== undefined && failure.until > now) return build(withProblem(content, failure.problem));
  try {
    // Imported only if a target has a template.
    const { renderTemplate } = await import('./render-template.ts');
    if (content.type === 'notice') return build(content, renderTemplate(template, content.notice, content.origins ?? {}));
    renderTemplate(template, sample, {}).text?.((value) => value);
    return build(content);
  } catch (error) {
    const problem = `the template of the target fails: ${cut(describeError(error), 200)}`;
    if (content.type === 'test') return { problem };
    failures.set(template, { problem, until: now + failureMs });
    return build(withProblem(content, problem));
  }
}

type NoticeContent = Extract<Content, { type: 'notice' }>;

function withProblem(content: NoticeContent, problem: string): NoticeContent {
  const message = [content.notice.message ?? [], problem].flat().join('; ');
  return { ...content, notice: { ...content.notice, message } };
}
