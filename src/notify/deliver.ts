/** Sends one content to one target of the configuration. */
import { describeError } from '../model/errors.ts';
import type { Content, NotificationTarget, TargetRequest } from './message.ts';
import type { MailAddresses, MailOptions } from './send-mail.ts';
import type { SendResult } from './send-notice.ts';
import { targets } from './targets/index.ts';

/** A target of the configuration, with its secrets. */
export interface ConfiguredTarget {
  readonly name: string;
  readonly kind: NotificationTarget['id'];
  readonly events: readonly string[];
  /** The namespaces whose policies it gets notices about; empty: all. */
  readonly namespaces: readonly string[];
  /** Labels that a policy must have; undefined: all policies. */
  readonly policies?: Readonly<Record<string, string>> | undefined;
  /** With kind email. */
  readonly email?: MailAddresses | undefined;
  /** Whether plain http, or SMTP without TLS, is allowed. */
  readonly insecure: boolean;
  /** How many messages it gets in a minute; the others are summed up. Undefined: all. */
  readonly perMinute?: number | undefined;
  /** The current address, which is a secret; rejects where there is none that may be used. */
  readonly url: () => string | Promise<string>;
  /** The current key for signatures; empty for chats. */
  readonly secret: () => string | Promise<string>;
}

/** Sends a request to a URL; never rejects. */
export type Post = (url: URL, request: TargetRequest, signal: AbortSignal) => Promise<SendResult>;
/** Sends a mail by the server at a URL; never rejects. */
export type Mail = (url: URL, request: TargetRequest, options: MailOptions) => Promise<SendResult>;

export interface DeliveryMeans {
  /** The same at every try. */
  readonly id: string;
  readonly post: Post;
  readonly mail: Mail;
  /** The address of the dashboard, for links. */
  readonly dashboardUrl?: string | undefined;
  readonly now: () => number;
  readonly signal: AbortSignal;
}

const schemes = { http: { safe: 'https:', unsafe: 'http:' }, smtp: { safe: 'smtps:', unsafe: 'smtp:' } } as const;

/** Builds the request for the target, and sends it once; never rejects. */
export async function deliver(target: ConfiguredTarget, content: Content, means: DeliveryMeans): Promise<SendResult> {
  const { id, post, mail, dashboardUrl, now, signal } = means;
  const { via, build } = targets[target.kind];
  const read = await readSecrets(target);
  if ('problem' in read) return { kind: 'failed', message: read.problem };
  const url = URL.parse(read.url);
  const { safe, unsafe } = schemes[via];
  if (url === null) return { kind: 'failed', message: 'its secret holds no URL', action: `put its URL, ${safe}//…, into the secret` };
  // A server that is reached by smtp: has to offer STARTTLS, unless `insecure`.
  const isAllowed = url.protocol === safe || (url.protocol === unsafe && (via === 'smtp' || target.insecure));
  if (!isAllowed) {
    const action = via === 'smtp' ? 'use an smtps: or smtp: URL' : 'use an https URL, or allow plain http with insecure: true';
    return { kind: 'failed', message: `its URL does not begin with ${safe}, and the target is not configured with insecure: true`, action };
  }
  const request = build(content, { id, secret: read.secret, now: new Date(now()), dashboardUrl });
  if (via === 'http') return post(url, request, signal);
  const { email, insecure } = target;
  if (email === undefined) return { kind: 'failed', message: 'it has no addresses', action: 'set email.from and email.to' };
  return mail(url, request, { ...email, id, insecure, signal });
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
