import { formatLocated, type Located } from '../../rebase/read-content.ts';
import type { RegistryClient } from '../../../service/registry/client.ts';
import { findSignatures } from '../../../service/verify/find-signatures.ts';
import type { PublicKey } from '../../../service/verify/public-keys.ts';
import { verifySignatures } from '../../../service/verify/verify-signatures.ts';

/** The base by the digest that one of the keys has signed; rejects where none has. */
export async function verifyBase(
  base: Located,
  keys: readonly PublicKey[],
  { registry, signal }: { readonly registry: RegistryClient; readonly signal: AbortSignal },
): Promise<Located> {
  const { source, reference } = base;
  const digest = (await registry.headManifest(source, reference, signal))?.digest;
  if (digest === undefined) throw new Error(`the registry does not have ${formatLocated(base)}`);
  const result = await verifySignatures(findSignatures(source, digest, { registry, signal, now: Date.now }), digest, { keys, signers: [] });
  if (result.kind !== 'verified') throw new Error(`${formatLocated(base)} (${digest}) is not used: ${result.why}`);
  return { ...base, reference: digest };
}
