/** Messages that are signed in clear text, and those that only look so. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readKeyBlocks } from '../../../../src/service/verify/openpgp/armor.ts';
import { readCertificates } from '../../../../src/service/verify/openpgp/certificates.ts';
import { verifyMessage } from '../../../../src/service/verify/openpgp/verify-message.ts';
import { certificateOf, clearSigned, pgpSigner, subpacket } from './openpgp.ts';

const now = Date.parse('2026-11-01T00:00:00Z');
const [ours, other] = [pgpSigner(), pgpSigner({ type: 'rsa' })];
const keysOf = async (...signers: readonly (typeof ours)[]) =>
  (await readCertificates(readKeyBlocks(signers.map((one) => certificateOf(one)).join('\n')), now)).keys;
const text = 'name: web\n- a line with a dash\n\n...\nfiles:';
const good = clearSigned(text, [ours]);
const verify = async (message: string | Buffer, keys = keysOf(ours)) => verifyMessage(Buffer.from(message), await keys, now);
const signature = good.slice(good.indexOf('-----BEGIN PGP SIGNATURE'));

test('a message is verified by any of the keys and any of its signatures', async () => {
  for (const result of await Promise.all([
    verify(good),
    verify(good, keysOf(other, ours)),
    verify(clearSigned(text, [other, ours])),
    verify(clearSigned(text, [other]), keysOf(other)),
  ]))
    assert.equal('text' in result && result.text, text.replaceAll('\n', '\r\n'));
});

const refused: readonly (readonly [name: string, message: string | Buffer, why: RegExp])[] = [
  ['nothing', '', /does not begin as a message/],
  ['a text before it', `x\n${good}`, /does not begin as a message/],
  ['a mark of the order of bytes before it', `\ufeff${good}`, /does not begin as a message/],
  ['a text after it', `${good}x`, /a text after its signature/],
  ['another message after it', `${good}${good}`, /a text after its signature/],
  ['a text among the headers', good.replace('Hash: SHA512', 'Hash: SHA512\nname: evil'), /another line than the hash/],
  ['no headers and no empty line', good.replace('Hash: SHA512\n\n', ''), /another line than the hash/],
  ['a line that is not escaped', good.replace('- - a line', '-a line'), /a dash that is not escaped/],
  ['no signature', good.replace(signature, ''), /it has no signature/],
  ['an empty signature', good.replace(signature, '-----BEGIN PGP SIGNATURE-----\n\n-----END PGP SIGNATURE-----\n'), /not Base64/],
  ['the signature of another text', good.replace('name: web', 'name: evil'), /was changed since/],
  ['somebody else', clearSigned(text, [other]), new RegExp(`not signed by an accepted key.*\\(it names key ${other.id}\\)`)],
  ['five signatures', clearSigned(text, [other, other, other, other, ours]), /one to four signatures/],
  [
    'a key instead of a signature',
    good.replace(signature, certificateOf(ours).replaceAll('PUBLIC KEY BLOCK', 'SIGNATURE')),
    /one to four signatures/,
  ],
  ['SHA-1', clearSigned(text, [ours], { hash: 2 }), /not signed by an accepted key/],
  ['a signature of bytes', clearSigned(text, [ours], { type: 0 }), /not signed by an accepted key/],
  ['a signature of the future', clearSigned(text, [ours], { created: now / 1_000 + 60 }), /not signed by an accepted key/],
  ['a signature before the key', clearSigned(text, [ours], { created: ours.created - 1 }), /not signed by an accepted key/],
  [
    'an expired signature',
    clearSigned(text, [ours], { subpackets: [subpacket(3, Buffer.from([0, 0, 0, 60]))] }),
    /not signed by an accepted key/,
  ],
  [
    'something critical that is unknown',
    clearSigned(text, [ours], { subpackets: [subpacket(0x80 | 100, Buffer.alloc(1))] }),
    /not signed by/,
  ],
  ['bytes that are no text', Buffer.concat([Buffer.from(good.slice(0, 60)), Buffer.from([0xff])]), /not a text in UTF-8/],
];
for (const [name, message, why] of refused) {
  test(`a message with ${name} is not verified`, async () => {
    const result = await verify(message);
    assert.match('why' in result ? result.why : 'it was verified', why);
  });
}

test('a message of OpenPGP with a changed byte is not verified, unless its text is the same', async () => {
  const keys = await keysOf(ours);
  for (let at = 0; at < good.length; at++) {
    const bytes = Buffer.from(good);
    bytes[at] = (bytes[at] ?? 0) ^ 1;
    const result = await verifyMessage(bytes, keys, now);
    if ('text' in result) assert.equal(result.text, text.replaceAll('\n', '\r\n'), `byte ${at}`);
  }
});
