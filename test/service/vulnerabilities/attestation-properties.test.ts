/** Any attestation: what nobody trusted has signed never counts, and reading never rejects. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { readPublicKey } from '../../../src/service/verify/public-keys.ts';
import { readTrustRoot, type Trust } from '../../../src/service/verify/trust.ts';
import { type Attested, verifyAttestation } from '../../../src/service/vulnerabilities/verify-attestation.ts';
import { wantSigner } from '../../../src/core/model/verification.ts';
import { digestOf } from '../../core/model/samples.ts';
import {
  bundleType,
  ecSigner,
  pemOf,
  releaser,
  signBundle,
  signBundleKeyless,
  signEnvelope,
  signEnvelopeKeyless,
  statementOf,
} from '../verify/cosign.ts';
import { ours, sigstore } from './attest.ts';
import { envelopeType, scanByTrivy, scanType, vexOf, vexType } from './push-attestation.ts';

const digest = digestOf('a');
const trust: Trust = {
  keys: [readPublicKey('our key', pemOf(ours))],
  signers: [wantSigner(releaser)],
  trustRoot: readTrustRoot(sigstore.trustedRoot),
};
const at = new Date('2026-03-01T12:00:00Z');
const scan = scanByTrivy(
  [
    ['CVE-2026-1', 'HIGH'],
    ['CVE-2026-2', 'LOW'],
  ],
  at,
) as Readonly<Record<string, object>>;
const grype = {
  ...scan,
  scanner: {
    result: {
      matches: [{ vulnerability: { id: 'GHSA-jfh8-c2jp-5v3q', severity: 'Critical' }, artifact: { name: 'log4j-core' } }],
      descriptor: { name: 'grype' },
    },
  },
};
const vex = vexOf('CVE-2026-1', 'not_affected', at, { products: ['pkg:oci/web'] }) as Readonly<Record<string, object>>;
interface Sample {
  readonly predicateType: string;
  readonly predicate: object;
}
const samples: readonly Sample[] = [
  { predicateType: scanType, predicate: scan },
  { predicateType: scanType, predicate: grype },
  { predicateType: vexType, predicate: vex },
];

const formats = ['bundle', 'envelope', 'keyless bundle', 'keyless envelope'] as const;

/** The layer of a statement in each of the formats. */
function sealIn(
  format: (typeof formats)[number],
  payload: Buffer,
  signer = ours,
): { content: Buffer; layer: Parameters<typeof verifyAttestation>[0] } {
  const layerOf = (json: Buffer, annotations = {}) => ({
    content: json,
    layer: { mediaType: format.endsWith('bundle') ? bundleType : envelopeType, digest, size: json.length, annotations },
  });
  switch (format) {
    case 'bundle':
      return layerOf(signBundle(digest, signer, { payload }).json);
    case 'keyless bundle':
      return layerOf(signBundleKeyless(digest, { sigstore, payload }).json);
    case 'envelope': {
      const { json, annotations } = signEnvelope(digest, signer, { payload });
      return layerOf(json, annotations);
    }
    case 'keyless envelope': {
      const { json, annotations } = signEnvelopeKeyless(digest, { sigstore, payload });
      return layerOf(json, annotations);
    }
  }
}

const payloadOf = (sample: Sample, about = digest) => statementOf(about, sample);
const verify = ({ content, layer }: ReturnType<typeof sealIn>) => verifyAttestation(layer, content, { digest, trust });

test('the sample attestations count in each format, with the names of their scanner and package', async () => {
  for (const format of formats) {
    const [trivy, anchore, stated] = await Promise.all(samples.map((sample) => verify(sealIn(format, payloadOf(sample)))));
    assert.deepEqual([trivy?.kind, anchore?.kind, stated?.kind], ['counts', 'counts', 'counts'], format);
    assert.deepEqual(anchore?.kind === 'counts' && anchore.reports.map(({ scanner, advisories }) => [scanner, advisories]), [
      ['grype', [{ id: 'GHSA-jfh8-c2jp-5v3q', severity: 'Critical', package: 'log4j-core' }]],
    ]);
  }
});

