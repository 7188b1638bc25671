import { z } from 'zod';
import type { ClaimedPush, IgnoredPush } from '../../../core/model/push-event.ts';
import type { IgnoredReason } from '../../../core/model/reasons.ts';
import { filled, formPayload, optionalText as text, parseJsonBody, toParsedDelivery } from './read-payload.ts';
import { headerOf, type HmacScheme, verifyHmac } from './headers.ts';
import type { Delivery, Provider } from './provider.ts';

const event = z.object({
  action: z.string(),
  package: z
    .object({
      type: text,
      name: text,
      version: text,
      html_url: text,
      created_at: text,
      owner: z.object({ login: text, username: text }).nullish().catch(undefined),
    })
    .nullish()
    .catch(undefined),
});

/** The size up to which signed forms are decoded, because their sender is not authenticated yet. A delivery for a package has a few kilobytes. */
const maxSignedForm = 262_144;
const scheme: HmacScheme = { headers: ['x-gitea-signature', 'x-forgejo-signature'], algorithm: 'sha256' };

/** The container registry of Gitea and Forgejo. It reports tags in lower case and no digest. */
export const gitea: Provider = {
  id: 'gitea',
  documentation: 'https://docs.gitea.com/usage/repository/webhooks',
  verify(delivery, secrets) {
    // Unlike GitHub, Gitea signs the JSON inside the form, not the form.
    const payload = delivery.body.length > maxSignedForm ? undefined : formPayload(delivery);
    return verifyHmac({ ...delivery, body: payload ?? delivery.body }, secrets, scheme);
  },
  parse: (delivery) => toParsedDelivery([readPackage(delivery)]),
};

function readPackage(delivery: Delivery): ClaimedPush | IgnoredPush {
  const { action, package: pushed } = parseJsonBody(event, formPayload(delivery) ?? delivery.body);
  const { type, name, version: tag, owner, html_url: url, created_at: pushedAt } = pushed ?? {};
  const namespace = owner?.login || owner?.username;
  const repository = namespace && name ? `${namespace}/${name}` : undefined;
  const ignore = (reason: string, code: IgnoredReason = 'OtherEvent'): IgnoredPush => ({ code, reason, ...filled({ repository, tag }) });
  const kind = ownHeader(delivery, 'event');
  if (kind !== undefined && kind !== 'package') return ignore(`not a package event: ${kind.slice(0, 64)}`);
  if (!pushed) return ignore('the event names no package', 'Incomplete');
  if (type !== 'container') return ignore(`not an image: a package of type ${type?.slice(0, 64) ?? 'unknown'}`, 'NotAnImage');
  if (action !== 'created') return ignore(`not a push: ${action.slice(0, 64)}`);
  if (!repository) return ignore('the event names no repository', 'Incomplete');
  const registry = url && URL.canParse(url) ? new URL(url).host : undefined;
  const idempotencyKey = ownHeader(delivery, 'delivery');
  return {
    repository,
    ...filled({ registry, tag, idempotencyKey, pushedAt }),
  };
}

/** Reads a header of Gitea or Forgejo. Forgejo sends each of its headers under both names. */
function ownHeader(delivery: Delivery, name: string): string | undefined {
  return headerOf(delivery, `x-gitea-${name}`) ?? headerOf(delivery, `x-forgejo-${name}`);
}
