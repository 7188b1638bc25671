/** Access to registries with the user's own credentials and settings. */
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { type Config, readProxies } from '../config/settings.ts';
import { processSource } from '../config/environment.ts';
import { describeError } from '../../core/model/errors.ts';
import type { HostEvent } from '../registry/host-limits.ts';
import { createRegistryClient, type RegistryClient } from '../registry/client.ts';
import { chainCredentials, type CredentialSource } from '../registry/credential.ts';
import { credentialSources } from '../registry/credentials/index.ts';
import type { Options } from './command.ts';
import { fileOption } from './usual-options.ts';

/** The options of commands that read from registries. */
export const registryOptions = {
  'docker-config': fileOption('the credentials of registries, as docker login writes them (default: ~/.docker/config.json)'),
  config: fileOption('the configuration of the service (registries, allowedRegistries); its defaults unless given'),
} as const satisfies Options;

/**
 * Opens a client with the user's own credentials (and then those of `others`), and the settings of hosts in the service's configuration. The user sends the
 * requests, so errors show how private addresses answer. With `onDetails`, they do not, because others read them as well: it is called with what they leave out.
 */
export function openRegistry(
  config: Config,
  named: string | undefined,
  others: readonly CredentialSource[] = [],
  onDetails?: (why: string) => void,
): { readonly registry: RegistryClient; readonly credentials: CredentialSource } {
  const usual = join(homedir(), '.docker', 'config.json');
  const file = named ?? (existsSync(usual) ? usual : undefined);
  const own = file === undefined ? [] : [credentialSources['docker-config-file']({ file })];
  const credentials = chainCredentials([...own, ...others]);
  const proxies = readProxies(config, processSource());
  const { registries, allowedRegistries } = config;
  const hiding =
    onDetails === undefined
      ? { showsPrivate: true }
      : { onHostEvent: (event: HostEvent) => void (event.kind === 'details' && onDetails(`${event.host}: ${event.why}`)) };
  return { registry: createRegistryClient({ registries, allowedRegistries, proxies, credentials, ...hiding }), credentials };
}

/** Errors of a registry without their causes, which would be taken for errors of the API server. */
export function ofRegistry<T>(answer: Promise<T>, signal: AbortSignal): Promise<T> {
  return answer.catch((error: unknown) => {
    signal.throwIfAborted();
    throw new Error(describeError(error));
  });
}
