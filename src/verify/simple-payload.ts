import { z } from 'zod';

const payloadSchema = z.object({
  critical: z.object({
    type: z.string(),
    image: z.object({ 'docker-manifest-digest': z.string() }),
  }),
});

/**
 * The digest that a payload of cosign 2 speaks of. Its docker-reference is not looked at: images are copied and signed where they were built. Throws an
 * Error for what is no such payload. https://github.com/containers/image/blob/main/docs/containers-signature.5.md
 */
export function readSimplePayload(bytes: Buffer): string {
  const { critical } = payloadSchema.parse(JSON.parse(bytes.toString('utf8')));
  if (critical.type !== 'cosign container image signature') throw new Error(`it is of type "${critical.type}"`);
  return critical.image['docker-manifest-digest'];
}
