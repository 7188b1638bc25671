import { z } from 'zod';
import { formatRepository } from '../../../src/core/model/image-reference.ts';
import { acceptPush, isPushEvent } from '../../../src/core/model/push-event.ts';
import { providers } from '../../../src/service/receive/providers/index.ts';
import { MalformedBody, type ParsedDelivery, type Provider } from '../../../src/service/receive/providers/provider.ts';
import { family } from '../family.ts';

const now = new Date('2026-03-01T12:00:00.000Z');

/** Which pushes a delivery announces, as `host/path:tag`, with the digest where the source checks it; `registry` is the receiver's. */
export const webhooks = family(
  'webhooks',
  z.strictObject({
    provider: z.string(),
    body: z.json(),
    headers: z.record(z.string(), z.string()).optional(),
    registry: z.string().optional(),
    withDigest: z.literal(true).optional(),
  }),
  ({ provider, body, headers = {}, registry, withDigest = false }) => {
    const context = {
      receiver: 'prod',
      provider,
      aliases: new Map<string, string>(),
      now,
      ...(registry && { registryOverride: registry }),
    };
    const delivery = { headers, body: Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)) };
    return parse(provider, delivery)
      .pushes.map((push) => acceptPush(push, context))
      .filter(isPushEvent)
      .map(({ repository, tag, digest }) => {
        const pinned = withDigest && digest !== undefined ? `@${digest}` : '';
        return `${formatRepository(repository)}:${tag}${pinned}`;
      });
  },
);

/** Whether the sender of a delivery is believed to know the secret. */
export const webhookSecrets = family(
  'webhook-secrets',
  z.strictObject({ provider: z.string(), secret: z.string(), body: z.string(), headers: z.record(z.string(), z.string()) }),
  ({ provider, secret, body, headers }) => providerOf(provider).verify({ headers, body: Buffer.from(body) }, [secret]),
);

function providerOf(id: string): Provider {
  const provider = providers.find((one) => one.id === id);
  if (provider === undefined) throw new Error(`no provider "${id}"`);
  return provider;
}

function parse(id: string, delivery: Parameters<Provider['parse']>[0]): ParsedDelivery {
  try {
    return providerOf(id).parse(delivery);
  } catch (error) {
    if (error instanceof MalformedBody) return { pushes: [], ignored: [] };
    throw error;
  }
}
