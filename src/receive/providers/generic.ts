import { z } from 'zod';
import { normaliseRegistry, tryParseImageReference } from '../../model/image-reference.ts';
import type { ClaimedPush, IgnoredPush } from '../../model/push-event.ts';
import { headerOf, type HmacScheme, verifyAuthorizationHeader, verifyHmac } from './headers.ts';
import { readBinaryCloudEvent, readStructuredCloudEvent, type CloudEvent } from './cloud-events.ts';
import { entries, optionalText, parseJsonBody, readEntries, readShape, toParsedDelivery } from './read-payload.ts';
import { MalformedBody, type Provider } from './provider.ts';

/** One image: as a reference, as fields, or as Keel's `{name, tag}`. */
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
/** The data of a CloudEvent: the same, or as Argo CD Image Updater's webhook takes it. */
const eventData = document.extend({
  registryUrl: optionalText,
  repositoryName: optionalText,
  imageTag: optionalText,
  imageDigest: optionalText,
});

/** The words of an event's type that announces no push: one of these, or none at all. */
const otherEvents = /^ *$|\b(?:deleted?|removed?|untag(?:ged)?|pull(?:ed)?|scan(?:ned)?)\b/;

const scheme: HmacScheme = { headers: ['x-signature-256', 'x-signature'], algorithm: 'sha256', prefix: 'sha256=' };

/** What a CI job can send by itself, and CloudEvents that name an image. */
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
    if (results.length === 0) throw new MalformedBody('none of image, images, repository and name says what was pushed');
    const idempotencyKey = headerOf(delivery, 'x-delivery-id') || id;
    return toParsedDelivery(complete(results, { ...(idempotencyKey && { idempotencyKey }), ...(time && { pushedAt: time }) }));
  },
};

type Image = z.output<typeof image>;
type Images = Image & { readonly images?: readonly unknown[] | undefined };
type Result = ClaimedPush | IgnoredPush;

/** The pushes of a CloudEvent. The registry is what its data say, else the host of its source; undefined is what is no event in a batch. */
function readEvent(event: CloudEvent | undefined): Result[] {
  if (event === undefined) return [{ code: 'Incomplete', reason: 'an event of another shape' }];
  const { type, id, source, time } = event;
  if (otherEvents.test(wordsOf(type))) return [{ reason: `not a push: ${type.slice(0, 64)}` }];
  const data = eventData.safeParse(event.data).data;
  const results = data === undefined ? [] : readImages(withUsualNames(data));
  if (results.length === 0) return [{ code: 'Incomplete', reason: `the event names no image: ${type.slice(0, 64)}` }];
  const registry = hostOf(source);
  return complete(results, { ...(id && { idempotencyKey: `${source ?? ''} ${id}` }), ...(time && { pushedAt: time }) }).map((result) =>
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

/** `com.example.ImageDeleted.v1` as words. */
function wordsOf(type: string): string {
  return type
    .replaceAll(/([a-z])([A-Z])/g, '$1 $2')
    .replaceAll(/[^A-Za-z]+/g, ' ')
    .toLowerCase();
}

/** The host of a URL, or of a text like one without its scheme; a word alone is none. */
function hostOf(text: string | null | undefined): string | undefined {
  const [, scheme, host = ''] = /^(https?:\/\/)?([a-z0-9.-]+(?::\d+)?)(?:[/?#]|$)/i.exec(text ?? '') ?? [];
  return scheme !== undefined || /[.:]/.test(host) ? host || undefined : undefined;
}

function complete(results: readonly Result[], more: Pick<ClaimedPush, 'idempotencyKey' | 'pushedAt'>): Result[] {
  return results.map((result) => ('reason' in result ? result : { ...result, ...more }));
}

/** What is pushed by a document: the image that it is itself, and those that it lists. */
function readImages({ images, ...first }: Images): Result[] {
  return [...(isNamed(first) ? readImage(first) : []), ...(images ?? []).flatMap((entry) => readEntry(entry, first.registry))];
}

/** Whether it says at all which image it is. */
function isNamed({ image, name, repository }: Image): boolean {
  return Boolean(image || name || repository);
}

/** An entry of `images`; the document's registry is for those that name none. */
function readEntry(entry: unknown, registry: string | null | undefined): Result[] {
  const { data } = image.safeParse(typeof entry === 'string' ? { image: entry } : entry);
  return data && isNamed(data)
    ? readImage({ ...data, registry: data.registry || registry })
    : [{ code: 'Incomplete', reason: 'an image of another shape' }];
}

/** A push for each tag: that of the reference, else those of the fields. */
function readImage(image: Image): Result[] {
  const place = readPlace(image);
  if (place === undefined) return [{ code: 'Incomplete', reason: 'not the name of an image' }];
  const tags =
    place.tag === undefined
      ? [...new Set([image.tag, ...(image.tags ?? [])])].filter((tag) => tag !== undefined && tag !== null)
      : [place.tag];
  const digest = place.digest ?? image.digest;
  const push = { repository: place.repository, ...(place.registry && { registry: place.registry }), ...(digest && { digest }) };
  if (tags.length === 0)
    return digest ? [push] : [{ code: 'Incomplete', reason: 'neither tag nor digest is named', repository: place.repository }];
  return tags.map((tag) =>
    typeof tag === 'string' ? { ...push, tag } : { code: 'Incomplete', reason: 'a tag that is no text', repository: place.repository },
  );
}

/** Names without a host are Docker Hub's, except in `repository`, which is half of a pair. */
function readPlace({ image, name, registry, repository }: Image): ClaimedPush | undefined {
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
    ...(tag !== undefined && { tag }),
    ...(digest !== undefined && { digest }),
  };
}
