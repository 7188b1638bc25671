/** Demands the signatures of an image that is about to be used, and says what happens next where it has none. */
import { hasWaitedForSignature, nextSignatureCheck } from '../../core/plan/await-signature.ts';
import { PermanentError, WaitError } from '../../core/model/errors.ts';
import type { ImageSource } from '../../core/model/image-source.ts';
import type { Verification } from '../../core/model/verification.ts';
import type { Signatures } from './ports.ts';

/** What is demanded, of which image, and on whose behalf. */
export interface SignatureDemand {
  readonly source: ImageSource;
  /** For messages: `harbor.example.com/shop/web:1.2`. */
  readonly name: string;
  readonly digest: string;
  readonly verification: Verification;
  /** The namespace with the keys. */
  readonly namespace: string;
  /** Who demands it, where that is not the policy itself; before the reason. */
  readonly by?: string;
  /** The policy that would use the image. Since when it could have been signed, and the time now, in ms since 1970. */
  readonly policy: Parameters<typeof hasWaitedForSignature>[0];
  readonly sinceMs: number;
  readonly nowMs: number;
}

/** Resolves where the signatures are there. Not signed: WaitError for some minutes, because signatures follow their image, then PermanentError; wrong signatures: PermanentError. */
export async function demandSignatures(demand: SignatureDemand, { verify }: Signatures, signal: AbortSignal): Promise<void> {
  const { source, name, digest, verification, namespace, by = '' } = demand;
  const result = await verify({ source, digest, verification, namespace }, signal);
  if (result.kind === 'invalid') throw notUsed(name, digest, by + result.why);
  if (result.kind === 'unsigned') throw notSigned(demand, `${name} (${digest}) is not signed: ${by}${result.why}`);
}

/** The failure of an image that has signatures, but none that is accepted. */
export function notUsed(name: string, digest: string, why: string): PermanentError {
  return new PermanentError('SignatureInvalid', `${name} (${digest}) is not used: ${why}`);
}

function notSigned({ policy, digest, sinceMs, nowMs }: SignatureDemand, message: string): Error {
  const until = hasWaitedForSignature(policy, digest) ? undefined : nextSignatureCheck(sinceMs, nowMs);
  return until === undefined ? new PermanentError('NotSigned', message) : new WaitError('NotSigned', until, message);
}
