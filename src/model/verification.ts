import { isUsable, type ImagePolicy } from './image-policy.ts';
import type { SecretRef } from './image-source.ts';
import type { WantedSigner } from './wanted-signer.ts';

/** What an image must satisfy before it is used: one signature by any of the keys or signers. */
export interface Verification {
  readonly keys: readonly KeyRef[];
  readonly signers: readonly WantedSigner[];
}

/** A public key: a key in the data of a Secret in the namespace of the policy. */
export interface KeyRef {
  readonly secret: string;
  readonly key: string;
}

/** The result of checking an image's signatures. `invalid`: there are some, and none of them is valid. */
export type Verdict =
  | { readonly kind: 'verified'; readonly by: string }
  | { readonly kind: 'unsigned'; readonly why: string }
  | { readonly kind: 'invalid'; readonly why: string };

/** The Secrets that a policy's verification uses: a change of one of them may fix a policy that is Stalled because of its keys. */
export function verificationSecrets({ namespace, spec }: Pick<ImagePolicy, 'namespace' | 'spec'>): readonly SecretRef[] {
  const keys = isUsable(spec) ? (spec.verification?.keys ?? []) : [];
  return [...new Set(keys.map(({ secret }) => secret))].map((name) => ({ namespace, name }));
}
