import type { SecretRef } from '../../../../src/core/model/image-source.ts';
import type { SecretContent } from '../../../../src/core/model/image-source.ts';
import type { ReadSecret } from '../../../../src/service/registry/credentials/secret-offer.ts';

/** Secrets by `namespace/name`; each is read from a cache, as those of the cluster are. */
export function secretWorld(secrets: Readonly<Record<string, object>>): { readSecret: ReadSecret; reads: string[] } {
  const contents = new Map<string, SecretContent>(
    Object.entries(secrets).map(([key, auths]) => {
      const text = JSON.stringify({ auths });
      return [key, { data: { '.dockerconfigjson': Buffer.from(text).toString('base64') } }];
    }),
  );
  const reads: string[] = [];
  const cache = new Set<string>();
  const readSecret = async ({ namespace, name }: SecretRef): Promise<SecretContent> => {
    const key = `${namespace}/${name}`;
    if (!cache.has(key)) reads.push(key);
    cache.add(key);
    return contents.get(key) ?? { why: 'does not exist' };
  };
  return { readSecret, reads };
}
