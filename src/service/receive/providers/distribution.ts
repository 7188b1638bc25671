import { z } from 'zod';
import type { ClaimedPush, IgnoredPush } from '../../../core/model/push-event.ts';
import { verifyAuthorizationHeader } from './headers.ts';
import { entries, filled, optionalText as text, parseJsonBody, parseEvents } from './read-payload.ts';
import { MalformedBody, type Provider } from './provider.ts';

const envelope = z.object({ events: entries });
const reference = z.object({ mediaType: text });
/** How many references are searched for the config descriptor. Senders put it before the layers. */
const maxReferences = 128;
const notification = z.object({
  id: text,
  timestamp: text,
  action: z.string(),
  target: z.object({
    mediaType: text,
    digest: text,
    repository: text,
    tag: text,
    url: text,
    references: z.unknown().optional(),
  }),
  request: z.object({ host: text }).nullish().catch(undefined),
});

/** CNCF distribution (registry:2, registry:3), and registries that are built on it, such as GitLab's. */
export const distribution: Provider = {
  id: 'distribution',
  documentation: 'https://distribution.github.io/distribution/about/notifications/',
  verify: verifyAuthorizationHeader,
  parse(delivery) {
    const { events } = parseJsonBody(envelope, delivery.body);
    if (events === undefined) throw new MalformedBody('events: not a list');
    return parseEvents(
      events.map((event) => notification.safeParse(event).data),
      toPush,
    );
  },
};

function toPush({ id, timestamp, action, target, request }: z.output<typeof notification>): ClaimedPush | IgnoredPush {
  const names = filled({ repository: target.repository, tag: target.tag });
  if (action !== 'push') return { reason: `not a push: ${action.slice(0, 64)}`, ...names };
  if (!target.repository) return { code: 'Incomplete', reason: 'the event names no repository' };
  const configMediaType = artifactConfigOf(target.references);
  const registry = request?.host || hostOf(target.url);
  return {
    repository: target.repository,
    ...filled({
      registry,
      tag: target.tag,
      digest: target.digest,
      mediaType: target.mediaType,
      configMediaType,
      idempotencyKey: id,
      pushedAt: timestamp,
    }),
  };
}

const artifactConfig = /^application\/(?:vnd\.(?:cncf\.helm|cncf\.notary|dev\.cosign|in-toto|oci\.empty|cyclonedx|syft)|spdx)/;

/** The config media type of an artifact (chart, signature) whose manifest is typed as an image's. References are sent only with `includereferences`. */
function artifactConfigOf(references: unknown): string | undefined {
  if (!Array.isArray(references)) return undefined;
  for (const item of references.slice(0, maxReferences)) {
    const mediaType = reference.safeParse(item).data?.mediaType;
    if (mediaType && artifactConfig.test(mediaType)) return mediaType;
  }
  return undefined;
}

function hostOf(url: string | null | undefined): string | undefined {
  return url && URL.canParse(url) ? new URL(url).host : undefined;
}
