import { azureCredentials } from './azure.ts';
import { dockerConfigFileCredentials } from './docker-config-file.ts';
import { ecrCredentials } from './ecr.ts';
import { fallbackSecretCredentials } from './fallback-secret.ts';
import { googleCredentials } from './google.ts';
import { pullSecretCredentials } from './pull-secrets.ts';

/** All sources of credentials, in the order in which they are tried. Anonymous access is tried last. All steps to add one: test/structure/worked-examples/credential-source.ts. */
export const credentialSources = {
  'pull-secrets': pullSecretCredentials,
  'fallback-secret': fallbackSecretCredentials,
  'docker-config-file': dockerConfigFileCredentials,
  ecr: ecrCredentials,
  google: googleCredentials,
  azure: azureCredentials,
} as const;
