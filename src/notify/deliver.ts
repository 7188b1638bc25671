/** Sends one content to one target of the configuration. */
import type { Content, NotificationTarget, TargetRequest } from './message.ts';
import type { SendResult } from './send-notice.ts';
import { targets } from './targets/index.ts';

/** A target of the configuration, with its secrets. */
export interface ConfiguredTarget {
  readonly name: string;
  readonly kind: NotificationTarget['id'];
  readonly on: readonly string[];
  /** The namespaces whose policies it gets notices about; empty: all. */
  readonly namespaces: readonly string[];
  /** Whether plain http is allowed. */
  readonly insecure: boolean;
  /** The current address, which is a secret. */
  readonly url: () => string;
  /** The current key for signatures; empty for chats. */
  readonly secret: () => string;
}

/** Sends a request to a URL; never rejects. */
export type Post = (url: URL, request: TargetRequest, signal: AbortSignal) => Promise<SendResult>;

export interface DeliveryMeans {
  /** The same at every try. */
  readonly id: string;
  readonly post: Post;
  readonly now: () => number;
  readonly signal: AbortSignal;
}

/** Builds the request for the target, and sends it once; never rejects. */
export async function deliver(target: ConfiguredTarget, content: Content, { id, post, now, signal }: DeliveryMeans): Promise<SendResult> {
  const url = URL.parse(target.url());
  if (url === null) return { kind: 'failed', message: 'its secret holds no URL', action: 'put the URL of the webhook into the secret' };
  const isAllowed = url.protocol === 'https:' || (url.protocol === 'http:' && target.insecure);
  if (!isAllowed) {
    const action = 'use an https URL, or allow plain http with insecure: true';
    return { kind: 'failed', message: 'its URL does not begin with https:, and the target is not configured with insecure: true', action };
  }
  return post(url, targets[target.kind].build(content, { id, secret: target.secret(), now: new Date(now()) }), signal);
}
