import type { ImageSource } from '../model/image-source.ts';

/** What a registry wants to see. */
export interface Credential {
  readonly username: string;
  readonly password: string;
  /** An OAuth2 refresh token, which replaces user and password where the registry has a token endpoint. */
  readonly identityToken?: string;
  /** A token for the registry itself, which is sent as it is. */
  readonly registryToken?: string;
  /** Others of the same offer, in the order in which they are tried when this one is refused. */
  readonly others?: readonly Credential[];
}

/** Why there is no credential, in words for a user: `has no entry for ghcr.io`. */
export interface NoCredential {
  readonly why: string;
}

/** A credential that may be tried for an image. */
export interface CredentialOffer {
  /** Where it comes from, in words for a user: `Secret operators/oci-registry-creds`. */
  readonly source: string;
  /** Whether the policy itself names it: then its user, and what is wrong with it, may be shown in the status of the policy. */
  readonly isOwn?: boolean;
  /**
   * The credential, or why there is none. `refresh: true` is asked once after the registry refused, and is not answered from a cache that may be older
   * than the refusal. Rejects where it cannot know (retry).
   */
  read(options: ReadOptions): Promise<Credential | NoCredential>;
}

/** How an offer is read. */
export interface ReadOptions {
  readonly refresh: boolean;
  readonly signal?: AbortSignal | undefined;
}

/** Where credentials come from: the offers for an image, in the order in which they are tried; none where the image is none of its business. */
export type CredentialSource = (image: ImageSource) => readonly CredentialOffer[];

/** One source out of several, in their order. */
export function chainCredentials(sources: readonly CredentialSource[]): CredentialSource {
  return (image) => sources.flatMap((source) => source(image));
}

/** Whether an offer had a credential. */
export function isCredential(read: Credential | NoCredential): read is Credential {
  return !('why' in read);
}

/** Whether asking with `b` would be the same as asking with `a`. */
export function sameCredential(a: Credential, b: Credential): boolean {
  const keys = ['username', 'password', 'identityToken', 'registryToken'] as const;
  return keys.every((key) => a[key] === b[key]);
}

/** The value of an Authorization header with user and password. */
export function basicAuthorization(credential: Credential): string {
  return `Basic ${Buffer.from(`${credential.username}:${credential.password}`).toString('base64')}`;
}
