import { isDigest } from '../../../core/model/image-reference.ts';
import { formatLocated, type Located } from '../../rebase/read-content.ts';
import type { RegistryClient } from '../../../service/registry/client.ts';
import { findSignatures } from '../../../service/verify/find-signatures.ts';
import type { PublicKey } from '../../../service/verify/public-keys.ts';
import { verifySignatures } from '../../../service/verify/verify-signatures.ts';

interface Means {
  readonly registry: RegistryClient;
  readonly signal: AbortSignal;
}

/** The base by the digest that one of the keys has signed. Rejects if none of the keys has signed it. */
export async function verifyBase(base: Located, keys: readonly PublicKey[], means: Means): Promise<Located> {
  const { located, result } = await readSignatures(base, keys, means);
  if (result.kind !== 'verified') throw new Error(`${formatLocated(base)} (${located.reference}) is not used: ${result.why}`);
  return located;
}

/** The old bases by digest, and whether the keys have signed each of them. */
export async function verifyOldBases(
  bases: readonly Located[],
  keys: readonly PublicKey[],
  means: Means,
): Promise<{ readonly oldBases: readonly Located[]; readonly isOldBaseVerified: boolean }> {
  const found = await Promise.all(bases.map((base) => readSignatures(base, keys, means)));
  return {
    oldBases: found.map(({ located }) => located),
    isOldBaseVerified: found.every(({ result }) => result.kind === 'verified'),
  };
}

async function readSignatures(base: Located, keys: readonly PublicKey[], { registry, signal }: Means) {
  const { source, reference, tag = isDigest(reference) ? undefined : reference } = base;
  const digest = (await registry.headManifest(source, reference, signal))?.digest;
  if (digest === undefined) throw new Error(`the registry does not have ${formatLocated(base)}`);
  const result = await verifySignatures(findSignatures(source, digest, { registry, signal, now: Date.now }), digest, { keys, signers: [] });
  return { located: { source, reference: digest, tag }, result };
}
