import { bundleFromJSON, isBundleWithDsseEnvelope, isBundleWithPublicKey, type BundleWithDsseEnvelope } from '@sigstore/bundle';
import { describeError } from '../model/errors.ts';
import type { BundleSignature } from './found-signature.ts';
import { judgeKeyless } from './judge-keyless.ts';
import { isSignedBy } from './public-key.ts';
import { readStatement, signaturePredicate, statementType, type Statement } from './statement.ts';
import type { Judgement, Trust } from './trust.ts';

type Envelope = BundleWithDsseEnvelope['content']['dsseEnvelope'];

/** Judges a bundle of cosign 3: a statement about the digest, in an envelope that was signed by a key or keyless. Never throws. */
export function judgeBundle({ json }: BundleSignature, digest: string, trust: Trust): Judgement {
  let bundle: BundleWithDsseEnvelope;
  let statement: Statement;
  try {
    bundle = readBundle(json);
    statement = readEnvelope(bundle.content.dsseEnvelope);
  } catch (error) {
    return { kind: 'invalid', why: `a bundle is no signature of an image: ${describeError(error)}` };
  }
  if (statement.predicateType !== signaturePredicate) return { kind: 'unrelated' };
  if (!statement.digests.includes(digest))
    return { kind: 'invalid', why: `a signature is for ${statement.digests.join(', ') || 'nothing'}` };
  if (!isBundleWithPublicKey(bundle)) return judgeKeyless(() => bundle, undefined, trust);
  return judgeByKey(bundle.content.dsseEnvelope, bundle.verificationMaterial.content.publicKey.hint, trust);
}

function readBundle(json: Buffer): BundleWithDsseEnvelope {
  const bundle = bundleFromJSON(JSON.parse(json.toString('utf8')));
  if (isBundleWithDsseEnvelope(bundle)) return bundle;
  throw new Error('it holds a signature without a statement');
}

function readEnvelope({ payloadType, payload }: Envelope): Statement {
  if (payloadType !== statementType) throw new Error(`it holds "${payloadType}"`);
  return readStatement(payload);
}

/** The log is not asked: the key alone is what the policy believes. The hint only makes the message better. */
function judgeByKey(envelope: Envelope, hint: string, { keys }: Trust): Judgement {
  const bytes = preAuthEncoding(envelope);
  const key = keys.find((key) => envelope.signatures.some(({ sig }) => isSignedBy(key, bytes, sig)));
  if (key !== undefined) return { kind: 'valid', by: key.name };
  return { kind: 'invalid', why: `a signature was made with another key${hint === '' ? '' : ` (${hint.slice(0, 64)})`}` };
}

/** What is signed of an envelope. https://github.com/secure-systems-lab/dsse/blob/master/protocol.md */
function preAuthEncoding({ payloadType, payload }: Envelope): Buffer {
  const type = Buffer.from(payloadType);
  return Buffer.concat([Buffer.from(`DSSEv1 ${type.length} ${payloadType} ${payload.length} `), payload]);
}
