/** Private keys that are encrypted with a password. The work that one takes is read before it is done, because whoever writes the Secret chooses it: a second for each three million iterations. */
import { createPrivateKey, type KeyObject } from 'node:crypto';

/** The maximum number of iterations of PBKDF2, which take some ten milliseconds. OpenSSL writes 2,048. */
const maxIterations = 50_000;
/** PBES2, PBKDF2. https://www.rfc-editor.org/rfc/rfc8018#appendix-A */
const schemes = ['2a864886f70d01050d', '2a864886f70d01050c'];
/** One block of PKCS #8, and nothing else. */
const modern = /^\s*-----BEGIN ENCRYPTED PRIVATE KEY-----([A-Za-z0-9+/=\s]+)-----END ENCRYPTED PRIVATE KEY-----\s*$/;
/** The older format of OpenSSL, which needs one iteration. */
const traditional =
  /^\s*-----BEGIN (?:RSA|EC) PRIVATE KEY-----\r?\nProc-Type: 4,ENCRYPTED\r?\nDEK-Info: [A-Z0-9-]+,[0-9A-F]+\r?\n\r?\n[A-Za-z0-9+/=\s]+-----END (?:RSA|EC) PRIVATE KEY-----\s*$/;

/** Why the work of decrypting a key is not done, if it is too much or unknown. Undefined also for text that is no such key. */
export function costOf(pem: string): string | undefined {
  const [, content] = modern.exec(pem) ?? [];
  if (content === undefined) return undefined;
  const { identifiers, integers } = readParameters(Buffer.from(content, 'base64'));
  if (schemes.some((scheme, index) => identifiers[index] !== scheme)) return 'in a way that is not supported';
  const isBounded = integers.every((bytes) => BigInt(`0x0${bytes}`) <= maxIterations);
  return isBounded ? undefined : `with more than ${maxIterations} iterations`;
}

/** Decrypts a key. Throws if its format is unknown, the password is wrong, or `costOf` has an objection. */
export function decryptKey(pem: string, passphrase: string): KeyObject {
  const [, content] = modern.exec(pem) ?? [];
  // The bytes that were measured are read, so that no other part of the text is.
  if (content !== undefined && costOf(pem) === undefined)
    return createPrivateKey({ key: Buffer.from(content, 'base64'), format: 'der', type: 'pkcs8', passphrase });
  if (traditional.test(pem)) return createPrivateKey({ key: pem, passphrase });
  throw new Error('it is not one encrypted key');
}

const tags = { integer: 0x02, identifier: 0x06, sequence: 0x30 };

/** The object identifiers and integers, in hexadecimal, of the AlgorithmIdentifier that begins an EncryptedPrivateKeyInfo. Empty if the bytes are anything else. */
function readParameters(bytes: Buffer): { readonly identifiers: readonly string[]; readonly integers: readonly string[] } {
  const identifiers: string[] = [];
  const integers: string[] = [];
  const visit = (content: Buffer) => {
    for (let rest = content; rest.length > 0;) {
      const { tag, value, next } = readElement(rest);
      if (tag === tags.identifier) identifiers.push(value.toString('hex'));
      if (tag === tags.integer) integers.push(value.toString('hex'));
      if (tag === tags.sequence) visit(value);
      rest = next;
    }
  };
  try {
    visit(readElement(readElement(bytes).value).value);
    return { identifiers, integers };
  } catch {
    // Other bytes have no known scheme, and are refused.
    return { identifiers: [], integers: [] };
  }
}

/** The first element of DER. Throws unless it has a definite length, and all of its bytes are there. */
function readElement(bytes: Buffer): { readonly tag: number; readonly value: Buffer; readonly next: Buffer } {
  const [tag = 0, length = 0x80] = bytes;
  const sizeBytes = length < 0x80 ? 0 : length - 0x80;
  if (length === 0x80 || sizeBytes > 2) throw new Error('its length is indefinite or huge');
  const start = 2 + sizeBytes;
  const end = start + (sizeBytes === 0 ? length : bytes.readUIntBE(2, sizeBytes));
  if (end > bytes.length) throw new Error('it is cut');
  return { tag, value: bytes.subarray(start, end), next: bytes.subarray(end) };
}
