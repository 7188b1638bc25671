import assert from 'node:assert/strict';
import { generateKeyPairSync, X509Certificate } from 'node:crypto';
import { before, describe, it } from 'node:test';
import { splitBundle } from '../../../src/core/model/certificate-bundle.ts';
import { neededRenewal, type Material, namesOf, renewMaterial } from '../../../src/conversion/certificates/material.ts';
import { makeProvisional } from '../../../src/conversion/certificates/make-certificate.ts';
import { checkServingPair } from '../../../src/conversion/certificates/serving-pair.ts';

const start = new Date('2026-11-20T12:00:00Z');
const daysAfterStart = (days: number) => new Date(start.getTime() + days * 86_400_000);
const names = ['image-watcher-conversion.ops.svc', 'image-watcher-conversion.ops.svc.cluster.local', '127.0.0.1'];

/** As the service does at every look. */
async function renewIfNeeded(material: Material | undefined, now: Date, wanted = names): Promise<Material> {
  const renewal = neededRenewal(material, { names: wanted, now });
  return renewal.authority === undefined && renewal.certificate === undefined && material !== undefined
    ? material
    : renewMaterial(material, renewal, { names: wanted, now });
}

const authoritiesOf = (material: Material) => splitBundle(material.authorities).map((pem) => new X509Certificate(pem));
const leafOf = (material: Material) => new X509Certificate(material.certificate);
const issuerOf = (material: Material) => authoritiesOf(material).findIndex((authority) => leafOf(material).verify(authority.publicKey));

