/** Attestations about images in a real registry, as cosign pushes them. */
import { pushBlob, putManifest, readManifest } from '../../harness/push-image.ts';
import { signBundle, signEnvelope, statementOf, type EnvelopeLayer, type Signer } from '../verify/cosign.ts';
import { pushBundle, type Place } from '../verify/push-signature.ts';

export const scanType = 'https://cosign.sigstore.dev/attestation/vuln/v1';
export const vexType = 'https://openvex.dev/ns/v0.2.0';

export interface Attestation {
  readonly signer: Signer;
  readonly predicateType: string;
  readonly predicate: object;
}

/** Signs an attestation with a key, and adds it to the others about the digest, as `cosign attest --key` does (version 3). */
export async function pushAttestation(
  { host }: { readonly host: string },
  repository: string,
  digest: string,
  { signer, predicateType, predicate }: Attestation,
): Promise<void> {
  const payload = statementOf(digest, { predicateType, predicate });
  const annotations = { 'dev.sigstore.bundle.predicateType': predicateType };
  await pushBundle({ host, repository }, digest, signBundle(digest, signer, { payload }), annotations);
}

/** As cosign 2 does: a layer of the image under the tag sha256-….att. */
export async function pushAttestationOfCosign2(
  { host }: { readonly host: string },
  repository: string,
  digest: string,
  { signer, predicateType, predicate }: Attestation,
): Promise<void> {
  const layer = signEnvelope(digest, signer, { payload: statementOf(digest, { predicateType, predicate }) });
  await pushEnvelopes({ host, repository }, digest, [{ ...layer, annotations: { ...layer.annotations, predicateType } }]);
}

const manifestType = 'application/vnd.oci.image.manifest.v1+json';
export const envelopeType = 'application/vnd.dsse.envelope.v1+json';

/** Adds layers to the image under the tag sha256-….att. */
export async function pushEnvelopes(place: Place, digest: string, envelopes: readonly EnvelopeLayer[]): Promise<void> {
  const target = { ...place, tag: `${digest.replace(':', '-')}.att` };
  const known = (await readManifest(target, target.tag)) as { layers: object[] } | undefined;
  const layers = [...(known?.layers ?? [])];
  for (const { json, annotations } of envelopes) layers.push({ ...(await pushBlob(target, envelopeType, json)), annotations });
  const config = await pushBlob(target, 'application/vnd.oci.image.config.v1+json', Buffer.from('{}'));
  await putManifest(target, target.tag, manifestType, { schemaVersion: 2, mediaType: manifestType, config, layers });
}

/** The predicate of a scan by Trivy, as `trivy image --format cosign-vuln` writes it: of each finding its id, its severity and its package. */
export function scanByTrivy(
  findings: readonly (readonly [id: string, severity: string, packageName?: string, published?: string])[],
  scannedAt: Date,
): object {
  const vulnerabilities = findings.map(([VulnerabilityID, Severity, PkgName = 'openssl', PublishedDate = '2026-01-01T00:00:00Z']) => ({
    VulnerabilityID,
    PkgName,
    InstalledVersion: '1.0',
    Severity,
    PublishedDate,
  }));
  return {
    invocation: { parameters: null, uri: '', event_id: '', 'builder.id': '' },
    scanner: {
      uri: 'pkg:github/aquasecurity/trivy@0.68.1',
      version: '0.68.1',
      db: { uri: '', version: '' },
      result: {
        SchemaVersion: 2,
        ArtifactName: 'shop/web',
        ArtifactType: 'container_image',
        Results: [{ Target: 'shop/web (debian 13.2)', Class: 'os-pkgs', Type: 'debian', Vulnerabilities: vulnerabilities }],
      },
    },
    metadata: { scanStartedOn: new Date(scannedAt.getTime() - 5_000).toISOString(), scanFinishedOn: scannedAt.toISOString() },
  };
}

/** A document of OpenVEX with one statement. */
export function vexOf(id: string, status: string, statedAt: Date, more: object = {}): object {
  return {
    '@context': 'https://openvex.dev/ns/v0.2.0',
    '@id': 'https://openvex.dev/docs/shop/vex-1',
    author: 'shop',
    timestamp: statedAt.toISOString(),
    version: 1,
    statements: [{ vulnerability: { name: id }, status, ...more }],
  };
}
