/** An attestation source at a real registry, with keys of one's own, and what tests attest to there; notes what is asked of the registry. */
import { wantSigner } from '../../../src/core/model/verification.ts';
import type { Evidence } from '../../../src/core/model/vulnerabilities.ts';
import { createRegistryClient } from '../../../src/service/registry/client.ts';
import type { SignatureRegistry } from '../../../src/service/verify/find-attached.ts';
import { readTrustRoot } from '../../../src/service/verify/trust.ts';
import { createAttestationSource } from '../../../src/service/vulnerabilities/attestations.ts';
import { pushImage, pushIndex } from '../../harness/push-image.ts';
import { startRegistry } from '../../harness/registry.ts';
import { ecSigner, pemOf, releaser, statementOf, type EnvelopeLayer } from '../verify/cosign.ts';
import type { Place } from '../verify/push-signature.ts';
import { createSigstore } from '../verify/sigstore.ts';
import { type Attestation, pushAttestation, scanByTrivy, scanType } from './push-attestation.ts';

export const ours = ecSigner();
export const sigstore = createSigstore();

/** Who is trusted: our key, our releaser, or both. */
export const byKey = { keys: [{ secret: 'keys', key: 'cosign.pub' }], signers: [] };
export const byReleaser = { keys: [], signers: [wantSigner(releaser)] };

export const scannedAt = new Date('2026-03-01T12:00:00Z');
export const scan = scanByTrivy(
  [
    ['CVE-2026-1', 'LOW'],
    ['CVE-2026-1', 'CRITICAL', 'curl'],
    ['CVE-2026-2', 'HIGH'],
  ],
  scannedAt,
);

/** What is signed about a digest: that scan unless given. */
export const payloadOf = (digest: string, predicate: object = scan, predicateType = scanType) =>
  statementOf(digest, { predicateType, predicate });
/** A layer as cosign 2 annotates it. */
export const envelope = ({ json, annotations }: EnvelopeLayer): EnvelopeLayer => ({
  json,
  annotations: { ...annotations, predicateType: scanType },
});

const repository = 'shop/web';

export interface Shop {
  /** Where all of its images are. */
  readonly place: Place;
  /** Pushes an image that nobody has pushed, and returns its digest. */
  image(): Promise<string>;
  index(architectures: string[]): Promise<{ readonly digest: string }>;
  /** Attests to a digest: that scan, signed by us, as cosign 3 does, unless given. */
  attest(digest: string, attestation?: Partial<Attestation>, push?: typeof pushAttestation): Promise<void>;
  read(digest: string, attestations?: typeof byKey | typeof byReleaser): Promise<Evidence>;
  /** What was asked of the registry since it was emptied. */
  readonly requests: string[];
  stop(): Promise<void>;
}

/** Starts a registry, and a source that reads it. */
export async function openShop({ isRootless = false } = {}): Promise<Shop> {
  const registry = await startRegistry();
  const { host } = registry;
  const client = createRegistryClient({ registries: [{ host, insecure: true }], allowedRegistries: [], credentials: () => [] });
  const requests: string[] = [];
  const noted: SignatureRegistry = {
    readManifest: (source, reference, signal) => {
      requests.push(`manifest ${reference}`);
      return client.readManifest(source, reference, signal);
    },
    readBlob: (source, digest, maxBytes, signal) => {
      requests.push(`blob ${digest}`);
      return client.readBlob(source, digest, maxBytes, signal);
    },
    listReferrers: (source, digest, type, signal) => {
      requests.push(`referrers ${digest}`);
      return client.listReferrers(source, digest, type, signal);
    },
  };
  const source = createAttestationSource({
    registry: noted,
    readSecret: async ({ name }) =>
      name === 'keys' ? { data: { 'cosign.pub': Buffer.from(pemOf(ours)).toString('base64') } } : { why: 'does not exist' },
    ...(!isRootless && { trustRoot: readTrustRoot(sigstore.trustedRoot) }),
  });
  let images = 0;
  return {
    place: { host, repository },
    requests,
    image: async () => (await pushImage({ host, repository, tag: `${++images}`, content: `image ${images}` })).digest,
    index: (architectures) => pushIndex({ host, repository, tag: `${++images}`, content: `image ${images}`, architectures }),
    attest: (digest, attestation, push = pushAttestation) =>
      push(registry, repository, digest, { signer: ours, predicateType: scanType, predicate: scan, ...attestation }),
    read: (digest, attestations = byKey) =>
      source.read(
        {
          source: { registry: host, path: repository },
          digest,
          rules: { attestations, harbor: false, trivyOperator: false, maxAgeMs: 1_000 },
          namespace: 'shop',
          targetNamespaces: ['shop'],
        },
        AbortSignal.timeout(60_000),
      ),
    async stop() {
      await client.close();
      await registry.stop();
    },
  };
}
