import { z } from 'zod';
import { normaliseRegistry, tryParseImageReference } from '../../core/image-reference.ts';
import type { ClaimedPush, IgnoredPush } from '../../core/push-event.ts';
import { verifyAuthorizationHeader } from './authorization-header.ts';
import { entries } from './entries.ts';
import { headerOf } from './header-of.ts';
import { verifyHmac, type HmacScheme } from './hmac.ts';
import { parseJsonBody } from './json-body.ts';
import { optionalText } from './optional-text.ts';
import { toParsedDelivery } from './parsed-delivery.ts';
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

const scheme: HmacScheme = { headers: ['x-signature-256', 'x-signature'], algorithm: 'sha256', prefix: 'sha256=' };

/** What a CI job can send by itself. */
export const generic: Provider = {
  id: 'generic',
  documentation: 'https://keel.sh/docs/#webhooks',
  verify(delivery, secrets) {
    return verifyHmac(delivery, secrets, scheme) || verifyAuthorizationHeader(delivery, secrets);
  },
  parse(delivery) {
    const { id, time, images, ...first } = parseJsonBody(document, delivery.body);
    const results = [...(isNamed(first) ? readImage(first) : []), ...(images ?? []).flatMap((entry) => readEntry(entry, first.registry))];
    if (results.length === 0) throw new MalformedBody('none of image, images, repository and name says what was pushed');
    const idempotencyKey = headerOf(delivery, 'x-delivery-id') || id;
    const more = { ...(idempotencyKey && { idempotencyKey }), ...(time && { pushedAt: time }) };
    return toParsedDelivery(results.map((result) => ('reason' in result ? result : { ...result, ...more })));
  },
};

type Image = z.output<typeof image>;
type Result = ClaimedPush | IgnoredPush;

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
