import { describeError } from '../model/errors.ts';
import type { SimpleSignature } from './found-signature.ts';
import { judgeKeyless } from './judge-keyless.ts';
import { isSignedBy } from './public-key.ts';
import { annotation, toBundle } from './simple-bundle.ts';
import { readSimplePayload } from './simple-payload.ts';
import type { Judgement, Trust } from './trust.ts';

/** Judges a signature of cosign 2: by a key over the payload, or keyless when it brings a certificate. Never throws. */
export function judgeSimple(found: SimpleSignature, digest: string, trust: Trust): Judgement {
  const { payload, annotations } = found;
  let claimed: string;
  try {
    claimed = readSimplePayload(payload);
  } catch (error) {
    return { kind: 'invalid', why: `a signature has a payload that is none of cosign: ${describeError(error)}` };
  }
  if (claimed !== digest) return { kind: 'invalid', why: `a signature is for ${claimed}` };
  const signature = Buffer.from(annotations[annotation.signature] ?? '', 'base64');
  const key = trust.keys.find((key) => isSignedBy(key, payload, signature));
  if (key !== undefined) return { kind: 'valid', by: key.name };
  if (annotations[annotation.certificate] !== undefined) return judgeKeyless(() => toBundle(found), payload, trust);
  return { kind: 'invalid', why: 'a signature was made with another key' };
}
