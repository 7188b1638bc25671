/** The provenance of charts, as Helm writes it, and that of other charts, other versions and other people. */
import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { describe, test } from 'node:test';
import type { Verification } from '../../../src/core/model/verification.ts';
import { createImageVerifier } from '../../../src/service/verify/image-verifier.ts';
import { web } from '../../core/model/samples.ts';
import { ecSigner, pemOf, signSimple } from './cosign.ts';
import { createFakeSignatures } from './fake-signatures.ts';
import { certificateOf, clearSigned, pgpSigner } from './openpgp/openpgp.ts';

const name = web.path.split('/').at(-1) ?? '';
const ours = pgpSigner();
const other = pgpSigner({ type: 'rsa' });
const cosign = ecSigner();
const content = Buffer.from('the chart');
const checksum = `sha256:${hash('sha256', content, 'hex')}`;
const provenanceOf = (file = `${name}-1.2.0+build.3.tgz`, sum = checksum) =>
  `name: ${name}\nversion: 1.2.0\n\n...\nfiles:\n  ${file}: ${sum}\n`;
const encode = (text: string) => Buffer.from(text).toString('base64');
const types = {
  config: 'application/vnd.cncf.helm.config.v1+json',
  content: 'application/vnd.cncf.helm.chart.content.v1.tar+gzip',
  provenance: 'application/vnd.cncf.helm.chart.provenance.v1.prov',
};
const pgp: Verification = { keys: [], signers: [], provenance: [{ secret: 'helm', key: 'keys.asc' }] };
const both: Verification = { ...pgp, keys: [{ secret: 'cosign', key: 'cosign.pub' }] };

interface Pushed {
  readonly provenances?: readonly string[];
  readonly contents?: readonly Buffer[];
  readonly keys?: string;
  readonly now?: string;
  /** What the manifest has besides, and in other cases instead. `layer` makes a layer of the bytes of another chart. */
  readonly besides?: (layer: (mediaType: string) => object, layers: readonly object[]) => object;
}

/** A chart in a registry, and a policy's keys. */
function start({
  provenances = [clearSigned(provenanceOf(), [ours])],
  contents = [content],
  keys = certificateOf(ours),
  now = '2026-11-01T00:00:00Z',
  besides = () => ({}),
}: Pushed = {}) {
  const fake = createFakeSignatures();
  const layer = (mediaType: string, bytes: Buffer) => ({ mediaType, digest: fake.putBlob(bytes), size: bytes.length });
  const layers = [
    ...contents.map((bytes) => layer(types.content, bytes)),
    ...provenances.map((text) => layer(types.provenance, Buffer.from(text))),
  ];
  const config = layer(types.config, Buffer.from('{}'));
  const manifest = { schemaVersion: 2, config, layers, ...besides((type) => layer(type, Buffer.from('evil')), layers) };
  const digest = fake.putManifest('', Buffer.from(JSON.stringify(manifest)));
  const world = { secrets: { helm: { 'keys.asc': encode(keys) }, cosign: { 'cosign.pub': encode(pemOf(cosign)) } }, now };
  const verify = createImageVerifier({
    registry: fake.registry,
    readSecret: async ({ name }) => (name in world.secrets ? { data: world.secrets[name as 'helm'] } : { why: 'does not exist' }),
    now: () => Date.parse(world.now),
  });
  const { signal } = new AbortController();
  return Object.assign(world, fake, {
    digest,
    verify: (tag: string | undefined = '1.2.0_build.3', verification = pgp) =>
      verify({ source: web, digest, ...(tag !== '' && { tag }), verification, namespace: 'shop' }, signal),
  });
}

test('a chart with a provenance by an accepted key is verified', async () => {
  const by = `key ${ours.id} of key keys.asc of Secret shop/helm`;
  assert.deepEqual(await start().verify(), { kind: 'verified', by });
  assert.deepEqual(await start({ keys: `${certificateOf(other)}\n${certificateOf(ours)}` }).verify(), { kind: 'verified', by });
  // Installed by its digest, whose content is the same under each name.
  assert.deepEqual(await start().verify(''), { kind: 'verified', by });
});

