import { z } from 'zod';
import type { ClaimedPush, IgnoredPush } from '../../../core/model/push-event.ts';
import { verifyAuthorizationHeader } from './headers.ts';
import { type CloudEvent, readBinaryCloudEvent, readStructuredCloudEvent } from './cloud-events.ts';
import { filled, limitedText, optionalText as text, parseJsonBody, readEntries, parseEvents, toParsedDelivery } from './read-payload.ts';
import { MalformedBody, type Delivery, type ParsedDelivery, type Provider } from './provider.ts';

/** The change as the registry describes it, in the body of its own webhook and in `data` of both Event Grid schemas. */
const change = z.object({
  id: text,
  timestamp: text,
  action: text,
  target: z.object({ repository: text, tag: text, digest: text, mediaType: text }).nullish().catch(undefined),
  request: z.object({ host: text }).nullish().catch(undefined),
});
const gridEvent = z.object({ id: text, topic: text, eventType: z.string(), eventTime: text, data: z.unknown().optional() });
const validation = z.object({ validationCode: limitedText(1024, 1) });

const validationType = 'Microsoft.EventGrid.SubscriptionValidationEvent';

/** Azure Container Registry: its own webhooks, and Event Grid subscriptions in either schema, single events and batches. */
export const acr: Provider = {
  id: 'acr',
  documentation: 'https://learn.microsoft.com/azure/container-registry/container-registry-webhook-reference',
  verify: verifyAuthorizationHeader,
  parse(delivery): ParsedDelivery {
    const events = readEvents(delivery);
    const [first] = events;
    if (events.length === 1 && first?.type === validationType) return answerValidation(first);
    return events.length === 0 ? toParsedDelivery([{ code: 'Incomplete', reason: 'no events' }]) : parseEvents(events, toPush);
  },
};

/** Answers the validation of an Event Grid subscription with its code: without it, Event Grid delivers nothing. `validationUrl` is never fetched. */
function answerValidation({ data }: CloudEvent): ParsedDelivery {
  const code = validation.safeParse(data).data?.validationCode;
  if (code === undefined) throw new MalformedBody('the validation event has no validationCode');
  return { ...toParsedDelivery([{ reason: 'the validation of an Event Grid subscription' }]), handshake: { validationResponse: code } };
}

function readEvents(delivery: Delivery): readonly (CloudEvent | undefined)[] {
  const binary = readBinaryCloudEvent(delivery);
  if (binary !== undefined) return [binary];
  const document = parseJsonBody(z.unknown(), delivery.body);
  const batch = readEntries(document);
  if (batch !== undefined) return batch.map(readEvent);
  const event = readEvent(document);
  if (event === undefined) throw new MalformedBody('neither a webhook of the registry nor an event of Event Grid');
  return [event];
}

function readEvent(document: unknown): CloudEvent | undefined {
  const cloudEvent = readStructuredCloudEvent(document);
  if (cloudEvent !== undefined) return cloudEvent;
  const grid = gridEvent.safeParse(document).data;
  if (grid !== undefined)
    return { type: grid.eventType, ...filled({ id: grid.id, source: grid.topic, time: grid.eventTime }), data: grid.data };
  const webhook = change.safeParse(document).data;
  if (!webhook?.action) return undefined;
  return { type: webhook.action, ...filled({ id: webhook.id, time: webhook.timestamp }), data: webhook };
}

function toPush({ type, id, source, time, data }: CloudEvent): ClaimedPush | IgnoredPush {
  const { target, request, action, ...inner } = change.safeParse(data).data ?? {};
  const repository = target?.repository || undefined;
  const tag = target?.tag || undefined;
  const names = filled({ repository, tag });
  const isPush = type === 'push' || type === 'Microsoft.ContainerRegistry.ImagePushed';
  if (!isPush || (action && action !== 'push')) return { reason: `not a push: ${(isPush ? (action ?? '') : type).slice(0, 64)}`, ...names };
  if (repository === undefined) return { code: 'Incomplete', reason: 'the event names no repository', ...names };
  const key = id || inner.id;
  const registry = request?.host || hostOf(source);
  const pushedAt = time || inner.timestamp;
  return {
    repository,
    ...filled({
      registry,
      tag,
      digest: target?.digest,
      mediaType: target?.mediaType,
      idempotencyKey: key && (source ? `${source} ${key}` : key),
      pushedAt,
    }),
  };
}

/** The login server of `…/providers/Microsoft.ContainerRegistry/registries/NAME`, for events that do not name the host. */
function hostOf(source: string | null | undefined): string | undefined {
  const name = /\/registries\/([a-z0-9]{5,50})$/i.exec(source ?? '')?.[1];
  return name && `${name}.azurecr.io`;
}
