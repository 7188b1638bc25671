/** Statements of OpenVEX, and attestations about images of several platforms, at a real registry. */
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { lastStatements } from '../../../src/core/model/vulnerabilities.ts';
import { readManifest } from '../../harness/push-image.ts';
import { digestOf } from '../../core/model/samples.ts';
import { ecSigner, signEnvelope, statementOf } from '../verify/cosign.ts';
import { openShop, ours } from './attest.ts';
import { pushEnvelopes, scanByTrivy, scanType, vexOf, vexType } from './push-attestation.ts';

const shop = await openShop();
after(() => shop.stop());

const days = (count: number) => new Date(Date.parse('2026-03-01T12:00:00Z') + count * 86_400_000);
const scan = (digest: string, ids: readonly string[], at = days(0), signer = ours) =>
  shop.attest(digest, {
    signer,
    predicate: scanByTrivy(
      ids.map((id) => [id, 'HIGH']),
      at,
    ),
  });
const state = (digest: string, predicate: object, predicateType = vexType) => shop.attest(digest, { predicateType, predicate });
const by = 'the attestation by key cosign.pub of Secret shop/keys';

describe('a statement of OpenVEX', () => {
  for (const status of ['not_affected', 'affected', 'fixed', 'under_investigation']) {
    test(`counts with the status ${status}`, async () => {
      const digest = await shop.image();
      await state(digest, vexOf('CVE-1', status, days(1)));
      const expected = [{ ids: ['CVE-1'], status, statedMs: days(1).getTime(), by }];
      assert.deepEqual(await shop.read(digest), { reports: [], statements: expected, problems: [] });
    });
  }

  test('has all names of the vulnerability, and its own time rather than that of its document', async () => {
    const digest = await shop.image();
    const document = vexOf('CVE-1', 'fixed', days(5), { timestamp: days(2).toISOString() }) as { statements: object[] };
    const vulnerability = { name: 'CVE-1', aliases: ['GHSA-jfh8-c2jp-5v3q', 'CVE-1'] };
    await state(digest, { ...document, statements: [{ ...document.statements[0], vulnerability }] });
    const [found, ...more] = (await shop.read(digest)).statements;
    assert.deepEqual([found?.ids, found?.statedMs, more], [['CVE-1', 'GHSA-jfh8-c2jp-5v3q'], days(2).getTime(), []]);
  });

  test('has the time of the last update of its document', async () => {
    const digest = await shop.image();
    await state(digest, { ...vexOf('CVE-1', 'fixed', days(1)), last_updated: days(3).toISOString() });
    assert.equal((await shop.read(digest)).statements[0]?.statedMs, days(3).getTime());
  });

  test('may have the format of version 0.0.1', async () => {
    const digest = await shop.image();
    const document = { ...vexOf('', '', days(1)), statements: [{ vulnerability: 'CVE-1', status: 'fixed', products: ['pkg:oci/web'] }] };
    await state(digest, document, 'https://openvex.dev/ns');
    assert.deepEqual((await shop.read(digest)).statements[0]?.ids, ['CVE-1']);
  });

  test('counts if its products name this image, by any of their digests, or no digest', async () => {
    const digest = await shop.image();
    const [, hex = ''] = digest.split(':');
    const other = { '@id': `pkg:oci/web@${digestOf('b').replace(':', '%3A')}` };
    const products = [
      [other, { '@id': `pkg:oci/web@sha256%3A${hex}?repository_url=x` }],
      [other, { identifiers: { purl: `pkg:oci/web@sha256:${hex}` } }],
      [other, { hashes: { 'sha-256': hex } }],
      [`pkg:oci/web@sha256%3a${hex.toUpperCase()}`],
      [{ '@id': 'pkg:apk/wolfi/git@2.39.0-r1' }],
      [],
    ];
    for (const [index, one] of products.entries()) await state(digest, vexOf(`CVE-${index}`, 'fixed', days(index), { products: one }));
    const { statements, problems } = await shop.read(digest);
    assert.deepEqual(new Set(statements.map(({ ids }) => ids[0])), new Set(products.map((_, index) => `CVE-${index}`)));
    assert.deepEqual(problems, []);
  });

  test('that contradicts another one counts if it is later, or more cautious at the same time', async () => {
    const digest = await shop.image();
    await state(digest, vexOf('CVE-1', 'not_affected', days(1)));
    await state(digest, vexOf('CVE-1', 'affected', days(2)));
    await state(digest, vexOf('CVE-2', 'fixed', days(1)));
    await state(digest, vexOf('CVE-2', 'under_investigation', days(1)));
    const last = lastStatements((await shop.read(digest)).statements);
    assert.deepEqual([last.get('CVE-1')?.status, last.get('CVE-2')?.status], ['affected', 'under_investigation']);
  });
});

