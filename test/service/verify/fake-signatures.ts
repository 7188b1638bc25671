/** A registry that holds signatures, in memory; notes what is asked. */
import { hash } from 'node:crypto';
import type { Referrer, SignatureRegistry } from '../../../src/service/verify/find-attached.ts';
import type { BundleSignature } from '../../../src/service/verify/find-signatures.ts';
import type { SimpleSignature } from '../../../src/service/verify/simple-bundle.ts';
import { bundleType } from './cosign.ts';

export interface FakeSignatures {
  readonly registry: SignatureRegistry;
  readonly requests: string[];
  /** As cosign 2 pushes them, all of one image. */
  putTag(digest: string, signatures: readonly SimpleSignature[]): void;
  /** As cosign 3 pushes one. */
  putReferrer(digest: string, signature: BundleSignature, artifactType?: string, annotations?: Referrer['annotations']): void;
  putManifest(reference: string, bytes: Buffer): string;
  putBlob(bytes: Buffer): string;
  /** A referrer without anything behind it. */
  putDescriptor(digest: string, referrer: Referrer): void;
}

/** An empty one. */
export function createFakeSignatures(): FakeSignatures {
  const manifests = new Map<string, Buffer>();
  const blobs = new Map<string, Buffer>();
  const referrers = new Map<string, Referrer[]>();
  const requests: string[] = [];
  const digestOf = (bytes: Buffer) => `sha256:${hash('sha256', bytes, 'hex')}`;

  const putBlob = (bytes: Buffer) => {
    blobs.set(digestOf(bytes), bytes);
    return digestOf(bytes);
  };
  const putManifest = (reference: string, bytes: Buffer) => {
    manifests.set(reference === '' ? digestOf(bytes) : reference, bytes);
    return digestOf(bytes);
  };
  const putDescriptor = (digest: string, referrer: Referrer) => {
    referrers.set(digest, [...(referrers.get(digest) ?? []), referrer]);
  };
  const layerOf = (mediaType: string, bytes: Buffer, annotations: Readonly<Record<string, string>> = {}) => ({
    mediaType,
    digest: putBlob(bytes),
    size: bytes.length,
    annotations,
  });
  return {
    requests,
    putBlob,
    putManifest,
    putDescriptor,
    putTag(digest, signatures) {
      const type = 'application/vnd.dev.cosign.simplesigning.v1+json';
      const layers = signatures.map(({ payload, annotations }) => layerOf(type, payload, annotations));
      putManifest(`${digest.replace(':', '-')}.sig`, Buffer.from(JSON.stringify({ schemaVersion: 2, layers })));
    },
    putReferrer(digest, { json }, artifactType = bundleType, annotations = {}) {
      const manifest = { schemaVersion: 2, artifactType, layers: [layerOf(bundleType, json)], subject: { digest } };
      putDescriptor(digest, { digest: putManifest('', Buffer.from(JSON.stringify(manifest))), artifactType, annotations });
    },
    registry: {
      async readManifest(_, reference) {
        requests.push(`manifest ${reference}`);
        const bytes = manifests.get(reference);
        return bytes && { bytes };
      },
      async readBlob(_, digest) {
        requests.push(`blob ${digest}`);
        return blobs.get(digest);
      },
      async listReferrers(_, digest) {
        requests.push(`referrers ${digest}`);
        return referrers.get(digest) ?? [];
      },
    },
  };
}
