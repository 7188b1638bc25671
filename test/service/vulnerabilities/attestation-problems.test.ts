/** Attestations at a real registry that do not count: not signed, forged, about another image, unreadable. Each is a problem that says why. */
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { digestOf as digestOfBytes } from '../../harness/push-image.ts';
import { digestOf } from '../../core/model/samples.ts';
import { ecSigner, signBundle, signBundleKeyless, signEnvelope, signEnvelopeKeyless } from '../verify/cosign.ts';
import { createSigstore } from '../verify/sigstore.ts';
import { pushBundle } from '../verify/push-signature.ts';
import { byReleaser, envelope, openShop, ours, payloadOf, scan, scannedAt, sigstore } from './attest.ts';
import { pushAttestationOfCosign2, pushEnvelopes, scanByTrivy, scanType, vexOf, vexType } from './push-attestation.ts';

const shop = await openShop();
after(() => shop.stop());

describe('an attestation is a problem, and no evidence, if it is', () => {
  /** Replaces the signed statement by another one. */
  const forge = (json: Buffer, to: Buffer) => {
    const document = JSON.parse(json.toString()) as { dsseEnvelope?: object };
    const payload = { payload: to.toString('base64') };
    const forged = document.dsseEnvelope
      ? { ...document, dsseEnvelope: { ...document.dsseEnvelope, ...payload } }
      : { ...document, ...payload };
    return Buffer.from(JSON.stringify(forged));
  };
  const better = scanByTrivy([], scannedAt);
  const bundle = (json: Buffer) => (digest: string) => pushBundle(shop.place, digest, { kind: 'bundle', json });
  const at =
    (predicate: object, predicateType = scanType) =>
    (digest: string) =>
      shop.attest(digest, { predicateType, predicate });
  const unsigned = (digest: string) => ({
    json: Buffer.from(
      JSON.stringify({ payloadType: 'application/vnd.in-toto+json', payload: payloadOf(digest).toString('base64'), signatures: [] }),
    ),
    annotations: {},
  });
  const notSigned = /^an attestation of vulnerabilities is not signed by key cosign\.pub of Secret shop\/keys \(\S{43}=\): /;
  const rows: readonly (readonly [name: string, why: RegExp, push: (digest: string) => Promise<void>])[] = [
    [
      'one by another key',
      new RegExp(`${notSigned.source}a signature was made with another key`),
      (digest) => shop.attest(digest, { signer: ecSigner() }),
    ],
    ['one of cosign 2 by another key', notSigned, (digest) => shop.attest(digest, { signer: ecSigner() }, pushAttestationOfCosign2)],
    [
      'one that is not signed',
      /^an attestation cannot be read: it is not signed \(sha256:/,
      (digest) => pushEnvelopes(shop.place, digest, [envelope(unsigned(digest))]),
    ],
    [
      'one that was forged',
      notSigned,
      (digest) => bundle(forge(signBundle(digest, ours, { payload: payloadOf(digest) }).json, payloadOf(digest, better)))(digest),
    ],
    [
      'one of cosign 2 that was forged',
      notSigned,
      (digest) => {
        const { json, annotations } = signEnvelope(digest, ours, { payload: payloadOf(digest) });
        return pushEnvelopes(shop.place, digest, [envelope({ json: forge(json, payloadOf(digest, better)), annotations })]);
      },
    ],
    [
      'a keyless one where a key is wanted',
      new RegExp(`${notSigned.source}a signature is keyless`),
      (digest) => pushBundle(shop.place, digest, signBundleKeyless(digest, { sigstore, payload: payloadOf(digest) })),
    ],
    [
      'one about another image',
      /by key cosign\.pub of Secret shop\/keys is about sha256:b{64}, and not about this image/,
      (digest) => pushBundle(shop.place, digest, signBundle(digest, ours, { payload: payloadOf(digestOf('b')) })),
    ],
    [
      'one about nothing',
      /is about nothing/,
      (digest) =>
        pushBundle(
          shop.place,
          digest,
          signBundle(digest, ours, {
            payload: Buffer.from(
              JSON.stringify({ _type: 'https://in-toto.io/Statement/v1', subject: [], predicateType: scanType, predicate: scan }),
            ),
          }),
        ),
    ],
    ['what is no JSON', /^an attestation cannot be read: /, (digest) => bundle(Buffer.from('<html>'))(digest)],
    ['a deeply nested text', /^an attestation cannot be read: .*nested deeper/, (digest) => bundle(Buffer.from('['.repeat(100)))(digest)],
    [
      'a report that is nested deeply',
      /nested deeper/,
      (digest) =>
        pushBundle(
          shop.place,
          digest,
          signBundle(digest, ours, { payload: Buffer.from(`${'{"predicate":'.repeat(100)}1${'}'.repeat(100)}`) }),
        ),
    ],
    [
      'one that is too large',
      /^an attestation of 8388609 bytes is too large \(sha256:/,
      (digest) => bundle(Buffer.alloc(8_388_609, 0x20))(digest),
    ],
    ['a layer that is gone', /^the registry does not hold sha256:[0-9a-f]{64}, which should be an attestation$/, pushGone],
    [
      'a report without the end of its scan',
      /^the attestation by .* does not count: its record of a scan has another shape \(metadata\.scanFinishedOn\)/,
      at({ ...scan, metadata: {} }),
    ],
    [
      'a report with the time that Go writes if it knows none',
      /does not say when the scan ended/,
      at({ ...scan, metadata: { scanFinishedOn: '0001-01-01T00:00:00Z' } }),
    ],
    [
      'a report in another format',
      /its result is not one of trivy or grype as JSON/,
      at({ ...scan, scanner: { result: { version: '2.1.0', runs: [] } } }),
    ],
    ['a report without a result', /has another shape \(scanner\.result\)/, at({ ...scan, scanner: {} })],
    [
      'a report with an id that cannot be read',
      /the id of a vulnerability cannot be read/,
      at(
        scanByTrivy(
          [
            ['CVE-1', 'LOW'],
            ['CVE\u200b-2', 'LOW'],
          ],
          scannedAt,
        ),
      ),
    ],
    ['a report with a vulnerability that is none', /in another way than the scanner does/, at(withVulnerabilities([null]))],
    ['a report whose vulnerabilities are no list', /in another way than the scanner does/, at(withVulnerabilities('none'))],
    [
      'a report with more vulnerabilities than any image has',
      /more than 20000 vulnerabilities/,
      at(withVulnerabilities(Array.from({ length: 20_001 }, (_, index) => ({ VulnerabilityID: `CVE-${index}`, Severity: 'LOW' })))),
    ],
    [
      'a document of OpenVEX without a time',
      /does not say when its statement about CVE-1 was made/,
      at({ ...vexOf('CVE-1', 'fixed', scannedAt), timestamp: '' }, vexType),
    ],
    [
      'a document of OpenVEX with another status',
      /its document has another shape \(statements\.0\.status\)/,
      at(vexOf('CVE-1', 'forgotten', scannedAt), vexType),
    ],
    ['a document of OpenVEX with a hidden name', /its document has another shape/, at(vexOf('CVE-1\u202e', 'fixed', scannedAt), vexType)],
    [
      'a document of OpenVEX about another image',
      /it has no statement about this image/,
      at(vexOf('CVE-1', 'fixed', scannedAt, { products: [{ '@id': `pkg:oci/web@${digestOf('b').replace(':', '%3A')}` }] }), vexType),
    ],
  ];
  for (const [name, why, push] of rows) {
    test(name, async () => {
      const digest = await shop.image();
      await push(digest);
      const { reports, statements, problems } = await shop.read(digest);
      assert.deepEqual([reports, statements], [[], []]);
      assert.equal(problems.length, 1, JSON.stringify(problems));
      assert.match(problems[0] ?? '', why);
      assert.ok((problems[0] ?? '').length < 700);
      assert.deepEqual((await shop.read(digest)).problems, problems, 'it is the same once it is remembered');
    });
  }

  test('a keyless one of another identity', async () => {
    const wrong = [
      { sigstore, identity: 'https://github.com/mallory/web' },
      { sigstore: createSigstore() },
      { sigstore, isLogged: false },
      { sigstore, isCertificateLogged: false },
    ];
    for (const options of wrong) {
      const digest = await shop.image();
      const content = { ...options, payload: payloadOf(digest) };
      await pushBundle(shop.place, digest, signBundleKeyless(digest, content));
      await pushEnvelopes(shop.place, digest, [envelope(signEnvelopeKeyless(digest, content))]);
      const { reports, problems } = await shop.read(digest, byReleaser);
      assert.deepEqual(reports, []);
      assert.ok(
        problems.length > 0 && problems.every((one) => one.startsWith('an attestation of vulnerabilities is not signed by ')),
        JSON.stringify(problems),
      );
    }
  });

  test('a keyless one that was forged', async () => {
    const digest = await shop.image();
    const { json } = signBundleKeyless(digest, { sigstore, payload: payloadOf(digest) });
    await bundle(forge(json, payloadOf(digest, better)))(digest);
    const layer = signEnvelopeKeyless(digest, { sigstore, payload: payloadOf(digest) });
    await pushEnvelopes(shop.place, digest, [envelope({ ...layer, json: forge(layer.json, payloadOf(digest, better)) })]);
    const { reports, problems } = await shop.read(digest, byReleaser);
    assert.deepEqual(reports, []);
    assert.ok(
      problems.every((one) => one.includes('cannot be verified')),
      JSON.stringify(problems),
    );
  });

  test('one of another type, whose hidden characters are not repeated in the message', async () => {
    const digest = await shop.image();
    const payload = Buffer.from(payloadOf(digest).toString().replace('https://in-toto.io/Statement/v1', 'a\\u202eb\\u001b[2J'));
    await pushBundle(shop.place, digest, signBundle(digest, ours, { payload }));
    const { problems } = await shop.read(digest);
    assert.match(problems.join(), /it is of type "a b \[2J"/);
  });

  async function pushGone(digest: string): Promise<void> {
    const layer = envelope(signEnvelope(digest, ours, { payload: payloadOf(digest) }));
    await pushEnvelopes(shop.place, digest, [layer]);
    const { ok } = await fetch(`http://${shop.place.host}/v2/${shop.place.repository}/blobs/${digestOfBytes(layer.json)}`, {
      method: 'DELETE',
    });
    assert.ok(ok);
  }

  function withVulnerabilities(Vulnerabilities: unknown): object {
    return { ...scan, scanner: { result: { SchemaVersion: 2, ArtifactName: 'web', Results: [{ Target: 'web', Vulnerabilities }] } } };
  }
});
