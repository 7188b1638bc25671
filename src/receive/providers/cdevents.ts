import { z } from 'zod';
import type { ClaimedPush, IgnoredPush } from '../../model/push-event.ts';
import { verifyAuthorizationHeader } from './authorization-header.ts';
import { readCloudEvents, type CloudEvent } from './cloud-events.ts';
import { optionalText as text } from './optional-text.ts';
import { toParsedDelivery } from './parsed-delivery.ts';
import type { Provider } from './provider.ts';
import { readOciPurl } from './purl.ts';

const published = /^dev\.cdevents\.artifact\.published\./;

const payload = z.object({
  context: z.object({ id: text, source: text, timestamp: text }).nullish().catch(undefined),
  subject: z.object({ id: text }).nullish().catch(undefined),
});

/** CDEvents over CloudEvents: `artifact.published` of any version, for artifacts whose package URL is of type `oci`. */
export const cdevents: Provider = {
  id: 'cdevents',
  documentation: 'https://cdevents.dev/docs/continuous-integration-pipeline-events/',
  verify: verifyAuthorizationHeader,
  parse(delivery) {
    return toParsedDelivery(
      readCloudEvents(delivery).map((event) =>
        event === undefined ? { code: 'Incomplete', reason: 'an event of another shape' } : readEvent(event),
      ),
    );
  },
};

function readEvent({ type, id, source, time, data }: CloudEvent): ClaimedPush | IgnoredPush {
  if (!published.test(type)) return { reason: `not a push: ${type.slice(0, 64)}` };
  const { context, subject } = payload.safeParse(data).data ?? {};
  const push = subject?.id ? readOciPurl(subject.id) : undefined;
  if (push === undefined)
    return { code: 'NotAnImage', reason: `not an image: ${subject?.id?.slice(0, 64) ?? 'the event names no artifact'}` };
  const key = context?.id ?? id;
  const pushedAt = context?.timestamp ?? time;
  return {
    ...push,
    ...(key && { idempotencyKey: `${context?.source ?? source ?? ''} ${key}` }),
    ...(pushedAt && { pushedAt }),
  };
}
