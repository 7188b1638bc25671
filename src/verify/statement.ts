import { z } from 'zod';

const statementSchema = z.object({
  _type: z.string(),
  predicateType: z.string(),
  subject: z.array(z.object({ digest: z.record(z.string(), z.string()) })),
});

/** An in-toto statement, as far as a signature needs it. https://github.com/in-toto/attestation/blob/main/spec/v1/statement.md */
export interface Statement {
  readonly predicateType: string;
  /** `sha256:…` of all that it speaks of. */
  readonly digests: readonly string[];
}

/** The media type of statements inside of an envelope. */
export const statementType = 'application/vnd.in-toto+json';
/** What cosign 3 states when it signs an image; everything else is an attestation. */
export const signaturePredicate = 'https://sigstore.dev/cosign/sign/v1';

/** Reads a statement; throws an Error for what is none. */
export function readStatement(bytes: Buffer): Statement {
  const { _type, predicateType, subject } = statementSchema.parse(JSON.parse(bytes.toString('utf8')));
  if (!/^https:\/\/in-toto\.io\/Statement\/v(?:0\.1|1)$/.test(_type)) throw new Error(`it is of type "${_type}"`);
  const digests = subject.flatMap(({ digest }) => Object.entries(digest).map(([algorithm, hex]) => `${algorithm}:${hex}`));
  return { predicateType, digests };
}
