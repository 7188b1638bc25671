import { z } from 'zod';
import { defined } from '../../../core/model/defined.ts';
import { normaliseRegistry, tryParseImageReference } from '../../../core/model/image-reference.ts';
import type { ClaimedPush, IgnoredPush } from '../../../core/model/push-event.ts';
import { headerOf, type HmacScheme, verifyAuthorizationHeader, verifyHmac } from './headers.ts';
import { readBinaryCloudEvent, readStructuredCloudEvent, type CloudEvent } from './cloud-events.ts';
import { entries, filled, optionalText, parseJsonBody, readEntries, readShape, toParsedDelivery } from './read-payload.ts';
import { MalformedBody, type Provider } from './provider.ts';

/** One image in the payload: a reference, separate fields, or Keel's `{name, tag}`. */
const image = z.object({
  image: optionalText,
  name: optionalText,
  registry: optionalText,
  repository: optionalText,
  tag: z.unknown().optional(),
  tags: entries,
  digest: optionalText,
});
const document = image.extend({ id: optionalText, time: optionalText, images: entries });
/** The data of a CloudEvent: the fields of a plain document, or those of Argo CD Image Updater's webhook. */
const eventData = document.extend({
  registryUrl: optionalText,
  repositoryName: optionalText,
  imageTag: optionalText,
  imageDigest: optionalText,
});

/** Matches event types that do not announce a push: an empty type, or one with any of these words. */
const otherEvents = /^ *$|\b(?:deleted?|removed?|untag(?:ged)?|pull(?:ed)?|scan(?:ned)?)\b/;

const scheme: HmacScheme = { headers: ['x-signature-256', 'x-signature'], algorithm: 'sha256', prefix: 'sha256=' };

/** A simple format for CI jobs, and CloudEvents of any type that name an image. */
export const generic: Provider = {
  id: 'generic',
  documentation: 'https://keel.sh/docs/#webhooks',
  verify(delivery, secrets) {
    return verifyHmac(delivery, secrets, scheme) || verifyAuthorizationHeader(delivery, secrets);
  },
  parse(delivery) {
    const binary = readBinaryCloudEvent(delivery);
    if (binary !== undefined) return toParsedDelivery(readEvent(binary));
    const body = parseJsonBody(z.unknown(), delivery.body);
    const events = (readEntries(body) ?? [body]).map(readStructuredCloudEvent);
    if (events.some((event) => event !== undefined)) return toParsedDelivery(events.flatMap(readEvent));
    const { id, time, ...rest } = readShape(document, body);
    const results = readImages(rest);
    if (results.length === 0) throw new MalformedBody('none of the fields image, images, repository and name is set');
    const idempotencyKey = headerOf(delivery, 'x-delivery-id') || id;
    return toParsedDelivery(complete(results, filled({ idempotencyKey, pushedAt: time })));
  },
};

type Image = z.output<typeof image>;
type Images = Image & { readonly images?: readonly unknown[] | undefined };
type Result = ClaimedPush | IgnoredPush;

/** The pushes of a CloudEvent; undefined stands for an invalid entry of a batch. The registry is the one in its data, or else the host of its source. */
function readEvent(event: CloudEvent | undefined): Result[] {
  if (event === undefined) return [{ code: 'Incomplete', reason: 'the event has an unexpected structure' }];
  const { type, id, source, time } = event;
  if (otherEvents.test(wordsOf(type))) return [{ reason: `not a push: ${type.slice(0, 64)}` }];
  const data = eventData.safeParse(event.data).data;
  const results = data === undefined ? [] : readImages(withUsualNames(data));
  if (results.length === 0) return [{ code: 'Incomplete', reason: `the event names no image: ${type.slice(0, 64)}` }];
  const registry = hostOf(source);
  return complete(results, filled({ idempotencyKey: id && `${source ?? ''} ${id}`, pushedAt: time })).map((result) =>
    'reason' in result || result.registry !== undefined || registry === undefined ? result : { ...result, registry },
  );
}

