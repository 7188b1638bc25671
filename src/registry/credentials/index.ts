import { secretCredentials } from './secret.ts';

/** Every kind of credential source. To add one: a file in this folder, a line here, a test; compose.ts orders them with `firstCredential`. */
export const credentialSources = {
  secret: secretCredentials,
} as const;
