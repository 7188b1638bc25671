/** The provenance of a rebased image: a referrer with an in-toto statement that lists the images it was made of. https://slsa.dev/spec/v1.0/provenance */
import { hash } from 'node:crypto';
import { formatRepository } from '../../core/model/image-reference.ts';
import type { NewManifest } from '../../service/registry/push.ts';
import type { ImageContent } from './content.ts';
import type { RebasePlan } from './plan-rebase.ts';

/** The blobs to push, and then the manifest that refers to the image. */
export interface Referrer {
  readonly blobs: readonly Buffer[];
  readonly manifest: NewManifest;
}

const statementType = 'application/vnd.in-toto+json';
const emptyType = 'application/vnd.oci.empty.v1+json';
const manifestType = 'application/vnd.oci.image.manifest.v1+json';
const predicateType = 'https://slsa.dev/provenance/v1';
const empty = Buffer.from('{}');

/** The provenance of a rebase. Like the plan, it depends on the images alone. */
export function provenanceOf({ image, oldBase }: RebasePlan, application: ImageContent, newBase: ImageContent): Referrer {
  const dependency = (name: string, { repository, digest }: ImageContent) => ({
    name,
    uri: `oci://${formatRepository(repository)}`,
    digest: digestSet(digest),
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
        resolvedDependencies: [dependency('application', application), dependency('oldBase', oldBase), dependency('newBase', newBase)],
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
      { mediaType: statementType, digest: digestOf(blob), size: blob.length, annotations: { 'in-toto.io/predicate-type': predicateType } },
    ],
    subject: { mediaType, digest, size },
    annotations: {
      ...(created !== undefined && { 'org.opencontainers.image.created': created }),
      'in-toto.io/predicate-type': predicateType,
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
