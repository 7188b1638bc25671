import { neededRenewal, type Material, type Renewal, renewMaterial } from './material.ts';

/** The data of a Secret. */
type Data = Readonly<Record<string, string>>;

/** The keys of a `kubernetes.io/tls` Secret as cert-manager writes it, and the key of the authority. */
const keys = { authorities: 'ca.crt', authorityKey: 'ca.key', certificate: 'tls.crt', key: 'tls.key' } as const;

export interface OwnAuthorityOptions {
  readonly names: readonly string[];
  readonly now: () => Date;
  /** Updates the Secret so that all replicas have the same data, and returns them; `update` returns the new data, or undefined if the stored data are valid. */
  readonly agree: (update: (data: Data | undefined) => Promise<Data | undefined>, signal: AbortSignal) => Promise<Data>;
  /** Called after something was renewed and stored. */
  readonly onRenewed: (renewal: Renewal) => void;
}

/** Renews the missing, invalid or old parts of the material that the replicas share, and returns the stored material. */
export async function ensureMaterial({ names, now, agree, onRenewed }: OwnAuthorityOptions, signal: AbortSignal): Promise<Material> {
  let renewed: Renewal = {};
  const update = async (data: Data | undefined) => {
    const stored = data && toMaterial(data);
    const requirements = { names, now: now() };
    renewed = neededRenewal(stored, requirements);
    if (renewed.authority === undefined && renewed.certificate === undefined) return undefined;
    return toData(await renewMaterial(stored, renewed, requirements));
  };
  const material = toMaterial(await agree(update, signal));
  if (renewed.authority !== undefined || renewed.certificate !== undefined) onRenewed(renewed);
  return material;
}

function toMaterial(data: Data): Material {
  const read = (key: keyof typeof keys) => data[keys[key]] ?? '';
  return { authorities: read('authorities'), authorityKey: read('authorityKey'), certificate: read('certificate'), key: read('key') };
}

function toData({ authorities, authorityKey, certificate, key }: Material): Data {
  return { [keys.authorities]: authorities, [keys.authorityKey]: authorityKey, [keys.certificate]: certificate, [keys.key]: key };
}