test('changed bytes never count as something else', async () => {
  const sealed = await Promise.all(
    formats.flatMap((format) =>
      samples.map(async (sample) => {
        const one = sealIn(format, payloadOf(sample));
        return { one, said: await verify(one) };
      }),
    ),
  );
  const flips = fc.array(fc.record({ where: fc.nat(), mask: fc.integer({ min: 1, max: 255 }) }), { minLength: 1, maxLength: 3 });
  const property = fc.asyncProperty(fc.constantFrom(...sealed), flips, async ({ one, said }, changes) => {
    const content = Buffer.from(one.content);
    for (const { where, mask } of changes) content[where % content.length] = (content[where % content.length] ?? 0) ^ mask;
    const result = await verify({ ...one, content });
    if (result.kind === 'counts') assert.deepEqual(result, said);
  });
  await fc.assert(property, { numRuns: 400 });
});

const hostile = fc.oneof(
  fc.jsonValue({ maxDepth: 5 }),
  fc.constantFrom('__proto__', 'constructor', -1, 0, 1e308, null, [], {}, [[[]]]),
  fc.dictionary(
    fc.constantFrom('__proto__', 'constructor', 'toString', 'SchemaVersion', 'Results', 'matches', 'statements', 'name'),
    fc.jsonValue(),
  ),
);

/** The sample with another value somewhere. */
const changed = fc
  .tuple(fc.constantFrom(...samples), fc.array(fc.nat(), { maxLength: 9 }), hostile)
  .map(([sample, path, value]) => ({ ...sample, predicate: replace(sample.predicate, path, value) as object }));

function replace(into: unknown, [step, ...path]: readonly number[], value: unknown): unknown {
  if (step === undefined || typeof into !== 'object' || into === null) return value;
  if (Array.isArray(into)) return into.map((one: unknown, index) => (index === step % into.length ? replace(one, path, value) : one));
  const entries = Object.entries(into);
  return Object.fromEntries(entries.map(([name, one], index) => [name, index === step % entries.length ? replace(one, path, value) : one]));
}

function check(result: Attested): void {
  if (result.kind !== 'counts') return;
  for (const { advisories, scannedMs, scanner } of result.reports) {
    assert.ok(Number.isFinite(scannedMs) && ['trivy', 'grype'].includes(scanner));
    assert.equal(new Set(advisories.map(({ id }) => id)).size, advisories.length);
    for (const { id } of advisories) assert.match(id, /^[A-Za-z0-9][A-Za-z0-9._:-]{0,63}$/);
  }
  for (const { ids, statedMs } of result.statements) assert.ok(ids.length > 0 && Number.isFinite(statedMs));
}

test('whatever is signed by us, reading never rejects, and what counts is readable', async () => {
  const property = fc.asyncProperty(changed, async (sample) => check(await verify(sealIn('bundle', payloadOf(sample)))));
  await fc.assert(property, { numRuns: 500 });
});

test('whatever is signed by others never counts', async () => {
  const stranger = ecSigner();
  const property = fc.asyncProperty(changed, fc.constantFrom('bundle', 'envelope'), async (sample, format) => {
    assert.notEqual((await verify(sealIn(format, payloadOf(sample), stranger))).kind, 'counts');
  });
  await fc.assert(property, { numRuns: 300 });
});

test('whatever is no attestation never counts, and reading it never rejects', async () => {
  const property = fc.asyncProperty(
    fc.oneof(fc.json(), fc.string()),
    fc.constantFrom(bundleType, envelopeType),
    async (text, mediaType) => {
      const content = Buffer.from(text);
      const layer = { mediaType, digest, size: content.length, annotations: {} };
      assert.equal((await verifyAttestation(layer, content, { digest, trust })).kind, 'problem');
    },
  );
  await fc.assert(property, { numRuns: 300 });
});

test('what is said of one image never counts for another', async () => {
  const hex = fc.stringMatching(/^[0-9a-f]{64}$/);
  const property = fc.asyncProperty(fc.constantFrom(...samples), fc.constantFrom(...formats), hex, async (sample, format, other) => {
    if (`sha256:${other}` !== digest) assert.equal((await verify(sealIn(format, payloadOf(sample, `sha256:${other}`)))).kind, 'problem');
  });
  await fc.assert(property, { numRuns: 60 });
});
