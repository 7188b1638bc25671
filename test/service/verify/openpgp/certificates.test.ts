/** Which keys of certificates may sign, with those of GnuPG 2.2 (test/fixtures/openpgp) and with made ones. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { readKeyBlocks } from '../../../../src/service/verify/openpgp/armor.ts';
import { readCertificates } from '../../../../src/service/verify/openpgp/certificates.ts';
import { verifyMessage } from '../../../../src/service/verify/openpgp/verify-message.ts';
import { certificateOf, packet, pgpSigner, revocationOf, signatureOf, subkeyOf, subpacket } from './openpgp.ts';

const now = Date.parse('2026-11-01T00:00:00Z');
const fixture = (name: string) => readFileSync(join(import.meta.dirname, '../../../fixtures/openpgp', name));
const read = (text: string, at = now) => readCertificates(readKeyBlocks(text), at);
const signer = pgpSigner();
const subkey = pgpSigner();
const other = pgpSigner();

describe('a key of GnuPG', () => {
  for (const name of ['rsa', 'ed', 'p256', 'sub']) {
    test(`of the kind ${name} verifies what it signed, and nothing that was changed since`, async () => {
      const { keys, problems } = await read(fixture(`${name}.asc`).toString());
      assert.deepEqual([keys.length, problems], [1, []]);
      const message = fixture(`${name}.msg`);
      const verified = await verifyMessage(message, keys, now);
      assert.ok('text' in verified, JSON.stringify(verified));
      assert.match(
        verified.text,
        /^apiVersion: v2\r\nname: web\r\nversion: 1\.1\.0\r\n- dash line\r\n\r\n\.\.\.\r\nfiles:\r\n {2}web-1\.1\.0\.tgz: sha256:[0-9a-f]{64}$/,
      );
      const text = message.toString();
      for (const changed of [text.replace('1.1.0', '1.2.0'), text.replace('\nname', '\n\nname'), text.replace('sha256:', 'sha256: ')])
        assert.ok('why' in (await verifyMessage(Buffer.from(changed), keys, now)), changed);
      // Trailing spaces and the ends of lines are not signed.
      const mailed = Buffer.from(text.replaceAll('\n', ' \r\n'));
      assert.ok('text' in (await verifyMessage(mailed, keys, now)));
      const { keys: strangers } = await read(certificateOf(other));
      assert.ok('why' in (await verifyMessage(message, strangers, now)));
    });
  }
  test('that has expired, is revoked or may only certify is not used', async () => {
    assert.deepEqual(await read(fixture('expired.asc').toString()), {
      keys: [],
      problems: ['key B1C50F86B475FC55 has expired on 2021-01-01'],
    });
    assert.equal((await read(fixture('expired.asc').toString(), Date.parse('2020-12-31T23:59:59Z'))).keys.length, 1);
    assert.deepEqual(await read(fixture('revoked.asc').toString()), { keys: [], problems: ['key 7A063AF701D1EFF6 is revoked'] });
    assert.notEqual((await read(fixture('sub.asc').toString())).keys[0]?.id, undefined);
  });
});

describe('a certificate of OpenPGP', () => {
  const rows: readonly (readonly [name: string, text: string, keys: readonly string[], problems?: RegExp])[] = [
    ['of one key', certificateOf(signer), [signer.id]],
    ['of RSA', certificateOf(pgpSigner({ type: 'rsa' })), ['*']],
    ['with a weak key', certificateOf(pgpSigner({ type: 'rsa', bits: 1024 })), [], /it has 1024 bits, and RSA needs 2048/],
    ['that expires later', certificateOf(signer, { expiresAfter: 86_400 * 365 }), [signer.id]],
    ['that has expired', certificateOf(signer, { expiresAfter: 86_400 }), [], /has expired on 2026-01-02/],
    [
      'from the future',
      certificateOf(pgpSigner({ created: now / 1_000 + 60 }), { created: now / 1_000 - 60 }),
      [],
      /created in the future/,
    ],
    ['whose own signature is from the future', certificateOf(signer, { created: now / 1_000 + 60 }), [], /no valid signature of its owner/],
    ['whose own signature uses SHA-1', certificateOf(signer, { hash: 2 }), [], /no valid signature of its owner/],
    ['with something critical', certificateOf(signer, { subpackets: [subpacket(0x80 | 20, Buffer.alloc(8))] }), [], /no valid signature/],
    ['that may only certify', certificateOf(signer, { flags: 1 }), [], /may not sign/],
    ['with a subkey', certificateOf(signer, { flags: 1, more: subkeyOf(signer, subkey) }), [subkey.id]],
    ['with a key and a subkey', certificateOf(signer, { more: subkeyOf(signer, subkey) }), [signer.id, subkey.id]],
    ['with a subkey for encryption', certificateOf(signer, { more: subkeyOf(signer, subkey, { flags: 12 }) }), [signer.id]],
    [
      'with the subkey of somebody else, who did not agree',
      certificateOf(signer, { more: subkeyOf(signer, subkey, { agreement: signer }) }),
      [signer.id],
      /has not signed that it belongs/,
    ],
    [
      'with a subkey that somebody else has added',
      certificateOf(signer, { more: subkeyOf(other, subkey) }),
      [signer.id],
      /subkey .* has no valid signature of its owner/,
    ],
    [
      'with a revoked subkey',
      certificateOf(signer, { more: [...subkeyOf(signer, subkey), packet(2, Buffer.from(revocationBody(0x28)))] }),
      [signer.id],
      /subkey .* is revoked/,
    ],
  ];
  for (const [name, text, keys, problems] of rows) {
    test(name, async () => {
      const found = await read(text);
      if (keys[0] === '*') assert.equal(found.keys.length, 1);
      else
        assert.deepEqual(
          found.keys.map(({ id }) => id),
          keys,
        );
      assert.match(found.problems.join(), problems ?? /^$/);
    });
  }

  test('with only the signature of another key is not accepted', async () => {
    const stolen = certificateOf({ ...other, body: signer.body, id: signer.id });
    assert.match((await read(stolen)).problems.join(), /no valid signature of its owner/);
  });

  test('that is revoked stays revoked, wherever the revocation is placed', async () => {
    const blocks = `${certificateOf(signer)}\n${certificateOf(other)}`;
    assert.equal((await read(blocks)).keys.length, 2);
    const bytes = readKeyBlocks(certificateOf(signer));
    const head = bytes.subarray(0, 6 + signer.body.length);
    const revoked = Buffer.concat([head, revocationOf(signer), bytes.subarray(head.length)]);
    assert.match((await readCertificates(revoked, now)).problems.join(), /is revoked/);
  });

  test('with many signatures by others is read, and with too many by its own keys it is refused', async () => {
    const met = (by: typeof signer, count: number) =>
      Array.from({ length: count }, () => packet(2, signatureOf(by, Buffer.from('x'), { type: 0x10 })));
    assert.equal((await read(certificateOf(signer, { more: met(other, 500) }))).keys.length, 1);
    assert.equal((await read(certificateOf(signer, { more: met(signer, 63) }))).keys.length, 1);
    await assert.rejects(read(certificateOf(signer, { more: met(signer, 64) })), /more than 64 signatures by its own keys/);
    // The name of another key as issuer hides a revocation from nobody.
    const hidden = packet(2, signatureOf({ ...signer, id: other.id }, Buffer.from('x'), { type: 0x20 }));
    const bytes = readKeyBlocks(certificateOf(signer));
    const head = bytes.subarray(0, 6 + signer.body.length);
    assert.equal((await readCertificates(Buffer.concat([head, hidden, bytes.subarray(head.length)]), now)).keys.length, 0);
  });

  test('is refused if it is malformed or a private key', async () => {
    const secret = `-----BEGIN PGP PRIVATE KEY BLOCK-----\n\nAAAA\n-----END PGP PRIVATE KEY BLOCK-----`;
    const block = (bytes: Buffer) =>
      `-----BEGIN PGP PUBLIC KEY BLOCK-----\n\n${bytes.toString('base64')}\n-----END PGP PUBLIC KEY BLOCK-----`;
    const refused: readonly (readonly [text: string, why: RegExp])[] = [
      ['', /holds no key of OpenPGP/],
      ['-----BEGIN PUBLIC KEY-----', /holds no key of OpenPGP/],
      [secret, /it is a private key/],
      [block(packet(5, Buffer.alloc(10))), /it holds a private key/],
      [block(packet(13, Buffer.from('name'))), /it holds no public key/],
      [block(Buffer.from([0x00])), /not made of packets/],
      [block(Buffer.from([0xc6, 0xff, 0xff, 0xff, 0xff, 0xff])), /cut off/],
      [block(Buffer.from([0xc6, 0xe1, 0x00])), /in parts/],
      [block(Buffer.from([0x9b, 0x00])), /no length/],
      [block(Buffer.concat(Array.from({ length: 513 }, () => packet(12, Buffer.alloc(0))))), /more than 512 packets/],
      [certificateOf(signer).replace('-----END', '----END'), /no end/],
      [certificateOf(signer).replace('\n\n', '\n\n!'), /not Base64/],
    ];
    for (const [text, why] of refused) await assert.rejects(async () => read(text), why, text);
  });

  test('that is cut off anywhere is never used, and throws nothing unexpected', async () => {
    const bytes = readKeyBlocks(certificateOf(signer, { more: subkeyOf(signer, subkey) }));
    const least = 6 + signer.body.length;
    for (let length = 0; length < bytes.length; length++) {
      let keys = 0;
      try {
        keys = (await readCertificates(bytes.subarray(0, length), now)).keys.length;
      } catch (error) {
        assert.match(String(error), /cut off|no public key/);
      }
      if (length <= least) assert.equal(keys, 0);
      assert.ok(keys <= 1, String(length));
    }
  });
});

/** A revocation that nobody made: enough to distrust a key that its owner gives us with it. */
function revocationBody(type: number): number[] {
  return [4, type, 22, 10, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
}
