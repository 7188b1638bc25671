/** Registries as the user may use them. */
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { type Config, readProxies } from '../config/settings.ts';
import { processSource } from '../config/environment.ts';
import { describeError } from '../../core/model/errors.ts';
import { createRegistryClient, type RegistryClient } from '../registry/client.ts';
import { chainCredentials, type CredentialSource } from '../registry/credential.ts';
import { credentialSources } from '../registry/credentials/index.ts';
import type { Options } from './command.ts';

/** The options of commands that read from registries. */
export const registryOptions = {
  'docker-config': {
    value: 'FILE',
    completes: 'file',
    about: 'the credentials of registries, as docker login writes them (default: ~/.docker/config.json)',
  },
  config: {
    value: 'FILE',
    completes: 'file',
    about: 'the configuration of the service (registries, allowedRegistries); its defaults unless given',
  },
} as const satisfies Options;

/** A client with the user's own credentials (and then those of `others`), and the settings of hosts in the service's configuration. */
export function openRegistry(
  config: Config,
  named: string | undefined,
  others: readonly CredentialSource[] = [],
): { readonly registry: RegistryClient; readonly credentials: CredentialSource } {
  const usual = join(homedir(), '.docker', 'config.json');
  const file = named ?? (existsSync(usual) ? usual : undefined);
  const own = file === undefined ? [] : [credentialSources['docker-config-file']({ file })];
  const credentials = chainCredentials([...own, ...others]);
  const proxies = readProxies(config, processSource());
  return {
    registry: createRegistryClient({ registries: config.registries, allowedRegistries: config.allowedRegistries, proxies, credentials }),
    credentials,
  };
}

/** Errors of a registry, without their causes: those would be taken for errors of the API server. */
export function ofRegistry<T>(answer: Promise<T>, signal: AbortSignal): Promise<T> {
  return answer.catch((error: unknown) => {
    signal.throwIfAborted();
    throw new Error(describeError(error));
  });
}
