import { z } from 'zod';
import type { ClaimedPush, IgnoredPush } from '../../../core/model/push-event.ts';
import { headerOf, matchesAny, verifyHmac } from './headers.ts';
import { filled, optionalText as text, parseJsonBody, toParsedDelivery } from './read-payload.ts';
import type { Provider } from './provider.ts';

const header = 'x-jfrog-event-auth';

const image = z.object({
  repo_key: text,
  image_name: text,
  tag: text,
  path: text,
  name: text,
  sha256: text,
});
const event = z.object({
  domain: z.string(),
  event_type: z.string(),
  data: image.nullish().catch(undefined),
  jpd_origin: text,
});

const manifest = /^(?:list\.)?manifest\.json$/;

/** JFrog Artifactory. Image names follow the repository path method, `HOST/REPO_KEY/IMAGE`, unless the receiver's `repositories` maps the key to another name. */
export const artifactory: Provider = {
  id: 'artifactory',
  documentation: 'https://jfrog.com/help/r/jfrog-platform-administration-documentation/webhooks',
  hasRepositories: true,
  verify(delivery, secrets) {
    // The header contains the secret itself or, with "use secret for payload signing", an HMAC.
    const value = headerOf(delivery, header);
    return (value !== undefined && matchesAny(value, secrets)) || verifyHmac(delivery, secrets, { headers: [header], algorithm: 'sha256' });
  },
  parse(delivery) {
    return toParsedDelivery([readPush(parseJsonBody(event, delivery.body))]);
  },
};

function readPush({ domain, event_type: type, data, jpd_origin: origin }: z.output<typeof event>): ClaimedPush | IgnoredPush {
  const { repo_key: key, image_name: name, tag, path } = data ?? {};
  const image = name && nameIn(path ?? '', name);
  const names = { ...(key && image && { repository: `${key}/${image}` }), ...(tag && { tag }) };
  if (domain !== 'docker' || type !== 'pushed') return { reason: `not a push: ${domain.slice(0, 64)}/${type.slice(0, 64)}`, ...names };
  if (!key || !image) return { code: 'Incomplete', reason: 'the event names no repository' };
  // A chart is announced by its manifest or by its archive; only the checksum of a manifest is the digest of what was pushed.
  const digest = manifest.test(data?.name ?? '') && data?.sha256 ? `sha256:${data.sha256}` : undefined;
  const registry = origin && URL.canParse(origin) ? new URL(origin).host : undefined;
  return {
    repository: `${key}/${image}`,
    within: { key, image },
    ...filled({ registry, tag, digest }),
  };
}

/** The full image name, from the path `IMAGE/TAG/FILE`: the field `name` may lack the folders of the image. */
function nameIn(path: string, name: string): string {
  const image = path.split('/').slice(0, -2).join('/');
  return image.endsWith(`/${name}`) ? image : name;
}
