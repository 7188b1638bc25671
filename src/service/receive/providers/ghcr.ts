import { z } from 'zod';
import { isDigest } from '../../../core/model/image-reference.ts';
import type { IgnoredReason } from '../../../core/model/reasons.ts';
import type { ClaimedPush, IgnoredPush } from '../../../core/model/push-event.ts';
import { filled, formPayload, optionalText as text, parseJsonBody, toParsedDelivery } from './read-payload.ts';
import { headerOf, verifyHmac } from './headers.ts';
import { MalformedBody, type Delivery, type Provider } from './provider.ts';

const optional = <T extends z.ZodType>(schema: T) => schema.nullish().catch(undefined);
const containerMetadata = z.object({
  tag: optional(z.object({ name: text, digest: text })),
  manifest: optional(z.object({ digest: text, media_type: text, config: optional(z.object({ media_type: text })) })),
});
const packageVersion = z.object({
  version: text,
  updated_at: text,
  created_at: text,
  package_url: text,
  container_metadata: optional(containerMetadata),
});
const packageDetails = z.object({
  name: text,
  namespace: text,
  ecosystem: text,
  package_type: text,
  owner: optional(z.object({ login: text })),
  package_version: optional(packageVersion),
});
const event = z.object({
  action: text,
  package: packageDetails.optional().catch(undefined),
  registry_package: packageDetails.optional().catch(undefined),
});

type Package = z.output<typeof packageDetails>;

/** GitHub's container registry: the events `package` and `registry_package` of repositories, organizations and apps. */
export const ghcr: Provider = {
  id: 'ghcr',
  documentation: 'https://docs.github.com/en/webhooks/webhook-events-and-payloads#package',
  verify: (delivery, secrets) =>
    verifyHmac(delivery, secrets, { headers: ['x-hub-signature-256'], algorithm: 'sha256', prefix: 'sha256=' }),
  parse: (delivery) => toParsedDelivery([readPackage(delivery)]),
};

function readPackage(delivery: Delivery): ClaimedPush | IgnoredPush {
  const name = headerOf(delivery, 'x-github-event') ?? 'package';
  const { action, ...payload } = parseJsonBody(event, formPayload(delivery) ?? delivery.body);
  if (name !== 'package' && name !== 'registry_package') return ignored('OtherEvent', `not a push: ${name.slice(0, 64)}`);
  const details = payload.package ?? payload.registry_package;
  if (details === undefined) throw new MalformedBody('the event names no package');
  const repository = repositoryOf(details);
  if (action !== 'published' && action !== 'updated')
    return ignored('OtherEvent', `not a push: ${name} ${action ?? ''}`.slice(0, 128), repository);
  if (!isContainer(details))
    return ignored('NotAnImage', `not a container image: ${(details.package_type ?? '').slice(0, 64)}`, repository);
  if (repository === undefined) return ignored('Incomplete', 'the event names no repository');
  return toPush(details, repository, delivery);
}

function ignored(code: IgnoredReason, reason: string, repository?: string): IgnoredPush {
  return { code, reason, ...filled({ repository }) };
}

function isContainer({ package_type: type, ecosystem }: Package): boolean {
  return [type, ecosystem].some((kind) => kind && /^(?:container|docker)$/i.test(kind));
}

function repositoryOf({ owner, namespace, name }: Package): string | undefined {
  // The namespace of older packages is `owner/repository`, of which the owner is used.
  const account = owner?.login || namespace?.split('/')[0];
  return account && name ? `${account}/${name}`.toLowerCase() : undefined;
}

/** The push of a package version. Its tag comes from the tag's name alone, because the name of the version is the digest. */
function toPush({ package_version: version }: Package, repository: string, delivery: Delivery): ClaimedPush {
  const { tag, manifest } = version?.container_metadata ?? {};
  const digest = [tag?.digest, manifest?.digest, version?.version].find((candidate) => candidate && isDigest(candidate));
  const id = headerOf(delivery, 'x-github-delivery');
  const pushedAt = version?.updated_at || version?.created_at;
  return {
    registry: registryOf(version?.package_url, repository),
    repository,
    ...filled({
      tag: tag?.name,
      digest,
      mediaType: manifest?.media_type,
      configMediaType: manifest?.config?.media_type,
      idempotencyKey: id,
      pushedAt,
    }),
  };
}

/** The host of the registry. For a GitHub Enterprise Server, it is read from the package's URL: `containers.ghe.example.com/owner/name:tag`. */
function registryOf(url: string | null | undefined, repository: string): string {
  const [host, ...path] = (url ?? '')
    .toLowerCase()
    .replace(/:[^/:]*$/, '')
    .split('/');
  return host?.includes('.') && path.join('/') === repository ? host : 'ghcr.io';
}
