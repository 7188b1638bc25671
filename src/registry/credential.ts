import type { ImageSource } from '../core/image-source.ts';

/** What a registry wants to see. `source` says where it came from, in words for a user: `Secret operators/oci-registry-creds`. */
export interface Credential {
  readonly username: string;
  readonly password: string;
  readonly source: string;
  /** An OAuth2 refresh token, which replaces user and password where the registry has a token endpoint. */
  readonly identityToken?: string;
}

/**
 * Where credentials come from: answers undefined for "ask anonymously". `refresh: true` is asked once after the registry refused the present
 * credential, and must not be answered from a cache. Rejects where it cannot know (retry).
 */
export interface CredentialSource {
  (source: ImageSource, options: { refresh: boolean }): Promise<Credential | undefined>;
  /** Why the last answer for the source was undefined, in words for a user. */
  whyNone?(source: ImageSource): string | undefined;
}

/** One source out of several: the first that has a credential answers. */
export function firstCredential(sources: readonly CredentialSource[]): CredentialSource {
  const ask: CredentialSource = async (image, options) => {
    for (const source of sources) {
      const credential = await source(image, options);
      if (credential) return credential;
    }
    return undefined;
  };
  ask.whyNone = (image) => sources.flatMap((source) => source.whyNone?.(image) ?? []).join('; ') || undefined;
  return ask;
}

/** Whether asking with `b` would be the same as asking with `a`. */
export function sameCredential(a: Credential | undefined, b: Credential | undefined): boolean {
  return a?.username === b?.username && a?.password === b?.password && a?.identityToken === b?.identityToken;
}

/** The value of an Authorization header with user and password. */
export function basicAuthorization(credential: Credential): string {
  return `Basic ${Buffer.from(`${credential.username}:${credential.password}`).toString('base64')}`;
}
