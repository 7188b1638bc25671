/** When a certificate is worth a message. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { X509Certificate } from 'node:crypto';
import { certificateNotice } from '../../src/notify/watch-certificates.ts';
import { makeAuthority } from '../../src/conversion/certificates/make-certificate.ts';

const { certificate: pem } = await makeAuthority(new Date('2026-11-23T12:00:00Z'));
const end = new X509Certificate(pem).validToDate.getTime();
const dayMs = 86_400_000;
const noticeAt = (leftDays: number, text = pem) => certificateNotice('ca.pem', text, new Date(end - leftDays * dayMs));

describe('the notice about a certificate', () => {
  for (const [leftDays, expected] of [
    [15, undefined],
    [13, /it ends at .*: renew it/],
    [2, /it ends at .*: renew it/],
    [-1, /it ended at/],
  ] as const)
    it(`${expected === undefined ? 'is not sent' : 'is sent'} ${leftDays} days before its end`, () => {
      const message = noticeAt(leftDays)?.notice.message;
      if (expected === undefined) assert.equal(message, undefined);
      else assert.match(message ?? '', expected);
    });

  it('has the same identity within a stage before the end, and another in the next stage', () => {
    const identityAt = (leftDays: number) => noticeAt(leftDays)?.identity.join(' ');
    assert.equal(identityAt(13), identityAt(4));
    assert.equal(new Set([13, 2, -1].map(identityAt)).size, 3);
  });

  it('is about the certificate of a bundle that ends first, and ignores text that is no certificate', async () => {
    const { certificate: later } = await makeAuthority(new Date(end));
    assert.match(noticeAt(1, `${later}\n${pem}`)?.notice.message ?? '', new RegExp(new Date(end).toISOString()));
    assert.equal(noticeAt(1, 'no certificate'), undefined);
  });
});
