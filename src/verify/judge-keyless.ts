import type { Bundle } from '@sigstore/bundle';
import { describeError } from '../model/errors.ts';
import { verifyKeyless } from './keyless-signer.ts';
import type { Judgement, Trust } from './trust.ts';

/** Judges who made a keyless signature; what was signed has been judged before. Never throws: whatever is wrong with a signature is why it does not count. */
export function judgeKeyless(read: () => Bundle, artifact: Buffer | undefined, { signers, trustRoot }: Trust): Judgement {
  if (trustRoot === undefined || signers.length === 0) return { kind: 'invalid', why: 'a signature is keyless' };
  try {
    const signer = verifyKeyless(read(), artifact, trustRoot);
    const wanted = signers.find((wanted) => wanted.matches(signer));
    if (wanted !== undefined) return { kind: 'valid', by: `${signer.identity} (by ${signer.issuer})` };
    return { kind: 'invalid', why: `a signature was made by ${signer.identity} (by ${signer.issuer})` };
  } catch (error) {
    return { kind: 'invalid', why: `a keyless signature cannot be verified: ${describeError(error)}` };
  }
}
