import type { Repository } from '../../core/image-reference.ts';
import type { Credential, CredentialSource } from '../credential.ts';
import { SingleFlight } from '../single-flight.ts';
import { type DockerConfig, findCredential, parseDockerConfig } from './docker-config.ts';

/** `readSecret` answers the Secret's `data` (values in base64), or undefined when it does not exist; it rejects when that cannot be known. */
export interface SecretCredentialsOptions {
  /** `namespace/name`, for messages. */
  name: string;
  readSecret: () => Promise<Readonly<Record<string, string>> | undefined>;
  cacheMs?: number;
  now?: () => number;
}

/**
 * Credentials of a kubernetes.io/dockerconfigjson (or legacy dockercfg) Secret. A Secret that is missing or cannot be parsed means anonymous;
 * `whyNone` tells. While the Secret cannot be read the last one read is used, except for a refresh, which then rejects.
 */
export function secretCredentials({ name, readSecret, cacheMs = 30_000, now = Date.now }: SecretCredentialsOptions): CredentialSource {
  const source = `Secret ${name}`;
  const flights = new SingleFlight<Content>();
  let cached: { content: Content; freshUntil: number } | undefined;

  const read = () =>
    flights.run('', async () => {
      const content = parseSecret(source, await readSecret());
      cached = { content, freshUntil: now() + cacheMs };
      return content;
    });

  const content = async (refresh: boolean): Promise<Content> => {
    if (cached && !refresh && now() < cached.freshUntil) return cached.content;
    try {
      return await read();
    } catch (error) {
      if (cached && !refresh) return cached.content;
      throw new Error(`reading ${source}`, { cause: error });
    }
  };

  const ask: CredentialSource = async (repository, { refresh }): Promise<Credential | undefined> => {
    const { config } = await content(refresh);
    const found = config && findCredential(config, repository);
    if (!found) return undefined;
    const { username, password, identityToken } = found;
    return { username, password, source, ...(identityToken !== undefined && { identityToken }) };
  };
  ask.whyNone = (repository) => cached && explain(source, cached.content, repository);
  return ask;
}

interface Content {
  readonly config?: DockerConfig;
  readonly problem?: string;
}

const keys = ['.dockerconfigjson', '.dockercfg'] as const;

function parseSecret(source: string, data: Readonly<Record<string, string>> | undefined): Content {
  if (!data) return { problem: `${source} does not exist` };
  const key = keys.find((key) => data[key] !== undefined);
  if (!key) return { problem: `${source} has no key ${keys[0]}; it must be of type kubernetes.io/dockerconfigjson` };
  try {
    return { config: parseDockerConfig(Buffer.from(data[key] ?? '', 'base64').toString('utf8')) };
  } catch (error) {
    return { problem: `${source} cannot be used: ${key} is ${error instanceof Error ? error.message : String(error)}` };
  }
}

function explain(source: string, { config, problem }: Content, repository: Repository): string | undefined {
  if (!config) return problem;
  if (findCredential(config, repository)) return undefined;
  return [`${source} has no entry for ${repository.registry}`, ...config.problems.slice(0, 3)].join('; ');
}
