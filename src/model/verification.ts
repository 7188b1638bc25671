import { isUsable, type ImagePolicy } from './image-policy.ts';
import type { SecretRef } from './image-source.ts';
import type { WantedSigner } from './wanted-signer.ts';

/** What has to hold of an image before it is used: one signature by any of the keys or signers. */
export interface Verification {
  readonly keys: readonly KeyRef[];
  readonly signers: readonly WantedSigner[];
}

/** A public key: a key in the data of a Secret in the namespace of the policy. */
export interface KeyRef {
  readonly secret: string;
  readonly key: string;
}

/** What was found of an image's signatures. `invalid`: there are some, and none of them counts. */
export type Verdict =
  | { readonly kind: 'verified'; readonly by: string }
  | { readonly kind: 'unsigned'; readonly why: string }
  | { readonly kind: 'invalid'; readonly why: string };

/** The Secrets that a policy's verification depends on: a change of one of them may heal a policy that is Stalled by its keys. */
export function verificationSecrets({ namespace, spec }: Pick<ImagePolicy, 'namespace' | 'spec'>): readonly SecretRef[] {
  const keys = isUsable(spec) ? (spec.verification?.keys ?? []) : [];
  return [...new Set(keys.map(({ secret }) => secret))].map((name) => ({ namespace, name }));
}
