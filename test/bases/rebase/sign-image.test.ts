/** Signatures of rebased images, checked by our own verification and by openssl. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { readSigningKey, signImage } from '../../../src/bases/rebase/sign-image.ts';
import { verifySignatures } from '../../../src/service/verify/verify-signatures.ts';
import { runCommand } from '../../harness/run-command.ts';
import { tempFolder } from '../../harness/temp-folder.ts';
import { ecSigner, edSigner, pemOf, rsaSigner, type Signer } from '../../service/verify/cosign.ts';
import { digestFor } from './samples.ts';

const repository = { registry: 'registry.example.com', path: 'shop/web' };
const digest = digestFor('image');
const pem = ({ privateKey }: Signer) => privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
const layersOf = (bytes: Buffer) =>
  (JSON.parse(String(bytes)) as { layers: { digest: string; annotations: Record<string, string> }[] }).layers;

describe('the signature of a rebased image is verified by us and by openssl', () => {
  const signers = { 'ECDSA P-256': ecSigner(), 'ECDSA P-384': ecSigner('P-384'), RSA: rsaSigner(), Ed25519: edSigner() };
  for (const [name, signer] of Object.entries(signers)) {
    test(`with a key of the type ${name}`, async () => {
      const key = readSigningKey('rebase.pem', pem(signer));
      const { blobs, manifest } = await signImage(repository, digest, key, undefined);
      const [payload = Buffer.alloc(0)] = blobs;
      const annotations = layersOf(manifest.bytes)[0]?.annotations ?? {};
      const found = (async function* () {
        yield await Promise.resolve({ kind: 'simple' as const, payload, annotations });
      })();
      assert.equal((await verifySignatures(found, digest, { keys: [key.publicKey], signers: [] })).kind, 'verified');

      const folder = tempFolder('signature');
      const file = (path: string, content: Buffer | string) => {
        writeFileSync(join(folder, path), content);
        return join(folder, path);
      };
      const publicKey = file('key.pub', pemOf(signer));
      const signature = file('signature', Buffer.from(annotations['dev.cosignproject.cosign/signature'] ?? '', 'base64'));
      const signed = file('payload', payload);
      const how =
        signer.algorithm === null
          ? ['pkeyutl', '-verify', '-pubin', '-inkey', publicKey, '-rawin', '-in', signed, '-sigfile', signature]
          : ['dgst', '-sha256', '-verify', publicKey, '-signature', signature, signed];
      assert.match(await runCommand('/usr/bin/env', ['openssl', ...how]), /Verified OK|Signature Verified Successfully/);
    });
  }
});

test('signing an image keeps the signatures of others', async () => {
  const [one, other] = [ecSigner(), ecSigner()].map((signer) => readSigningKey('key', pem(signer)));
  assert.ok(one && other);
  const first = (await signImage(repository, digest, one, undefined)).manifest;
  const second = (await signImage(repository, digest, other, { ...first, digest: digestFor('signatures') })).manifest;
  assert.deepEqual(layersOf(second.bytes)[0], layersOf(first.bytes)[0]);
  assert.equal(layersOf(second.bytes).length, 2);
  const something = { mediaType: first.mediaType, bytes: Buffer.from('{"layers":1}'), digest };
  await assert.rejects(signImage(repository, digest, one, something), /there is something else under the tag of the signatures/);
});

describe('a key that cannot sign is refused without its content in the message', () => {
  const secret = 'MC4CAQAwBQYDK2Vw';
  const small = generateKeyPairSync('rsa', { modulusLength: 1024 }).privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  const other = generateKeyPairSync('x25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  const encrypted = ecSigner().privateKey.export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'right' }).toString();
  const encryptedBy = (...how: string[]) =>
    execFileSync('openssl', ['pkcs8', '-topk8', '-passout', 'pass:right', ...how], { input: pem(ecSigner()), encoding: 'utf8' });
  const cases: Record<string, [text: string, password: string | undefined, message: RegExp]> = {
    'a public key': [pemOf(ecSigner()), undefined, /is not a private key in PEM form/],
    nothing: ['', undefined, /is not a private key in PEM form/],
    'a damaged key': [`-----BEGIN PRIVATE KEY-----\n${secret}\n-----END PRIVATE KEY-----\n`, undefined, /cannot be read as a private key$/],
    "cosign's own format": [`-----BEGIN ENCRYPTED SIGSTORE PRIVATE KEY-----\n${secret}`, undefined, /openssl genpkey/],
    'a password is missing': [encrypted, undefined, /is encrypted, and no password is given/],
    'the password is wrong': [encrypted, 'wrong', /or the password is wrong/],
    'a password that takes many iterations': [
      encryptedBy('-iter', '60000'),
      'right',
      /more than 50000 iterations: encrypt it again with "openssl/,
    ],
    'a password that is derived by scrypt': [encryptedBy('-scrypt', '-scrypt_N', '1024'), 'right', /not supported: encrypt it again with/],
    'a password of an older scheme with many iterations': [encryptedBy('-v1', 'PBE-SHA1-3DES', '-iter', '60000'), 'right', /not supported/],
    'many iterations under the label of a key that is not encrypted': [
      encryptedBy('-iter', '60000').replaceAll('ENCRYPTED PRIVATE', 'PRIVATE'),
      'right',
      /cannot be read/,
    ],
    'many iterations after another key': [pem(ecSigner()) + encryptedBy('-iter', '60000'), 'right', /cannot be read/],
    'many iterations in a key that is cut': [encryptedBy('-iter', '60000').replace(/^M.{40}/m, ''), 'right', /not supported/],
    'a small RSA key': [small, undefined, /has 1024 bits/],
    'a key that cannot sign': [other, undefined, /keys of type x25519 are not supported/],
    'a book': ['x'.repeat(20_000), undefined, /too long/],
  };
  for (const [name, [text, password, message]] of Object.entries(cases)) {
    test(name, () => {
      assert.throws(
        () => readSigningKey('rebase.pem', text, password),
        (error: Error) => message.test(error.message) && error.message.startsWith('rebase.pem') && !error.message.includes(secret),
      );
    });
  }
  const readable: Record<string, string> = {
    PBKDF2: encrypted,
    'PBKDF2 with many iterations': encryptedBy('-iter', '50000'),
    'the older format of RSA keys': rsaSigner()
      .privateKey.export({ type: 'pkcs1', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'right' })
      .toString(),
    'the older format of EC keys': ecSigner()
      .privateKey.export({ type: 'sec1', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'right' })
      .toString(),
    'no encryption': pem(ecSigner()),
  };
  for (const [name, text] of Object.entries(readable))
    test(`a key is read with its password: ${name}`, () => assert.ok(readSigningKey('rebase.pem', text, 'right')));
});
