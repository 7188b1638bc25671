/** A Sigstore of one's own, without a network: an authority like Fulcio, a CT log and a transparency log like Rekor, and the root that trusts them. */
import { createHash, generateKeyPairSync, hash, sign, type KeyObject } from 'node:crypto';
import { bits, der, integer, octets, oid, sequence, time, truth, utf8 } from './der.ts';

export interface Sigstore {
  /** trusted_root.json */
  readonly trustedRoot: string;
  /** A certificate for a key, as Fulcio issues it, in DER. */
  issue(certificate: CertificateRequest): Buffer;
  /** An entry of the log, with its promise and its proof, as it is in bundles. */
  log(kind: string, spec: object, at: Date): LogEntry;
}

export interface CertificateRequest {
  readonly publicKey: KeyObject;
  /** An e-mail address or a URL. */
  readonly identity: string;
  readonly issuer: string;
  readonly notBefore: Date;
  readonly minutes?: number;
  /** Whether it is in the CT log. */
  readonly isLogged?: boolean;
}

export interface LogEntry {
  readonly logIndex: string;
  readonly logId: { readonly keyId: string };
  readonly kindVersion: { readonly kind: string; readonly version: string };
  readonly integratedTime: string;
  readonly inclusionPromise: { readonly signedEntryTimestamp: string };
  readonly inclusionProof: object;
  readonly canonicalizedBody: string;
}

const ecdsaWithSha256 = sequence(oid('1.2.840.10045.4.3.2'));
const beginning = '2020-01-01T00:00:00Z';

/** Another one each time: what one of them signs, the others do not trust. */
export function createSigstore(): Sigstore {
  const [authority, ctLog, rekor] = [newKey(), newKey(), newKey()];
  const root = selfSigned(authority, 'Test Authority');
  return {
    trustedRoot: JSON.stringify({
      mediaType: 'application/vnd.dev.sigstore.trustedroot+json;version=0.1',
      tlogs: [logOf('https://rekor.test', rekor)],
      certificateAuthorities: [
        {
          subject: { organization: 'test', commonName: 'Test Authority' },
          uri: 'https://fulcio.test',
          certChain: { certificates: [{ rawBytes: root.toString('base64') }] },
          validFor: { start: beginning },
        },
      ],
      ctlogs: [logOf('https://ct.test', ctLog)],
      timestampAuthorities: [],
    }),
    issue: (request) => issue(request, authority, ctLog),
    log: (kind, spec, at) => log(rekor, kind, spec, at),
  };
}

type KeyPair = ReturnType<typeof newKey>;

function newKey() {
  return generateKeyPairSync('ec', { namedCurve: 'P-256' });
}

const spki = (key: KeyObject) => key.export({ type: 'spki', format: 'der' });
const idOf = ({ publicKey }: KeyPair) => hash('sha256', spki(publicKey), 'buffer');
const nameOf = (text: string) => sequence(der(0x31, sequence(oid('2.5.4.3'), utf8(text))));
const extension = (id: string, value: Buffer, isCritical = false) => sequence(oid(id), ...(isCritical ? [truth] : []), octets(value));

function logOf(baseUrl: string, key: KeyPair): object {
  return {
    baseUrl,
    hashAlgorithm: 'SHA2_256',
    publicKey: { rawBytes: spki(key.publicKey).toString('base64'), keyDetails: 'PKIX_ECDSA_P256_SHA_256', validFor: { start: beginning } },
    logId: { keyId: idOf(key).toString('base64') },
  };
}

interface ToBeSigned {
  readonly subject: Buffer;
  readonly publicKey: KeyObject;
  readonly notBefore: Date;
  readonly notAfter: Date;
  readonly extensions: readonly Buffer[];
}

function toBeSigned({ subject, publicKey, notBefore, notAfter, extensions }: ToBeSigned): Buffer {
  return sequence(
    der(0xa0, integer(2)),
    integer(7),
    ecdsaWithSha256,
    nameOf('Test Authority'),
    sequence(time(notBefore), time(notAfter)),
    subject,
    spki(publicKey),
    der(0xa3, sequence(...extensions)),
  );
}

function certify(content: ToBeSigned, { privateKey }: KeyPair): Buffer {
  const tbs = toBeSigned(content);
  return sequence(tbs, ecdsaWithSha256, bits(sign('sha256', tbs, privateKey)));
}

