import { z } from 'zod';
import type { ClaimedPush, IgnoredPush } from '../../../core/model/push-event.ts';
import { verifyAnyHeader } from './headers.ts';
import { readCloudEvents, type CloudEvent } from './cloud-events.ts';
import { filled, optionalText as text, parseEvents, parseJsonBody } from './read-payload.ts';
import { MalformedBody, type Provider } from './provider.ts';

const image = z.object({
  name: text,
  reference: text,
  digest: text,
  mediaType: text,
  /** The manifest of the image, as JSON in a string. */
  manifest: z.string().nullish().catch(undefined),
});
const manifest = z.object({
  artifactType: text,
  config: z.object({ mediaType: text }).nullish().catch(undefined),
  subject: z.unknown().optional(),
});

/** zot, by its extension `events` with a sink of type `http`. Its CloudEvents name the registry only if the administrator sets their source to its URL. */
export const zot: Provider = {
  id: 'zot',
  documentation: 'https://zotregistry.dev/latest/articles/events/',
  verify: verifyAnyHeader,
  parse: (delivery) => parseEvents(readCloudEvents(delivery), readEvent),
};

function readEvent({ type, id, source, time, data }: CloudEvent): ClaimedPush | IgnoredPush {
  const { name, reference, digest, mediaType, manifest: json } = image.safeParse(data).data ?? {};
  const names = filled({ repository: name, tag: reference });
  // Only the end of the event type is compared, because its prefix `zotregistry.` is configurable (typePrefix).
  if (!type.endsWith('.image.updated')) return { reason: `not a push: ${type.slice(0, 64)}`, ...names };
  if (!name) return { code: 'Incomplete', reason: 'the event names no repository' };
  const { artifactType, config, subject } = (json && readManifest(json)) || {};
  if (subject) return { code: 'Referrer', reason: 'a signature, attestation or other referrer of an image', ...names };
  // The artifact type decides where there is one: the configuration may then be empty.
  const configMediaType = artifactType || config?.mediaType;
  const registry = source && /^https?:\/\//i.test(source) && URL.canParse(source) ? new URL(source).host : undefined;
  return {
    repository: name,
    ...filled({
      registry,
      tag: reference,
      digest,
      mediaType,
      configMediaType,
      idempotencyKey: id && `${source ?? ''} ${id}`,
      pushedAt: time,
    }),
  };
}

/** The fields of the manifest that distinguish images from other artifacts; undefined if it cannot be read. */
function readManifest(json: string): z.output<typeof manifest> | undefined {
  try {
    return parseJsonBody(manifest, Buffer.from(json));
  } catch (error) {
    if (error instanceof MalformedBody) return undefined;
    throw error;
  }
}
