/** The provenance of a rebased image: a referrer with an in-toto statement that lists the images it was made of. https://slsa.dev/spec/v1.0/provenance */
import { emptyType, manifestType, statementType } from '../../core/model/media-types.ts';
import { hash } from 'node:crypto';
import { defined } from '../../core/model/defined.ts';
import { formatRepository } from '../../core/model/image-reference.ts';
import type { NewManifest } from '../../service/registry/push.ts';
import type { ImageContent } from './content.ts';
import type { RebasePlan } from './plan-rebase.ts';

/** An attestation of the new base. */
export interface BaseAttestation {
  readonly kind: AttestationKind;
  readonly predicateType: string;
  /** The manifest of the attestation, in the repository of the base. */
  readonly digest: string;
  readonly mediaType?: string;
  /** The manifest that it is about, if it is about one platform of the base. */
  readonly subject?: string;
}

export type AttestationKind = 'Sbom' | 'Provenance';

/** The blobs to push, and then the manifest that refers to the image. */
export interface Referrer {
  readonly blobs: readonly Buffer[];
  readonly manifest: NewManifest;
}

const predicateType = 'https://slsa.dev/provenance/v1';
const predicateAnnotation = 'in-toto.io/predicate-type';
const empty = Buffer.from('{}');

const predicates: Readonly<Record<AttestationKind, RegExp>> = {
  Sbom: /^https:\/\/(?:spdx\.dev\/Document|cyclonedx\.org\/bom)(?:\/v[\d.]{1,16})?$/,
  Provenance: /^https:\/\/slsa\.dev\/provenance\/v[\d.]{1,16}$/,
};

/** The kind of the attestations with a predicate; undefined for those that are not linked. */
export function kindOfPredicate(predicateType: string): AttestationKind | undefined {
  return (['Sbom', 'Provenance'] as const).find((kind) => predicates[kind].test(predicateType));
}

/** The images that a rebase is made of. */
interface Images {
  readonly application: ImageContent;
  readonly newBase: ImageContent;
}

/** The provenance of a rebase. It depends on the images, and on the attestations of the new base that are known at the time; the image does not depend on those. */
export function provenanceOf(
  { image, oldBase }: RebasePlan,
  { application, newBase }: Images,
  attestations: readonly BaseAttestation[],
): Referrer {
  const dependency = (name: string, { repository, digest }: ImageContent) => ({
    name,
    uri: `oci://${formatRepository(repository)}`,
    digest: digestSet(digest),
  });
  // https://github.com/in-toto/attestation/blob/main/spec/v1/resource_descriptor.md
  const link = ({ kind, predicateType, digest, mediaType, subject }: BaseAttestation) => ({
    name: `newBase${kind}`,
    uri: `oci://${formatRepository(newBase.repository)}@${digest}`,
    digest: digestSet(digest),
    ...defined({ mediaType }),
    annotations: { [predicateAnnotation]: predicateType, ...(subject !== undefined && { 'vnd.docker.reference.digest': subject }) },
  });
  const statement = {
    _type: 'https://in-toto.io/Statement/v1',
    subject: [{ name: formatRepository(application.repository), digest: digestSet(image.digest) }],
    predicateType,
    predicate: {
      buildDefinition: {
        buildType: 'https://operator.technomad.dev/rebase/v1',
        externalParameters: {
          application: `${formatRepository(application.repository)}@${application.digest}`,
          base: `${formatRepository(newBase.repository)}@${newBase.digest}`,
        },
        resolvedDependencies: [
          dependency('application', application),
          dependency('oldBase', oldBase),
          dependency('newBase', newBase),
          ...attestations.map(link),
        ],
      },
      runDetails: { builder: { id: 'https://operator.technomad.dev/image-watcher' } },
    },
  };
  const blob = Buffer.from(JSON.stringify(statement));
  const { mediaType, digest, size, created } = image;
  const document = {
    schemaVersion: 2,
    mediaType: manifestType,
    artifactType: statementType,
    config: { mediaType: emptyType, digest: digestOf(empty), size: empty.length },
    layers: [
      { mediaType: statementType, digest: digestOf(blob), size: blob.length, annotations: { [predicateAnnotation]: predicateType } },
    ],
    subject: { mediaType, digest, size },
    annotations: {
      ...(created !== undefined && { 'org.opencontainers.image.created': created }),
      [predicateAnnotation]: predicateType,
    },
  };
  return { blobs: [empty, blob], manifest: { mediaType: manifestType, bytes: Buffer.from(JSON.stringify(document)) } };
}

/** The digest set of in-toto: `{sha256: …}`. */
function digestSet(digest: string): Readonly<Record<string, string>> {
  const [algorithm = '', hex = ''] = digest.split(':');
  return { [algorithm]: hex };
}

function digestOf(bytes: Buffer): string {
  return `sha256:${hash('sha256', bytes, 'hex')}`;
}