function selfSigned(key: KeyPair, name: string): Buffer {
  const keyCertSign = der(0x03, Buffer.from([2, 0x04]));
  const extensions = [extension('2.5.29.19', sequence(truth), true), extension('2.5.29.15', keyCertSign, true)];
  const [notBefore, notAfter] = [new Date(beginning), new Date('2090-01-01T00:00:00Z')];
  return certify({ subject: nameOf(name), publicKey: key.publicKey, notBefore, notAfter, extensions }, key);
}

function issue(request: CertificateRequest, authority: KeyPair, ctLog: KeyPair): Buffer {
  const { publicKey, identity, issuer, notBefore, minutes = 10, isLogged = true } = request;
  const generalName = der(identity.includes('://') ? 0x86 : 0x81, Buffer.from(identity, 'latin1'));
  const extensions = [
    extension('2.5.29.15', der(0x03, Buffer.from([7, 0x80])), true), // digitalSignature
    extension('2.5.29.37', sequence(oid('1.3.6.1.5.5.7.3.3'))), // code signing
    extension('2.5.29.17', sequence(generalName), true),
    extension('1.3.6.1.4.1.57264.1.1', Buffer.from(issuer)),
    extension('1.3.6.1.4.1.57264.1.8', utf8(issuer)),
  ];
  const notAfter = new Date(notBefore.getTime() + minutes * 60_000);
  const content = { subject: sequence(), publicKey, notBefore, notAfter, extensions };
  if (!isLogged) return certify(content, authority);
  const proof = extension('1.3.6.1.4.1.11129.2.4.2', octets(timestampList(toBeSigned(content), authority, ctLog, notBefore)));
  return certify({ ...content, extensions: [...extensions, proof] }, authority);
}

/** RFC 6962 §3.2 and §3.3. */
function timestampList(tbs: Buffer, authority: KeyPair, ctLog: KeyPair, at: Date): Buffer {
  const moment = Buffer.alloc(8);
  moment.writeBigUInt64BE(BigInt(at.getTime()));
  const preCertificate = Buffer.concat([idOf(authority), uint(3, tbs.length), tbs]);
  const signed = Buffer.concat([Buffer.from([0, 0]), moment, uint(2, 1), preCertificate, uint(2, 0)]);
  const signature = sign('sha256', signed, ctLog.privateKey);
  const timestamp = Buffer.concat([
    Buffer.from([0]),
    idOf(ctLog),
    moment,
    uint(2, 0),
    Buffer.from([4, 3]),
    uint(2, signature.length),
    signature,
  ]);
  return Buffer.concat([uint(2, timestamp.length + 2), uint(2, timestamp.length), timestamp]);
}

function uint(length: number, value: number): Buffer {
  const bytes = Buffer.alloc(length);
  bytes.writeUIntBE(value, 0, length);
  return bytes;
}

function log(rekor: KeyPair, kind: string, spec: object, at: Date): LogEntry {
  const version = '0.0.1';
  const body = Buffer.from(JSON.stringify({ apiVersion: version, kind, spec }));
  const integratedTime = Math.floor(at.getTime() / 1_000);
  const id = idOf(rekor);
  const promised = JSON.stringify({ body: body.toString('base64'), integratedTime, logID: id.toString('hex'), logIndex: 0 });
  // The only leaf is the root of its tree.
  const rootHash = createHash('sha256')
    .update(Buffer.from([0]))
    .update(body)
    .digest();
  const note = `rekor.test - 1\n1\n${rootHash.toString('base64')}\n`;
  const noteSignature = Buffer.concat([id.subarray(0, 4), sign('sha256', Buffer.from(note), rekor.privateKey)]);
  return {
    logIndex: '0',
    logId: { keyId: id.toString('base64') },
    kindVersion: { kind, version },
    integratedTime: String(integratedTime),
    inclusionPromise: { signedEntryTimestamp: sign('sha256', Buffer.from(promised), rekor.privateKey).toString('base64') },
    inclusionProof: {
      logIndex: '0',
      rootHash: rootHash.toString('base64'),
      treeSize: '1',
      hashes: [],
      checkpoint: { envelope: `${note}\n\u2014 rekor.test ${noteSignature.toString('base64')}\n` },
    },
    canonicalizedBody: body.toString('base64'),
  };
}
