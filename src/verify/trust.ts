import type { TrustMaterial } from '@sigstore/verify';
import type { WantedSigner } from '../model/verification.ts';
import type { PublicKey } from './public-key.ts';

/** Whom a policy believes; the trust root is there when signers are. */
export interface Trust {
  readonly keys: readonly PublicKey[];
  readonly signers: readonly WantedSigner[];
  readonly trustRoot?: TrustMaterial;
}

/** What one signature is worth. `unrelated`: it is none, but an attestation of something else. */
export type Judgement =
  | { readonly kind: 'valid'; readonly by: string }
  | { readonly kind: 'invalid'; readonly why: string }
  | { readonly kind: 'unrelated' };
