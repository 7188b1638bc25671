import { z } from 'zod';
import type { ClaimedPush, IgnoredPush } from '../../core/push-event.ts';
import { matchesAny } from './authorization-header.ts';
import { headerOf } from './header-of.ts';
import { verifyHmac } from './hmac.ts';
import { parseJsonBody } from './json-body.ts';
import { optionalText as text } from './optional-text.ts';
import { toParsedDelivery } from './parsed-delivery.ts';
import type { Provider } from './provider.ts';

const header = 'x-jfrog-event-auth';

const image = z.object({
  repo_key: text,
  image_name: text,
  tag: text,
  name: text,
  sha256: text,
  image_type: text,
  platforms: z.unknown().optional(),
});
const event = z.object({
  domain: z.string(),
  event_type: z.string(),
  data: image.nullish().catch(undefined),
  jpd_origin: text,
});

/** JFrog Artifactory, whose images are named by the path method: `HOST/REPO_KEY/IMAGE`. */
export const artifactory: Provider = {
  id: 'artifactory',
  documentation: 'https://jfrog.com/help/r/jfrog-platform-administration-documentation/webhooks',
  verify(delivery, secrets) {
    // The secret itself, or with "use secret for payload signing" the HMAC: the same header for both.
    const value = headerOf(delivery, header);
    return (value !== undefined && matchesAny(value, secrets)) || verifyHmac(delivery, secrets, { headers: [header], algorithm: 'sha256' });
  },
  parse(delivery) {
    return toParsedDelivery([readPush(parseJsonBody(event, delivery.body))]);
  },
};

function readPush({ domain, event_type: type, data, jpd_origin: origin }: z.output<typeof event>): ClaimedPush | IgnoredPush {
  const { repo_key: key, image_name: name, tag, image_type: imageType } = data ?? {};
  const names = { ...(key && name && { repository: `${key}/${name}` }), ...(tag && { tag }) };
  if (domain !== 'docker' || type !== 'pushed') return { reason: `not a push: ${domain.slice(0, 64)}/${type.slice(0, 64)}`, ...names };
  if (!key || !name) return { code: 'Incomplete', reason: 'the event names no repository' };
  // Artifactory calls charts "oci", and perhaps some images too: only images have platforms.
  if (imageType?.toLowerCase() === 'oci' && !(Array.isArray(data?.platforms) && data.platforms.length > 0))
    return { code: 'NotAnImage', reason: 'not an image: image_type oci, no platforms', ...names };
  const digest = /^(?:list\.)?manifest\.json$/.test(data?.name ?? '') && data?.sha256 ? `sha256:${data.sha256}` : undefined;
  const registry = origin && URL.canParse(origin) ? new URL(origin).host : undefined;
  return { repository: `${key}/${name}`, ...(registry && { registry }), ...(tag && { tag }), ...(digest && { digest }) };
}
