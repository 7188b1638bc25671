/** Signs images as `cosign sign --key` does (version 2, without a transparency log). https://github.com/sigstore/cosign/blob/main/specs/SIGNATURE_SPEC.md */
import { manifestType, simpleSigningType } from '../../core/model/media-types.ts';
import { createPrivateKey, createPublicKey, hash, type KeyObject, sign } from 'node:crypto';
import { z } from 'zod';
import { describeError } from '../../core/model/errors.ts';
import { formatRepository, type Repository } from '../../core/model/image-reference.ts';
import type { Manifest } from '../../service/registry/manifests.ts';
import { type PublicKey, readPublicKey } from '../../service/verify/public-keys.ts';
import { costOf, decryptKey } from './encrypted-key.ts';
import type { Referrer } from './provenance.ts';
import { parseBoundedJson } from '../../core/model/bounded-json.ts';

/** A private key that signs images, and the public key that verifies them. */
export interface SigningKey {
  readonly privateKey: KeyObject;
  readonly publicKey: PublicKey;
}

const configType = 'application/vnd.oci.image.config.v1+json';
const maxKeyLength = 16_384;
/** The maximum number of signatures of an image: the verifier reads only the last ones. */
const maxSignatures = 32;

/** Reads a private key in PEM form: ECDSA, RSA or Ed25519, PKCS #8 (with a password if it is encrypted), SEC 1 or PKCS #1. Throws an Error that says what is wrong with it. */
export function readSigningKey(name: string, pem: string, password?: string): SigningKey {
  if (pem.length > maxKeyLength) throw new Error(`${name} is not a private key: it is too long`);
  if (/ENCRYPTED (?:SIGSTORE|COSIGN) PRIVATE KEY/.test(pem)) {
    throw new Error(
      `${name} is encrypted in cosign's own format, which cannot be read: create a key with "openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out rebase.pem", and its public key with "openssl pkey -in rebase.pem -pubout" (cosign import-key-pair --key rebase.pem makes cosign use the same key)`,
    );
  }
  if (!/-----BEGIN (?:[A-Z]+ )*PRIVATE KEY-----/.test(pem))
    throw new Error(`${name} is not a private key in PEM form (-----BEGIN PRIVATE KEY-----)`);
  if (/ENCRYPTED/.test(pem) && password === undefined) throw new Error(`${name} is encrypted, and no password is given`);
  const cost = costOf(pem);
  if (cost !== undefined)
    throw new Error(`${name} is encrypted ${cost}: encrypt it again with "openssl pkcs8 -topk8 -iter 2048 -in FILE -out rebase.pem"`);
  let privateKey: KeyObject;
  try {
    privateKey = /ENCRYPTED/.test(pem) && password !== undefined ? decryptKey(pem, password) : createPrivateKey(pem);
  } catch {
    // The error of the parser is left out, because it does not help users and could contain parts of the key.
    throw new Error(`${name} cannot be read as a private key${password === undefined ? '' : ', or the password is wrong'}`);
  }
  try {
    const text = createPublicKey(privateKey).export({ type: 'spki', format: 'pem' }).toString();
    return { privateKey, publicKey: readPublicKey(name, text) };
  } catch (error) {
    throw new Error(`${name} cannot sign images: ${describeError(error)}`, { cause: error });
  }
}

/** The tag of the signatures of an image. */
export function signatureTag(digest: string): string {
  return `${digest.replace(':', '-')}.sig`;
}

const signatures = z.looseObject({ layers: z.array(z.looseObject({ mediaType: z.string(), digest: z.string(), size: z.int() })) });

/** The manifest of signatures with one more, to be pushed under `signatureTag`. The signatures in `known` stay. */
export async function signImage(repository: Repository, digest: string, key: SigningKey, known: Manifest | undefined): Promise<Referrer> {
  const payload = Buffer.from(
    JSON.stringify({
      critical: {
        identity: { 'docker-reference': formatRepository(repository) },
        image: { 'docker-manifest-digest': digest },
        type: 'cosign container image signature',
      },
      optional: null,
    }),
  );
  const { privateKey } = key;
  const layer = {
    mediaType: simpleSigningType,
    digest: digestOf(payload),
    size: payload.length,
    annotations: { 'dev.cosignproject.cosign/signature': (await makeSignature(payload, privateKey)).toString('base64') },
  };
  const layers = [...readLayers(known), layer].slice(-maxSignatures);
  const time = '0001-01-01T00:00:00Z';
  const config = Buffer.from(
    JSON.stringify({
      architecture: '',
      created: time,
      history: layers.map(() => ({ created: time })),
      os: '',
      rootfs: { type: 'layers', diff_ids: layers.map((one) => one.digest) },
      config: {},
    }),
  );
  const document = {
    schemaVersion: 2,
    mediaType: manifestType,
    config: { mediaType: configType, digest: digestOf(config), size: config.length },
    layers,
  };
  return { blobs: [payload, config], manifest: { mediaType: manifestType, bytes: Buffer.from(JSON.stringify(document)) } };
}

/** Signs outside the event loop, because a large key takes tens of milliseconds. */
function makeSignature(payload: Buffer, key: KeyObject): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  const algorithm = key.asymmetricKeyType === 'ed25519' ? null : 'sha256';
  sign(algorithm, payload, key, (error, signature) => (error === null ? resolve(signature) : reject(error)));
  return promise;
}

function readLayers(known: Manifest | undefined): readonly { readonly digest: string }[] {
  if (known === undefined) return [];
  try {
    return signatures.parse(parseBoundedJson(known.bytes)).layers;
  } catch (error) {
    throw new Error(`there is something else under the tag of the signatures, ${known.digest}`, { cause: error });
  }
}

function digestOf(bytes: Buffer): string {
  return `sha256:${hash('sha256', bytes, 'hex')}`;
}