describe('the certificate of our own authority', () => {
  let first: Material;
  before(async () => {
    first = await renewIfNeeded(undefined, start);
  });

  it('uses EC P-256, has the requested names, and is valid for 90 days, and its authority for ten years', () => {
    const [authority] = authoritiesOf(first);
    assert.ok(authority?.ca && authority.verify(authority.publicKey));
    assert.equal(authority.publicKey.asymmetricKeyDetails?.namedCurve, 'prime256v1');
    assert.equal(authority.validToDate.getUTCFullYear(), 2036);
    const leaf = leafOf(first);
    assert.ok(leaf.checkIssued(authority) && leaf.verify(authority.publicKey) && !leaf.ca);
    assert.equal(leaf.publicKey.asymmetricKeyDetails?.namedCurve, 'prime256v1');
    assert.deepEqual([...namesOf(leaf)].sort(), [...names].sort());
    assert.equal(leaf.validToDate.getTime(), daysAfterStart(90).getTime());
    assert.deepEqual(leaf.keyUsage, ['1.3.6.1.5.5.7.3.1']);
    assert.equal(checkServingPair(first).notAfter.getTime(), daysAfterStart(90).getTime());
  });

  const changed = async (change: Partial<Material>) => ({ ...first, ...change });
  const otherKey = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;
  const rsaKey = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;
  const rows: [string, () => Promise<Material | undefined>, Date, { authority?: string; certificate?: string }][] = [
    ['nothing yet', async () => undefined, start, { authority: 'there is none', certificate: 'there is none' }],
    ['all is fresh', () => changed({}), start, {}],
    ['just before two thirds of 90 days', () => changed({}), daysAfterStart(59.9), {}],
    ['after two thirds of 90 days', () => changed({}), daysAfterStart(60.1), { certificate: 'two thirds of its lifetime have passed' }],
    ['after its end', () => changed({}), daysAfterStart(91), { certificate: 'two thirds of its lifetime have passed' }],
    [
      'after two thirds of ten years',
      () => changed({}),
      daysAfterStart(3_650 * 0.67),
      { authority: 'two thirds of its lifetime have passed', certificate: 'two thirds of its lifetime have passed' },
    ],
    ['a clock far behind', () => changed({}), daysAfterStart(-1), { authority: 'it is not valid yet', certificate: 'it is not valid yet' }],
    ['a clock a little behind', () => changed({}), daysAfterStart(-0.04), {}],
    ['no certificate', () => changed({ certificate: '' }), start, { certificate: 'there is none' }],
    ['the key of another certificate', () => changed({ key: otherKey }), start, { certificate: 'its key does not belong to it' }],
    ['the key of another authority', () => changed({ authorityKey: otherKey }), start, { authority: 'its key does not belong to it' }],
    ['an RSA authority', () => changed({ authorityKey: rsaKey }), start, { authority: 'its key is not EC P-256' }],
    [
      'a certificate that is no authority in its place',
      () => changed({ authorities: first.certificate, authorityKey: first.key }),
      start,
      { authority: 'it is not an authority', certificate: 'no valid authority of the bundle issued it' },
    ],
    [
      'a certificate of somebody else',
      async () => ({ ...first, ...(await makeProvisional(names, start)) }),
      start,
      { certificate: 'no valid authority of the bundle issued it' },
    ],
    [
      'an emptied Secret',
      () => changed({ authorities: '', authorityKey: '', certificate: '', key: '' }),
      start,
      { authority: 'there is none', certificate: 'there is none' },
    ],
  ];
  for (const [name, material, now, expected] of rows) {
    it(`is evaluated in the case "${name}"`, async () => assert.deepEqual(neededRenewal(await material(), { names, now }), expected));
  }

  for (const key of ['authorities', 'authorityKey', 'certificate', 'key'] as const) {
    it(`is repaired when ${key} is garbage`, async () => {
      for (const garbage of ['garbage', first[key].slice(0, 80), first[key].replace(/[A-Za-z]{20}/, 'A'.repeat(20)), '\u0000']) {
        const repaired = await renewIfNeeded({ ...first, [key]: garbage }, start);
        assert.deepEqual(neededRenewal(repaired, { names, now: start }), {}, garbage);
        checkServingPair(repaired);
      }
    });
  }

  it('gets a new certificate from the same authority when a name is missing, and keeps its former names', async () => {
    assert.deepEqual(neededRenewal(first, { names: [...names, 'new.ops.svc'], now: start }), {
      certificate: 'it does not have the names new.ops.svc',
    });
    const second = await renewIfNeeded(first, start, ['new.ops.svc']);
    assert.equal(second.authorities, first.authorities);
    assert.deepEqual(neededRenewal(second, { names: ['new.ops.svc'], now: start }), {});
    assert.deepEqual(neededRenewal(second, { names, now: start }), {}, 'a replica with the older configuration has nothing to change');
    const third = await renewIfNeeded(second, daysAfterStart(61), ['new.ops.svc']);
    assert.deepEqual(namesOf(leafOf(third)), ['new.ops.svc'], 'names that nobody wants end with the certificate');
  });

  it('moves to a new authority without a moment in which clients see a certificate that they do not trust', async () => {
    const time = 3_650 * 0.67;
    const aged = await renewIfNeeded(first, daysAfterStart(time - 40));
    const handover = await renewIfNeeded(aged, daysAfterStart(time));
    assert.equal(authoritiesOf(handover).length, 2);
    assert.equal(handover.certificate, aged.certificate, 'still the one that a client with the older bundle trusts');
    assert.notEqual(handover.authorityKey, aged.authorityKey);

    const soon = await renewIfNeeded(handover, daysAfterStart(time + 0.01));
    assert.equal(soon, handover, 'nothing to do');

    const renewed = await renewIfNeeded(handover, daysAfterStart(time + 21));
    assert.equal(issuerOf(renewed), 0, 'now the new authority signs');
    assert.equal(authoritiesOf(renewed).length, 2, 'the older certificate may still be in use');

    const last = await renewIfNeeded(renewed, daysAfterStart(time + 21 + 75));
    assert.deepEqual([issuerOf(last), authoritiesOf(last).length], [0, 1], 'the former authority has gone');
    assert.equal(last.authorityKey, handover.authorityKey);
  });

  it('issues the new certificate an hour after the new authority when both are due at the same time', async () => {
    const time = 3_650 * 0.67;
    const aged = await renewIfNeeded(first, daysAfterStart(time - 61));
    const handover = await renewIfNeeded(aged, daysAfterStart(time));
    assert.equal(handover.certificate, aged.certificate);
    assert.equal(await renewIfNeeded(handover, daysAfterStart(time + 0.02)), handover, 'half an hour later: not yet');
    const renewed = await renewIfNeeded(handover, daysAfterStart(time + 0.05));
    assert.deepEqual([issuerOf(renewed), authoritiesOf(renewed).length], [0, 2], 'an hour later');
  });
});

describe('a serving pair', () => {
  it('is refused when key and certificate do not match or one of them is truncated', async () => {
    const [one, two] = [await makeProvisional(names, start), await makeProvisional(names, start)];
    checkServingPair(one);
    for (const wrong of [
      { certificate: one.certificate, key: two.key },
      { certificate: one.certificate.slice(0, 200), key: one.key },
      { certificate: one.certificate, key: one.key.slice(0, 60) },
      { certificate: '', key: '' },
      { certificate: one.key, key: one.certificate },
      { certificate: `${one.certificate}${two.certificate.slice(0, 200)}`, key: one.key },
    ]) {
      assert.throws(() => checkServingPair(wrong), Error);
    }
  });
});