describe('a chart is not used', () => {
  const old = `sha256:${hash('sha256', Buffer.from('an old chart'), 'hex')}`;
  const signed = (text: string) => [clearSigned(text, [ours])];
  const rows: readonly (readonly [name: string, pushed: Pushed, why: RegExp])[] = [
    [
      'without a provenance',
      { provenances: [] },
      /the chart has no provenance \(helm package --sign makes it\); a provenance by key [0-9A-F]{16} of key keys\.asc/,
    ],
    ['with two', { provenances: [...signed(provenanceOf()), clearSigned(provenanceOf(), [other])] }, /several provenances/],
    ['with two contents', { contents: [content, Buffer.from('evil')] }, /not a chart with one content/],
    ['without a content', { contents: [] }, /not a chart with one content/],
    ['with the provenance of another content', { contents: [Buffer.from('evil')] }, /for another content of web-1\.2\.0\+build\.3\.tgz/],
    [
      'with the provenance of an older version',
      { provenances: signed(provenanceOf('web-1.1.0.tgz')) },
      /for web-1\.1\.0\.tgz, and not for web-1\.2\.0/,
    ],
    [
      'with that of another chart',
      { provenances: signed(provenanceOf('api-1.2.0+build.3.tgz')) },
      /for api-1\.2\.0\+build\.3\.tgz, and not/,
    ],
    ['with another checksum', { provenances: signed(provenanceOf(undefined, old)) }, /for another content/],
    ['signed by somebody else', { provenances: [clearSigned(provenanceOf(), [other])] }, /not signed by an accepted key/],
    ['with a text that is not signed', { provenances: [provenanceOf()] }, /does not begin as a message that is signed/],
    ['with a huge provenance', { provenances: signed(`${provenanceOf()}${'#\n'.repeat(40_000)}`) }, /and at most 65536 are read/],
    ['with a text that is no provenance', { provenances: signed('I agree.') }, /not one of Helm: it does not list the files/],
    ['with a third part', { provenances: signed(`${provenanceOf()}\n...\nfiles:\n`) }, /not one of Helm/],
    ['with other things among the files', { provenances: signed(`${provenanceOf()}evil: true\n`) }, /lists other things/],
    ['with two checksums of a file', { provenances: signed(`${provenanceOf()}  web-1.2.0+build.3.tgz: ${old}\n`) }, /lists other things/],
  ];
  // Of these, Helm installs the other chart: it takes the last content of both types, what the manifest refers to, and fields in any case.
  const additions: readonly (readonly [what: string, Pushed['besides']])[] = [
    ['a layer of the former type of contents', (layer, layers) => ({ layers: [...layers, layer('application/tar+gzip')] })],
    ['a layer of any other type', (layer, layers) => ({ layers: [...layers, layer('text/plain')] })],
    ['a content as its config', (layer) => ({ config: layer(types.content) })],
    ['a content as its subject', (layer) => ({ subject: layer(types.content) })],
    ['layers in another case', (layer, layers) => ({ Layers: [layer(types.content), ...layers.slice(1)] })],
    [
      'a digest in another case',
      (layer, [first, ...rest]) => ({ layers: [{ ...first, Digest: Reflect.get(layer('x'), 'digest') }, ...rest] }),
    ],
    ['manifests, as an index', (layer) => ({ manifests: [layer(types.content)] })],
    ['another type', () => ({ mediaType: 'application/vnd.oci.image.index.v1+json' })],
  ];
  const besides = additions.map(
    ([what, add = () => ({})]) => [`whose manifest has ${what}`, { besides: add }, /has other parts besides/] as const,
  );
  for (const [what, pushed, why] of [...rows, ...besides]) {
    test(what, async () => {
      const result = await start(pushed).verify();
      assert.equal(result.kind, 'invalid');
      assert.match('why' in result ? result.why : '', why);
    });
  }

  test('under a tag of another version than its provenance has', async () => {
    const result = await start().verify('9.0.0');
    assert.match('why' in result ? result.why : '', /for web-1\.2\.0\+build\.3\.tgz, and not for web-9\.0\.0\.tgz/);
  });

  test('by its digest, with the provenance of a chart of another name', async () => {
    const result = await start({ provenances: signed(provenanceOf('shop-1.2.0.tgz')) }).verify('');
    assert.match('why' in result ? result.why : '', /for shop-1\.2\.0\.tgz, and not for web-VERSION\.tgz/);
  });

  test('while no key is usable, because none is there, all have expired, or the text is too long', async () => {
    const expired = { keys: certificateOf(ours, { expiresAfter: 86_400 }) };
    const rows: readonly (readonly [Pushed, RegExp])[] = [
      [{ keys: '' }, /key keys\.asc of Secret shop\/helm cannot be used: it holds no key of OpenPGP/],
      [expired, /there is no usable key .*: key keys\.asc of Secret shop\/helm: key [0-9A-F]{16} has expired on 2026-01-02/],
      [{ keys: `${certificateOf(ours)}${' '.repeat(131_072)}` }, /more than 131072 characters/],
    ];
    for (const [pushed, why] of rows)
      await assert.rejects(
        start(pushed).verify(),
        (error: Error & { reason?: string }) => error.reason === 'VerificationKeyInvalid' && why.test(error.message),
      );
    const mixed = await start({ keys: `${certificateOf(other)}\n${expired.keys}` }).verify();
    assert.match('why' in mixed ? mixed.why : '', /not signed by an accepted key.*key [0-9A-F]{16} has expired on 2026-01-02/);
  });
});

test('a key that expires no longer counts, even for a chart that was verified before', async () => {
  const world = start({ keys: certificateOf(ours, { expiresAfter: 400 * 86_400 }) });
  assert.equal((await world.verify()).kind, 'verified');
  world.now = '2027-06-01T00:00:00Z';
  await assert.rejects(world.verify(), /has expired on 2027-02-05/);
});

test('with cosign and provenance, a chart waits only for its signature, and is refused without its provenance', async () => {
  const world = start();
  assert.equal((await world.verify(undefined, both)).kind, 'unsigned');
  world.putTag(world.digest, [signSimple(world.digest, cosign)]);
  const verified = await world.verify(undefined, both);
  assert.match('by' in verified ? verified.by : '', /^key cosign\.pub of Secret shop\/cosign and key [0-9A-F]{16} of key keys\.asc/);
  assert.equal((await start({ provenances: [] }).verify(undefined, both)).kind, 'invalid');
});