describe('an image of several platforms', () => {
  async function pushIndex(architectures = ['amd64', 'arm64']) {
    const { digest } = await shop.index(architectures);
    const { manifests } = (await readManifest({ ...shop.place, tag: '' }, digest)) as { manifests: { digest: string }[] };
    return { digest, images: manifests.map((one) => one.digest) as [string, ...string[]] };
  }

  test('is reported by the attestations about its index alone, if there are any', async () => {
    const { digest, images } = await pushIndex();
    await scan(digest, ['CVE-1']);
    for (const image of images) await scan(image, ['CVE-2'], days(1));
    const { reports, problems } = await shop.read(digest);
    assert.deepEqual(
      reports.map(({ advisories }) => advisories.map(({ id }) => id)),
      [['CVE-1']],
    );
    assert.deepEqual(problems, []);
  });

  test('is otherwise reported by the attestations about all of its images together, as of the oldest one', async () => {
    const { digest, images } = await pushIndex();
    for (const [index, image] of images.entries()) {
      await scan(image, ['CVE-0'], days(-9));
      await scan(image, ['CVE-1', `CVE-1${index}`], days(index));
    }
    const { reports, problems } = await shop.read(digest);
    assert.deepEqual(
      reports.map(({ advisories }) => advisories.map(({ id }) => id)),
      [['CVE-1', 'CVE-10', 'CVE-11']],
    );
    assert.deepEqual([reports[0]?.scannedMs, reports[0]?.scanner, problems], [days(0).getTime(), 'trivy', []]);
  });

  test('is not reported if one of its images has no report, and the problem names that image', async () => {
    const { digest, images } = await pushIndex();
    await scan(images[0], ['CVE-1']);
    await scan(images[1] ?? '', ['CVE-1'], days(0), ecSigner());
    const { reports, problems } = await shop.read(digest);
    assert.deepEqual(reports, []);
    assert.match(problems[0] ?? '', /^linux\/arm64: an attestation of vulnerabilities is not signed by/);
    assert.equal(problems[1], 'no attestation of trivy about linux/arm64 counts, so that those about the other platforms do not');
  });

  test('with more images than are read is not reported, and the problem says so', async () => {
    const { digest, images } = await pushIndex(Array.from({ length: 9 }, (_, index) => `a${index}`));
    for (const image of images) await scan(image, []);
    const { reports, problems } = await shop.read(digest);
    assert.deepEqual([reports, problems], [[], ['the attestations of its 9 platforms are not read, because at most 8 are']]);
  });

  test('is not reported if somebody has hidden the attestation about its index among others', async () => {
    const { digest, images } = await pushIndex();
    for (const image of images) await scan(image, []);
    await state(digest, vexOf('CVE-1', 'affected', days(0)));
    assert.equal((await shop.read(digest)).statements.length, 1);
    const payload = statementOf(digest, { predicateType: scanType, predicate: {} });
    const junk = Array.from({ length: 65 }, () => signEnvelope(digest, ecSigner(), { payload }));
    await pushEnvelopes(shop.place, digest, junk);
    const { reports, statements, problems } = await shop.read(digest);
    assert.deepEqual([reports, statements], [[], []]);
    assert.match(problems.join('\n'), /so that none of them count/);
  });

  test('is stated as not affected only if each of its images is, by the last statement about it', async () => {
    const { digest, images } = await pushIndex();
    for (const image of images) {
      await scan(image, ['CVE-1', 'CVE-2', 'CVE-3', 'CVE-4']);
      await state(image, vexOf('CVE-1', 'not_affected', days(1)));
      await state(image, vexOf('CVE-4', 'fixed', days(1)));
    }
    await state(images[0], vexOf('CVE-2', 'not_affected', days(2)));
    await state(images[0], vexOf('CVE-3', 'not_affected', days(2)));
    await state(images[1] ?? '', vexOf('CVE-3', 'affected', days(1)));
    await state(digest, vexOf('CVE-4', 'under_investigation', days(2)));
    // Of the first image, the last word is that about the index.
    await state(images[0], vexOf('CVE-5', 'fixed', days(1)));
    await state(digest, vexOf('CVE-5', 'affected', days(2)));
    await state(images[1] ?? '', vexOf('CVE-5', 'fixed', days(3)));
    const { statements, reports } = await shop.read(digest);
    assert.equal(reports.length, 1);
    const last = lastStatements(statements);
    const words = ['CVE-1', 'CVE-2', 'CVE-3', 'CVE-4', 'CVE-5'].map((id) => last.get(id)?.status);
    assert.deepEqual(words, ['not_affected', undefined, 'affected', 'under_investigation', 'affected']);
  });
});
