import { z } from 'zod';
import type { ClaimedPush, IgnoredPush } from '../../../core/model/push-event.ts';
import { type CloudEvent, readCloudEvents } from './cloud-events.ts';
import { verifyAuthorizationHeader } from './headers.ts';
import type { Provider } from './provider.ts';
import { filled, optionalText as text, parseEvents } from './read-payload.ts';

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
  parse: (delivery) => parseEvents(readCloudEvents(delivery), readEvent),
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
    ...filled({ idempotencyKey: key && `${context?.source ?? source ?? ''} ${key}`, pushedAt }),
  };
}

/** The limit for the qualifiers of a package URL; the specification defines four for images. */
const maxQualifiers = 32;

/**
 * The image of a package URL of type `oci`; undefined for any other type:
 * `pkg:oci/app@sha256%3A…?repository_url=registry.example.com/team/app&tag=v1` (https://github.com/package-url/purl-spec).
 */
export function readOciPurl(purl: string): ClaimedPush | undefined {
  const [, encodedName = '', version = '', query = ''] = /^pkg:\/*oci\/([^/@?#]+)(?:@([^?#]*))?(?:\?([^#]*))?(?:#.*)?$/i.exec(purl) ?? [];
  const name = decode(encodedName).toLowerCase();
  if (name === '') return undefined;
  const qualifiers = new Map(query.split('&', maxQualifiers).map(readQualifier));
  const [registry = '', ...path] = (qualifiers.get('repository_url') ?? '')
    .replace(/^https?:\/\//i, '')
    .replace(/\/+$/, '')
    .split('/');
  // Some senders repeat the name at the end of repository_url, as the specification's examples do; others do not.
  const repository = (path.at(-1)?.toLowerCase() === name ? path : [...path, name]).join('/');
  const tag = qualifiers.get('tag');
  const digest = decode(version);
  return { repository, ...filled({ registry, tag, digest }) };
}

function readQualifier(text: string): [key: string, value: string] {
  const equals = text.indexOf('=');
  return equals === -1 ? ['', ''] : [text.slice(0, equals).toLowerCase(), decode(text.slice(equals + 1))];
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return '';
  }
}
