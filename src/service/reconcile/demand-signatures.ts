/** Demands the signatures of an image that is about to be used, and decides what happens next if it has none. */
import { hasWaitedForSignature, nextSignatureCheck } from '../../core/plan/await-signature.ts';
import { defined } from '../../core/model/defined.ts';
import { PermanentError, WaitError } from '../../core/model/errors.ts';
import type { Candidate } from '../../core/model/image-reference.ts';
import type { ImageSource } from '../../core/model/image-source.ts';
import type { Verification } from '../../core/model/verification.ts';
import type { Signatures } from './ports.ts';

/** A demand of signatures: the image, the accepted signatures, and the policy that would use the image. */
export interface SignatureDemand {
  readonly source: ImageSource;
  /** The image in messages: `harbor.example.com/shop/web:1.2`. */
  readonly name: string;
  readonly digest: string;
  /** The tag under which it will run; absent if it runs by its digest alone. */
  readonly tag?: string;
  /** The image that the policy selects: this one, or the one that it is a companion of. Absent for a base. */
  readonly image?: Candidate;
  readonly verification: Verification;
  /** The namespace that contains the keys. */
  readonly namespace: string;
  /** The part of the message before the reason that names another policy which demands the signatures; absent if the policy itself does. */
  readonly by?: string;
  /** The policy that would use the image; `sinceMs` is when the image could first have been signed, and `nowMs` the time now, in ms since 1970. */
  readonly policy: Parameters<typeof hasWaitedForSignature>[0];
  readonly sinceMs: number;
  readonly nowMs: number;
}

/** Resolves if the image has the signatures. Throws WaitError for some minutes if it is not signed (signatures follow their image), else PermanentError. */
export async function demandSignatures(demand: SignatureDemand, { verify }: Signatures, signal: AbortSignal): Promise<void> {
  const { source, name, digest, tag, image, verification, namespace, by = '' } = demand;
  const result = await verify({ source, digest, ...defined({ tag }), verification, namespace }, signal);
  if (result.kind === 'invalid') throw notUsed({ name, digest, ...defined({ image }) }, by + result.why);
  if (result.kind === 'unsigned') throw notSigned(demand, `${name} (${digest}) is not signed: ${by}${result.why}`);
}

/** The error for an image that has signatures, but none that is accepted. */
export function notUsed({ name, digest, image }: Pick<SignatureDemand, 'name' | 'digest' | 'image'>, why: string): PermanentError {
  return new PermanentError('SignatureInvalid', `${name} (${digest}) is not used: ${why}`, defined({ image }));
}

function notSigned({ policy, digest, image, sinceMs, nowMs }: SignatureDemand, message: string): Error {
  const until = hasWaitedForSignature(policy, digest) ? undefined : nextSignatureCheck(sinceMs, nowMs);
  const about = defined({ image });
  return until === undefined ? new PermanentError('NotSigned', message, about) : new WaitError('NotSigned', until, message, about);
}
