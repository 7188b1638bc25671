import { z } from 'zod';
import type { ClaimedPush, IgnoredPush } from '../../../core/model/push-event.ts';
import type { IgnoredReason } from '../../../core/model/reasons.ts';
import { headerOf, verifyHmac } from './headers.ts';
import { filled, optionalText as text, parseJsonBody, toParsedDelivery } from './read-payload.ts';
import type { Provider, Delivery } from './provider.ts';

const event = z.object({
  timestamp: text,
  action: z.string(),
  repositoryName: text,
  component: z.object({ format: text, name: text, version: text }).nullish().catch(undefined),
});

const pushActions = new Set(['CREATED', 'UPDATED']);

/** Sonatype Nexus Repository 3: the component events of its Docker repositories. They name no registry and no digest. */
export const nexus: Provider = {
  id: 'nexus',
  documentation: 'https://help.sonatype.com/en/webhooks.html',
  hasRepositories: true,
  verify: (delivery, secrets) => verifyHmac(delivery, secrets, { headers: ['x-nexus-webhook-signature'], algorithm: 'sha1' }),
  parse: (delivery) => toParsedDelivery([readComponent(delivery)]),
};

function readComponent(delivery: Delivery): ClaimedPush | IgnoredPush {
  const { timestamp, action, repositoryName, component } = parseJsonBody(event, delivery.body);
  const { format, name, version: tag } = component ?? {};
  const ignore = (reason: string, code: IgnoredReason = 'OtherEvent'): IgnoredPush => ({
    code,
    reason,
    ...filled({ repository: name, tag }),
  });
  const kind = headerOf(delivery, 'x-nexus-webhook-id');
  // Events for assets are ignored, because assets are the blobs and manifests of the same push.
  if (kind !== undefined && kind !== 'rm:repository:component') return ignore(`not a component event: ${kind.slice(0, 64)}`);
  if (!component) return ignore('the event names no component', 'Incomplete');
  if (format !== 'docker') return ignore(`not an image: format ${format ?? 'unknown'}`, 'NotAnImage');
  if (!pushActions.has(action)) return ignore(`not a push: ${action.slice(0, 64)}`);
  if (!name) return ignore('the event names no repository', 'Incomplete');
  const idempotencyKey = headerOf(delivery, 'x-nexus-webhook-delivery');
  // Nexus writes 2025-06-01T10:00:00.515+0000, without the colon of RFC 3339.
  const pushedAt = timestamp?.replace(/([+-]\d\d)(\d\d)$/, '$1:$2').replace(/[+-]00:00$/, 'Z');
  return {
    repository: name,
    ...(repositoryName && { within: { key: repositoryName, image: name } }),
    ...filled({ tag, idempotencyKey, pushedAt }),
  };
}