function withUsualNames({ registryUrl, repositoryName, imageTag, imageDigest, ...data }: z.output<typeof eventData>): Images {
  const registry = data.registry || hostOf(registryUrl);
  return {
    ...data,
    registry,
    repository: data.repository || repositoryName,
    tag: data.tag ?? imageTag,
    digest: data.digest || imageDigest,
  };
}

/** Splits `com.example.ImageDeleted.v1` into words in lower case. */
function wordsOf(type: string): string {
  return type
    .replaceAll(/([a-z])([A-Z])/g, '$1 $2')
    .replaceAll(/[^A-Za-z]+/g, ' ')
    .toLowerCase();
}

/** The host of a URL with or without a scheme; undefined for a single word. */
function hostOf(text: string | null | undefined): string | undefined {
  const [, scheme, host = ''] = /^(https?:\/\/)?([a-z0-9.-]+(?::\d+)?)(?:[/?#]|$)/i.exec(text ?? '') ?? [];
  return scheme !== undefined || /[.:]/.test(host) ? host || undefined : undefined;
}

function complete(results: readonly Result[], more: Pick<ClaimedPush, 'idempotencyKey' | 'pushedAt'>): Result[] {
  return results.map((result) => ('reason' in result ? result : { ...result, ...more }));
}

/** The pushes of a document: its own image, and those in its list `images`. */
function readImages({ images, ...first }: Images): Result[] {
  return [...(isNamed(first) ? readImage(first) : []), ...(images ?? []).flatMap((entry) => readEntry(entry, first.registry))];
}

/** Whether a document names an image itself, beside its list `images`. */
function isNamed({ image, name, repository }: Image): boolean {
  return Boolean(image || name || repository);
}

/** The pushes of an entry of `images`; `registry` is the document's registry, for entries that name none. */
function readEntry(entry: unknown, registry: string | null | undefined): Result[] {
  const { data } = image.safeParse(typeof entry === 'string' ? { image: entry } : entry);
  return data && isNamed(data)
    ? readImage({ ...data, registry: data.registry || registry })
    : [{ code: 'Incomplete', reason: 'an entry of images has an unexpected structure' }];
}

/** One push for each tag of an image: the tag of its reference, or else the tags of its fields. */
function readImage(image: Image): Result[] {
  const named = readRepository(image);
  if (named === undefined) return [{ code: 'Incomplete', reason: 'the image name is not valid' }];
  const tags =
    named.tag === undefined
      ? [...new Set([image.tag, ...(image.tags ?? [])])].filter((tag) => tag !== undefined && tag !== null)
      : [named.tag];
  const digest = named.digest ?? image.digest;
  const push = { repository: named.repository, ...filled({ registry: named.registry, digest }) };
  if (tags.length === 0)
    return digest ? [push] : [{ code: 'Incomplete', reason: 'the image has neither a tag nor a digest', repository: named.repository }];
  return tags.map((tag) =>
    typeof tag === 'string' ? { ...push, tag } : { code: 'Incomplete', reason: 'a tag is not a string', repository: named.repository },
  );
}

/** The repository of an image. A name without a host belongs to Docker Hub, except that `repository` belongs to `registry`. */
function readRepository({ image, name, registry, repository }: Image): ClaimedPush | undefined {
  if (!image && registry) {
    const path = repository || name || '';
    return { registry, repository: path.startsWith(`${registry}/`) ? path.slice(registry.length + 1) : path };
  }
  const reference = tryParseImageReference(image || repository || name || '');
  if (reference === undefined) return undefined;
  const { name: written, repository: parsed, tag, digest } = reference;
  const hasHost = parsed.registry === normaliseRegistry(written.split('/')[0] ?? '') && written.includes('/');
  const host = hasHost ? parsed.registry : registry || (image || !repository ? parsed.registry : undefined);
  return {
    repository: hasHost ? written.slice(written.indexOf('/') + 1) : written,
    ...(host && { registry: host }),
    ...defined({ tag, digest }),
  };
}
