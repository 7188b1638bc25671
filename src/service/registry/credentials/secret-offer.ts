import { defined } from '../../../core/model/defined.ts';
import type { ImageSource, SecretContent, SecretRef } from '../../../core/model/image-source.ts';
import type { Credential, CredentialOffer, NoCredential } from '../credential.ts';
import { type DockerConfig, type DockerConfigEntry, findCredentials, parseDockerConfig } from './docker-config.ts';

/** Reads one Secret, from a cache unless `refresh` is set. Returns the same object while the Secret is unchanged. Rejects if it cannot be determined. */
export type ReadSecret = (
  secret: SecretRef,
  options: { readonly refresh: boolean; readonly signal?: AbortSignal | undefined },
) => Promise<SecretContent>;

const keys = ['.dockerconfigjson', '.dockercfg'] as const;
/** The limit for the credentials of a Secret. Its author must not be able to make us try thousands of passwords at a registry. */
const maxEntries = 10;
const parsed = new WeakMap<SecretContent, DockerConfig | { readonly why: string }>();

/** The credentials that a Secret of type kubernetes.io/dockerconfigjson (or the legacy dockercfg) has for an image. */
export function offerOfSecret(
  { namespace, name }: SecretRef,
  { note = '', isOwn = false }: { readonly note?: string; readonly isOwn?: boolean },
  image: ImageSource,
  readSecret: ReadSecret,
): CredentialOffer {
  return {
    isOwn,
    source: `Secret ${namespace}/${name}${note}`,
    async read(options) {
      const content = await readSecret({ namespace, name }, options);
      const config = parsed.get(content) ?? parse(content);
      parsed.set(content, config);
      return 'why' in config ? config : pickCredential(config, image);
    },
  };
}

/** The first credential that a Docker configuration has for an image, with the further ones in `others`; or why it has none. */
export function pickCredential(config: DockerConfig, image: ImageSource): Credential | NoCredential {
  const [first, ...others] = findCredentials(config, image).slice(0, maxEntries).map(credentialOf);
  if (!first) return { why: [`has no entry for ${image.registry}`, ...config.problems.slice(0, 3)].join(', and ') };
  return { ...first, ...(others.length > 0 && { others }) };
}

/** A registry token has no user name, so messages show `<registrytoken>` in its place. */
function credentialOf({ username, password, identityToken, registryToken }: DockerConfigEntry): Credential {
  if (registryToken !== undefined) return { username: username || '<registrytoken>', password, registryToken };
  return { username, password, ...defined({ identityToken }) };
}

function parse(content: SecretContent): DockerConfig | { readonly why: string } {
  if ('why' in content) return content;
  const key = keys.find((key) => content.data[key] !== undefined);
  if (!key) return { why: `has no key ${keys[0]}: it must be of type kubernetes.io/dockerconfigjson` };
  try {
    return parseDockerConfig(Buffer.from(content.data[key] ?? '', 'base64').toString('utf8'));
  } catch (error) {
    return { why: `cannot be used: ${key} is ${error instanceof Error ? error.message : String(error)}` };
  }
}
