/** The mark of an image that was rebased on a base that is rejected: a referrer without content, which any tool can list. */
import { emptyType, manifestType } from '../../core/model/media-types.ts';
import { hash } from 'node:crypto';
import { formatRepository } from '../../core/model/image-reference.ts';
import type { Referrer } from './provenance.ts';
import type { ImageContent } from './content.ts';
import type { RebasePlan } from './plan-rebase.ts';

export const rejectionType = 'application/vnd.technomad.operator.rejected-base.v1+json';
/** The annotations of the mark: the base, and why it is rejected. */
const rejectionAnnotations = {
  base: 'operator.technomad.dev/rejected-base',
  message: 'operator.technomad.dev/rejected-because',
} as const;

const empty = Buffer.from('{}');

/** Depends on the images and the message alone, so that a repetition writes the same. */
export function rejectionMark({ image }: RebasePlan, newBase: ImageContent, message: string): Referrer {
  const { mediaType, digest, size } = image;
  const content = { mediaType: emptyType, digest: `sha256:${hash('sha256', empty, 'hex')}`, size: empty.length };
  const document = {
    schemaVersion: 2,
    mediaType: manifestType,
    artifactType: rejectionType,
    config: content,
    layers: [content],
    subject: { mediaType, digest, size },
    annotations: {
      [rejectionAnnotations.base]: `${formatRepository(newBase.repository)}@${newBase.digest}`,
      [rejectionAnnotations.message]: message,
    },
  };
  return { blobs: [empty], manifest: { mediaType: document.mediaType, bytes: Buffer.from(JSON.stringify(document)) } };
}
