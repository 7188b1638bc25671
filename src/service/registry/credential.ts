import type { ImageSource } from '../../core/model/image-source.ts';

/** A user name with a password or a token. */
export interface Credential {
  readonly username: string;
  readonly password: string;
  /** An OAuth2 refresh token, which replaces user and password if the registry has a token endpoint. */
  readonly identityToken?: string;
  /** A bearer token for the registry itself, which is sent unchanged, without a token server. */
  readonly registryToken?: string;
  /** Further credentials of the same offer, which are tried in this order if the registry refuses this one. */
  readonly others?: readonly Credential[];
}

/** Why an offer has no credential, worded for users: `has no entry for ghcr.io`. */
export interface NoCredential {
  readonly why: string;
}

/** A source that may have a credential for an image. */
export interface CredentialOffer {
  /** The origin of the credential, worded for users: `Secret operators/oci-registry-creds`. */
  readonly source: string;
  /** Whether the policy itself names the credential. Only then may the policy's status show its user name and its problems. */
  readonly isOwn?: boolean;
  /**
   * Returns the credential, or why there is none. `refresh` is set if the registry has refused the credential: the answer must not come from a cache that may
   * be older than the refusal. Rejects if it cannot be determined (retry).
   */
  read(options: ReadOptions): Promise<Credential | NoCredential>;
}

/** Options for reading an offer; see `CredentialOffer.read`. */
export interface ReadOptions {
  readonly refresh: boolean;
  readonly signal?: AbortSignal | undefined;
}

/** Returns the offers for an image, in the order in which they are tried; none if the source is not responsible for the image. */
export type CredentialSource = (image: ImageSource) => readonly CredentialOffer[];

/** Combines several sources; their offers are tried in this order. */
export function chainCredentials(sources: readonly CredentialSource[]): CredentialSource {
  return (image) => sources.flatMap((source) => source(image));
}

/** Whether the result of reading an offer is a credential. */
export function isCredential(read: Credential | NoCredential): read is Credential {
  return !('why' in read);
}

/** Whether two credentials would be sent in the same way; `others` is not compared. */
export function sameCredential(a: Credential, b: Credential): boolean {
  const keys = ['username', 'password', 'identityToken', 'registryToken'] as const;
  return keys.every((key) => a[key] === b[key]);
}

/** The value of a Basic Authorization header. */
export function basicAuthorization(credential: Credential): string {
  return `Basic ${Buffer.from(`${credential.username}:${credential.password}`).toString('base64')}`;
}
