import type { Settings } from '../config.ts';
import { chainCredentials, type CredentialSource } from '../registry/credential.ts';
import { credentialSources } from '../registry/credentials/index.ts';
import type { ReadSecret } from '../registry/credentials/secret-offer.ts';

type SourceName = keyof typeof credentialSources;

/** All sources of credentials that the configuration allows, in the order of the list. */
export function openCredentials({ config, azure }: Pick<Settings, 'config' | 'azure'>, readSecret: ReadSecret): CredentialSource {
  const { secret, dockerConfigFile: file, cloud } = config.credentials;
  const opened: Record<SourceName, CredentialSource | undefined> = {
    'pull-secrets': credentialSources['pull-secrets']({ readSecret }),
    'fallback-secret': credentialSources['fallback-secret']({ secret, readSecret }),
    'docker-config-file': file === undefined ? undefined : credentialSources['docker-config-file']({ file }),
    ecr: cloud.includes('ecr') ? credentialSources.ecr() : undefined,
    google: cloud.includes('google') ? credentialSources.google() : undefined,
    azure: cloud.includes('azure') ? credentialSources.azure({ identity: azure }) : undefined,
  };
  const names = Object.keys(credentialSources) as SourceName[];
  return chainCredentials(names.flatMap((name) => opened[name] ?? []));
}
