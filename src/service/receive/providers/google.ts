import { z } from 'zod';
import type { ClaimedPush, IgnoredPush } from '../../../core/model/push-event.ts';
import { headerOf, provesNothing } from './headers.ts';
import { filled, optionalText as text, parseJsonBody, toParsedDelivery } from './read-payload.ts';
import type { Delivery, Provider } from './provider.ts';

/** The default envelope of a Pub/Sub push, which spells each name in two ways. */
const wrapped = z.object({
  message: z.object({
    data: z.string().nullish().catch(undefined),
    messageId: text,
    message_id: text,
    publishTime: text,
    publish_time: text,
  }),
  subscription: text,
});
/** The message of the registry, with full references: `host/path@sha256:…` and `host/path:tag`. */
const change = z.object({ action: z.string(), digest: text, tag: text });
const document = z.union([wrapped, change], { error: 'neither a Pub/Sub message nor a change of a registry' });

interface Message {
  readonly data: z.output<typeof change>;
  readonly idempotencyKey?: string | undefined;
  readonly pushedAt?: string | undefined;
}

interface Reference {
  readonly registry: string;
  readonly repository: string;
  readonly tag?: string | undefined;
  readonly digest?: string | undefined;
}

/** Google Artifact Registry and Container Registry, by a push subscription to the topic `gcr`. */
export const google: Provider = {
  id: 'google',
  documentation: 'https://cloud.google.com/artifact-registry/docs/configure-notifications',
  // Pub/Sub authenticates with OIDC tokens, which the receiver verifies, or not at all.
  verify: provesNothing,
  parse(delivery) {
    const message = readMessage(delivery);
    return toParsedDelivery([message === undefined ? { code: 'Incomplete', reason: 'a Pub/Sub message without data' } : toPush(message)]);
  },
};

function readMessage(delivery: Delivery): Message | undefined {
  const body = parseJsonBody(document, delivery.body);
  if ('message' in body) {
    const { message, subscription } = body;
    if (!message.data) return undefined;
    const data = parseJsonBody(change, Buffer.from(message.data, 'base64'));
    return {
      data,
      idempotencyKey: keyOf(subscription, message.messageId || message.message_id),
      pushedAt: message.publishTime || message.publish_time || undefined,
    };
  }
  // With payload unwrapping, the metadata are in headers if the subscription has "write metadata" enabled. Otherwise, a repeated delivery cannot be
  // distinguished from a tag that was moved back to the same digest, so there is no idempotency key.
  return {
    data: body,
    idempotencyKey: keyOf(headerOf(delivery, 'x-goog-pubsub-subscription-name'), headerOf(delivery, 'x-goog-pubsub-message-id')),
    pushedAt: headerOf(delivery, 'x-goog-pubsub-publish-time'),
  };
}

function keyOf(subscription: string | null | undefined, messageId: string | null | undefined): string | undefined {
  return messageId ? `${subscription ?? ''} ${messageId}` : undefined;
}

function toPush({ data, idempotencyKey, pushedAt }: Message): ClaimedPush | IgnoredPush {
  const tagged = readReference(data.tag);
  const pinned = readReference(data.digest);
  const named = tagged ?? pinned;
  const names = filled({ repository: named?.repository, tag: named?.tag });
  if (data.action !== 'INSERT') return { reason: `not a push: ${data.action.slice(0, 64)}`, ...names };
  if (named === undefined) return { code: 'Incomplete', reason: 'the change names no image' };
  const isOne = pinned?.registry === named.registry && pinned.repository === named.repository;
  return {
    registry: named.registry,
    repository: named.repository,
    ...(tagged?.tag && { tag: tagged.tag }),
    ...(isOne && pinned.digest && { digest: pinned.digest }),
    ...filled({ idempotencyKey, pushedAt }),
  };
}

function readReference(reference: string | null | undefined): Reference | undefined {
  const [name = '', digest] = reference?.split('@') ?? [];
  const slash = name.indexOf('/');
  if (slash < 1) return undefined;
  const colon = name.lastIndexOf(':');
  const hasTag = colon > name.lastIndexOf('/');
  const path = name.slice(slash + 1, hasTag ? colon : undefined);
  return {
    registry: name.slice(0, slash),
    // Domain-scoped projects are written `example.com:project`, but image names contain a slash in place of the colon.
    repository: path.replace(':', '/'),
    tag: hasTag ? name.slice(colon + 1) : undefined,
    digest,
  };
}
