/** Attestations at a real registry, in all formats of cosign: what is signed about the image counts. */
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import type { ScanReport } from '../../../src/core/model/vulnerabilities.ts';
import { pushBlob } from '../../harness/push-image.ts';
import { ecSigner, releaser, signBundle, signBundleKeyless, signEnvelope, signEnvelopeKeyless } from '../verify/cosign.ts';
import { pushBundle, pushReferrer } from '../verify/push-signature.ts';
import { byKey, byReleaser, envelope, openShop, ours, payloadOf, scannedAt, sigstore } from './attest.ts';
import { envelopeType, pushAttestationOfCosign2, pushEnvelopes, scanByTrivy } from './push-attestation.ts';

const shop = await openShop();
after(() => shop.stop());

const key = 'key cosign.pub of Secret shop/keys';
const publishedMs = Date.parse('2026-01-01T00:00:00Z');
const expected = (by: string): ScanReport => ({
  scanner: 'trivy',
  by: `the attestation by ${by}`,
  scannedMs: scannedAt.getTime(),
  advisories: [
    { id: 'CVE-2026-1', severity: 'Critical', package: 'curl', publishedMs },
    { id: 'CVE-2026-2', severity: 'High', package: 'openssl', publishedMs },
  ],
});

describe('a report counts that is', () => {
  const keyless = `${releaser.identity} (by ${releaser.issuer})`;
  const rows: readonly (readonly [name: string, by: string, push: (digest: string) => Promise<void>])[] = [
    ['a bundle of cosign 3 with a key', key, (digest) => shop.attest(digest)],
    ['a layer of cosign 2 with a key', key, (digest) => shop.attest(digest, {}, pushAttestationOfCosign2)],
    [
      'a referrer of cosign 2 with a key',
      key,
      async (digest) => {
        const { json, annotations } = signEnvelope(digest, ours, { payload: payloadOf(digest) });
        const layer = { ...(await pushBlob({ ...shop.place, tag: '' }, envelopeType, json)), annotations };
        await pushReferrer(shop.place, digest, { artifactType: 'application/vnd.in-toto+json', layers: [layer] });
      },
    ],
    [
      'a keyless bundle of cosign 3',
      keyless,
      (digest) => pushBundle(shop.place, digest, signBundleKeyless(digest, { sigstore, payload: payloadOf(digest) })),
    ],
    [
      'a keyless layer of cosign 2',
      keyless,
      (digest) => pushEnvelopes(shop.place, digest, [envelope(signEnvelopeKeyless(digest, { sigstore, payload: payloadOf(digest) }))]),
    ],
  ];
  for (const [name, by, push] of rows) {
    test(name, async () => {
      const digest = await shop.image();
      await push(digest);
      const evidence = await shop.read(digest, by === key ? byKey : byReleaser);
      assert.deepEqual(evidence, { reports: [expected(by)], statements: [], problems: [] });
    });
  }

  test('among others that do not count', async () => {
    const digest = await shop.image();
    await shop.attest(digest, { signer: ecSigner() });
    await shop.attest(digest);
    const { reports, problems } = await shop.read(digest);
    assert.deepEqual(reports, [expected(key)]);
    assert.equal(problems.length, 1);
  });
});

describe('no report comes from', () => {
  test('an image without attestations', async () => {
    const digest = await shop.image();
    assert.deepEqual(await shop.read(digest), { reports: [], statements: [], problems: [] });
  });

  test('statements about other things, whoever signed them, and signatures', async () => {
    const digest = await shop.image();
    const provenance = 'https://slsa.dev/provenance/v1';
    for (const signer of [ours, ecSigner()]) {
      await shop.attest(digest, { signer, predicateType: provenance, predicate: {} }, pushAttestationOfCosign2);
      // Nothing but its content says what it is.
      await pushBundle(shop.place, digest, signBundle(digest, signer, { payload: payloadOf(digest, {}, provenance) }));
      await pushBundle(shop.place, digest, signBundle(digest, signer));
    }
    assert.deepEqual(await shop.read(digest), { reports: [], statements: [], problems: [] });
  });

  test('a content that its manifest calls something else', async () => {
    const digest = await shop.image();
    const annotations = { 'dev.sigstore.bundle.predicateType': 'https://spdx.dev/Document' };
    await pushBundle(shop.place, digest, { kind: 'bundle', json: Buffer.from('no JSON') }, annotations);
    assert.deepEqual((await shop.read(digest)).problems, []);
  });
});

test('of very many attestations none count, so that whoever may push cannot choose which ones are read', async () => {
  const digest = await shop.image();
  const junk = Array.from({ length: 64 }, () => envelope(signEnvelope(digest, ecSigner(), { payload: payloadOf(digest) })));
  await pushEnvelopes(shop.place, digest, [...junk, envelope(signEnvelope(digest, ours, { payload: payloadOf(digest) }))]);
  const { reports, problems } = await shop.read(digest);
  assert.deepEqual(reports, []);
  assert.match(problems.join('\n'), /more attestations than are read, so that none of them count: there are 1 more/);
  assert.match(problems.join('\n'), /another key \(sha256:.*and \d+ more\)/);
});

test('an image that was read costs one manifest and the list of its referrers', async () => {
  const digest = await shop.image();
  await shop.attest(digest);
  await shop.attest(digest, { predicate: scanByTrivy([], scannedAt) }, pushAttestationOfCosign2);
  await shop.attest(digest, { signer: ecSigner() });
  const first = await shop.read(digest);
  assert.equal(first.reports.length, 2);
  shop.requests.length = 0;
  assert.deepEqual(await shop.read(digest), first);
  assert.deepEqual(shop.requests, [`manifest ${digest.replace(':', '-')}.att`, `referrers ${digest}`]);
  // Others are trusted: what is remembered is not theirs.
  assert.deepEqual((await shop.read(digest, byReleaser)).reports, []);
});

describe('without keys', () => {
  test('that can be read nothing counts, and it is said', async () => {
    const digest = await shop.image();
    await shop.attest(digest);
    const other = { keys: [{ secret: 'other', key: 'cosign.pub' }], signers: [] };
    const { reports, problems } = await shop.read(digest, other);
    assert.deepEqual([reports, problems], [[], ['Secret shop/other does not exist']]);
  });

  test('and without a trust root keyless attestations do not count', async () => {
    const rootless = await openShop({ isRootless: true });
    try {
      const digest = await rootless.image();
      const { problems } = await rootless.read(digest, byReleaser);
      assert.deepEqual(problems, [
        'keyless attestations do not count: the configuration has no verification.trustRootFile to verify them with',
      ]);
    } finally {
      await rootless.stop();
    }
  });
});
