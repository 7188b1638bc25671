import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { BuildFacts, NamedBase } from '../../../src/bases/recognize/facts.ts';
import { indexBases } from '../../../src/bases/recognize/base-index.ts';
import { knownBase, type KnownBase } from '../../../src/bases/recognize/layers.ts';
import { type Line } from '../../../src/bases/recognize/line.ts';
import {
  judge,
  type Judged,
  recognizeBase as recognize,
  type Recognition,
  unknownBases,
} from '../../../src/bases/recognize/recognize-base.ts';
import { base, chain, digestFor, image, other, repository } from './samples.ts';

const amd64 = 'linux/amd64';
const arm64 = 'linux/arm64';
const { signal } = new AbortController();
const recognizeBase = async (facts: BuildFacts, known: readonly KnownBase[]) => recognize(facts, await indexBases(known, signal));

/** The selected version is the first. Both begin with the same layers of the operating system. */
const [newer, older] = [
  base('21.0.2', { [amd64]: 'os java2', [arm64]: 'os-arm java2-arm' }),
  base('21.0.1', { [amd64]: 'os java1', [arm64]: 'os-arm java1-arm' }),
];
const jre = base('21-jre', { [amd64]: 'os jre' });
const jdk = base('21-jdk', { [amd64]: 'os jre jdk' });
const bases = [newer, older];

const annotated = (digest?: string, more: Partial<NamedBase> = {}): NamedBase => ({
  by: 'Annotation',
  repository,
  ...(digest && { digest }),
  ...more,
});
const gone = digestFor('a version without a tag');
const attested = (digest: string): NamedBase => ({ by: 'Provenance', repository, digest });
const packed = (topLayer: string, digest?: string): NamedBase => ({
  by: 'Buildpacks',
  topLayer: digestFor(topLayer),
  ...(digest && { digest }),
});

/** `21.0.1 by Layers`, `unknown`, `unrelated`; with ` …` if there is a reason. */
function short(result: Recognition): string {
  if (result.kind !== 'recognized') return result.kind;
  const {
    tags: [tag],
    digest,
  } = result.base;
  return `${tag ?? (digest === gone ? 'gone' : digest)} by ${result.by}${result.reason === undefined ? '' : ' …'}`;
}

const on = (layers: string, named: NamedBase[] = []) => image({ layers: { [amd64]: layers }, named });
const onBoth = (first: string, second: string, named: NamedBase[] = []) => image({ layers: { [amd64]: first, [arm64]: second }, named });

const rows: [name: string, facts: ReturnType<typeof image>, expected: string, known?: readonly ReturnType<typeof base>[]][] = [
  // Layers
  ['a longer chain', on('os java1 app'), '21.0.1 by Layers'],
  ['the same chain: only configuration was added', on('os java1'), '21.0.1 by Layers'],
  ['the base itself', image({ name: '21.0.1', layers: { [amd64]: 'os java1' } }), '21.0.1 by Layers'],
  ['only the lowest layer', on('os app'), 'unknown'],
  ['the layers of a base in another order', on('java1 os app'), 'unrelated'],
  ['the layers of a base above others', on('init os java1'), 'unrelated'],
  ['a shorter chain', on('os'), 'unknown'],
  ['no layers', on(''), 'unrelated'],
  ['no known base', on('os java1 app'), 'unrelated', []],
  ['of two bases, of which one is built on the other, the longer', on('os jre jdk app'), '21-jdk by Layers', [jre, jdk]],
  ['the longer, also if it is known last', on('os jre jdk app'), '21-jdk by Layers', [jdk, jre]],
  ['the shorter if the longer does not fit', on('os jre app'), '21-jre by Layers', [jdk, jre]],
  [
    'of versions with the same layers, the first',
    on('os x app'),
    'new by Layers',
    [base('new', { [amd64]: 'os x' }), base('old', { [amd64]: 'os x' })],
  ],
  ['a base without layers', on('os app'), 'unrelated', [base('scratch', { [amd64]: '' })]],
  ['a base of empty layers', on('empty app'), 'unrelated', [base('none', { [amd64]: 'empty' })]],
  ['a base with an empty layer', on('os empty app'), '1 by Layers', [base('1', { [amd64]: 'os empty' })]],
  ['an empty layer of the base that the image does not have', on('os app'), 'unknown', [base('1', { [amd64]: 'os empty' })]],
  ['a base whose configuration cannot be read', on('os java1 app'), 'unrelated', [base('1', { [amd64]: '?' })]],
  ['an image whose configuration cannot be read', on('?'), 'unknown'],
  ['an image whose configuration cannot be read on one platform', onBoth('other app', '?'), 'unknown'],
  // Annotations
  ['an annotation that is right, by the digest of the index', on('os java1 app', [annotated(older.digest)]), '21.0.1 by Annotation'],
  ['an annotation with the digest of the manifest', on('os java1 app', [annotated(older.platforms[0]?.digest)]), '21.0.1 by Annotation'],
  ['a digest without a name', on('os java1 app', [{ by: 'Annotation', digest: older.digest }]), '21.0.1 by Annotation'],
  ['a digest under the name of a mirror', on('os java1 app', [annotated(older.digest, { repository: other })]), '21.0.1 by Annotation'],
  ['a digest that is that of another platform', on('os java1 app', [annotated(older.platforms[1]?.digest)]), '21.0.1 by Layers'],
  ['an annotation that the layers contradict', on('os app', [annotated(older.digest)]), 'unknown'],
  [
    'an annotation that is wrong, and layers that are those of another version',
    on('os java2 app', [annotated(older.digest)]),
    '21.0.2 by Layers …',
  ],
  ['two annotations of which one is right', on('os java2 app', [annotated(older.digest), annotated(newer.digest)]), '21.0.2 by Annotation'],
  ['an inherited label of the base of the base', on('os java1 app', [annotated(gone, { repository: other })]), '21.0.1 by Layers'],
  ['an annotation with another base', on('os app', [annotated(gone, { repository: other })]), 'unknown'],
  ['an annotation with another base, and other layers', on('other app', [annotated(gone, { repository: other })]), 'unrelated'],
  ['a label that the base jdk inherits from its own base', on('os jre jdk app', [annotated(jre.digest)]), '21-jdk by Layers', [jdk, jre]],
  [
    'an annotation that chooses between versions with the same layers',
    on('os x app', [annotated(digestFor('old'))]),
    'old by Annotation',
    [base('new', { [amd64]: 'os x' }), base('old', { [amd64]: 'os x' })],
  ],
  ['an annotation with a version that is not known', on('os java0 app', [annotated(gone)]), 'gone by Annotation …'],
  ['the same, but the layers are those of a known version', on('os java1 app', [annotated(gone)]), '21.0.1 by Layers'],
  ['a name without a digest', on('os java0 app', [annotated(undefined, { tag: '21' })]), 'unknown'],
  ['a name without a digest, and known layers', on('os java1 app', [annotated(undefined, { tag: '21' })]), '21.0.1 by Layers'],
  ['another name without a digest', on('os java0 app', [annotated(undefined, { repository: other })]), 'unknown'],
  ['an annotation of an image whose layers cannot be read', on('?', [annotated(older.digest)]), '21.0.1 by Annotation …'],
  [
    'an annotation with a base whose layers cannot be read',
    on('os java1 app', [annotated(digestFor('1'))]),
    '1 by Annotation …',
    [base('1', { [amd64]: '?' })],
  ],
  [
    'an annotation with a base of empty layers',
    on('os app', [annotated(digestFor('none'))]),
    'none by Annotation …',
    [base('none', { [amd64]: 'empty' })],
  ],
  [
    'an annotation with an index that was pushed anew with one more platform: the image of its own platform is the same',
    on('os java1 app', [annotated(digestFor('before'))]),
    '21.0.1 by Annotation',
    [older, { ...older, digest: digestFor('before'), tags: [], platforms: older.platforms.slice(0, 1) }],
  ],
  // Buildpacks
  ['the last layer of the run image', on('os java1 app', [packed('java1')]), '21.0.1 by Buildpacks'],
  ['the last layer, but not those below it', on('other java1 app', [packed('java1')]), 'unknown'],
  ['the digest of the run image', on('os java1 app', [packed('unknown', older.digest)]), '21.0.1 by Buildpacks'],
  ['the last layer of another run image', on('os java0 app', [packed('java0')]), 'unknown'],
  // Provenance
  ['an input of the build whose layers it begins with', on('os java1 app', [attested(older.digest)]), '21.0.1 by Provenance'],
  ['the image of another stage of the build', on('distroless app', [attested(jdk.digest)]), 'unrelated', [jdk, jre]],
  [
    'two stages, of which one is the base',
    on('os jre app', [attested(jdk.digest), attested(jre.digest)]),
    '21-jre by Provenance',
    [jdk, jre],
  ],
  ['an input that is not known', on('os java0 app', [attested(gone)]), 'unknown'],
  ['an input, and layers that cannot be read', on('?', [attested(older.digest)]), 'unknown'],
  ['the annotation before the provenance', on('os java1 app', [annotated(older.digest), attested(older.digest)]), '21.0.1 by Annotation'],
  [
    'the provenance, if the annotation is about something else',
    on('os java1 app', [annotated(gone, { repository: other }), attested(older.digest)]),
    '21.0.1 by Provenance',
  ],
  // Platforms
  ['two platforms', onBoth('os java1 app', 'os-arm java1-arm app'), '21.0.1 by Layers'],
  [
    'two platforms, by the digest of the index',
    onBoth('os java2 app', 'os-arm java2-arm app', [annotated(newer.digest)]),
    '21.0.2 by Annotation',
  ],
  [
    'two platforms, the manifest of one of them is named',
    onBoth('os java2 app', 'os-arm java2-arm app', [annotated(newer.platforms[0]?.digest)]),
    '21.0.2 by Annotation',
  ],
  ['two platforms on different versions', onBoth('os java2 app', 'os-arm java1-arm app'), '21.0.1 by Layers …'],
  ['two platforms on different versions, the other way round', onBoth('os java1 app', 'os-arm java2-arm app'), '21.0.1 by Layers …'],
  ['two platforms, of which one is on a version that is not known', onBoth('os java2 app', '?', [annotated(gone)]), 'gone by Annotation …'],
  [
    'the manifest of one platform is named, and the layers of the other cannot be read',
    onBoth('os java2 app', '?', [annotated(newer.platforms[0]?.digest)]),
    '21.0.2 by Annotation …',
  ],
  ['one of two platforms', onBoth('os java2 app', 'other app'), '21.0.2 by Layers …'],
  [
    'one of two platforms, and an annotation that the other contradicts',
    onBoth('os java2 app', 'other app', [annotated(newer.digest)]),
    'unknown',
  ],
  ['a platform that the base does not have', onBoth('os jre app', 'other app'), '21-jre by Layers …', [jre]],
  [
    'a platform that the base does not have, and an annotation',
    onBoth('os jre app', 'other app', [annotated(jre.digest)]),
    '21-jre by Annotation …',
    [jre],
  ],
  [
    'only a platform that the base does not have, and an annotation',
    image({ layers: { [arm64]: 'other app' }, named: [annotated(jre.digest)] }),
    'unknown',
    [jre],
  ],
  ['files that run on any platform', image({ layers: { [arm64]: 'os jre app' } }), '21-jre by Layers', [jre]],
  ['the layers of another platform than its own', image({ layers: { [arm64]: 'os java1 app' } }), 'unrelated'],
  ['the usual variant, which the base omits', image({ layers: { 'linux/arm64/v8': 'os-arm java1-arm app' } }), '21.0.1 by Layers'],
  [
    'several versions of an operating system',
    image({ layers: { 'windows/amd64': 'win22 app' } }),
    '1 by Layers',
    [
      {
        ...base('1', {}),
        platforms: ['win19', 'win22'].flatMap((name) => base(name, { 'windows/amd64': name }).platforms),
      },
    ],
  ],
  ['an image without any platform', image({ layers: {} }), 'unknown'],
];

for (const [name, facts, expected, known = bases] of rows) {
  test(`the expected base of an image is recognized: ${name}`, async () =>
    assert.equal(short(await recognizeBase(facts, known)), expected));
}

test('the reason of a recognized base names the platform, the evidence and the digests', async () => {
  const reasonOf = (result: Recognition) => (result.kind === 'unrelated' ? undefined : result.reason);
  assert.equal(
    reasonOf(await recognizeBase(on('os app', [annotated(older.digest, { tag: '21' })]), bases)),
    `its annotation or label names ${repository}:21@${older.digest}, but its layers do not begin with those of that image`,
  );
  assert.equal(
    reasonOf(await recognizeBase(onBoth('os java2 app', 'os-arm java1-arm app'), bases)),
    `linux/amd64: it is built on 21.0.2 (${newer.digest})`,
  );
  assert.equal(reasonOf(await recognizeBase(onBoth('os java2 app', 'other app'), bases)), 'linux/arm64: it is not built on this base');
  assert.equal(
    reasonOf(await recognizeBase(on('os java0 app', [annotated(undefined, { tag: '21' })]), bases)),
    `its annotation or label names ${repository}:21, without a digest`,
  );
});

test('an image is behind if it is built on an older version of the line', async () => {
  const judged = async (facts: BuildFacts, relation: ReturnType<Line['relationOf']> = 'older') => {
    const line = { description: 'the highest version in "21.x"', relationOf: () => relation };
    return judge(await recognizeBase(facts, bases), { digest: newer.digest, line });
  };
  const stateOf = async (facts: BuildFacts) => (await judged(facts)).state;
  assert.equal(await stateOf(on('os java2 app')), 'Current');
  assert.equal(await stateOf(on('os java2 app', [annotated(newer.platforms[0]?.digest)])), 'Current');
  assert.equal(await stateOf(on('os java1 app')), 'Behind');
  assert.equal(await stateOf(onBoth('os java2 app', 'os-arm java1-arm app')), 'Behind');
  assert.equal(await stateOf(on('os java0 app', [annotated(gone)])), 'Behind');
  assert.equal(await stateOf(on('other app', [annotated(older.digest)])), 'Unknown');
  assert.equal(await stateOf(on('other app')), undefined);

  const reasonOf = ({ recognition }: Judged) => (recognition.kind === 'unrelated' ? undefined : recognition.reason);
  assert.deepEqual(
    await Promise.all(
      (['newer', 'other', 'older'] as const).map(async (relation) => {
        const result = await judged(on('os java1 app'), relation);
        return [result.state, reasonOf(result)];
      }),
    ),
    [
      ['Current', `it is built on 21.0.1 (${older.digest}), which is newer than the selected version`],
      [
        'OtherLine',
        `it is built on 21.0.1 (${older.digest}), which is of another line than the selected version (the highest version in "21.x")`,
      ],
      ['Behind', undefined],
    ],
  );
});

test('unknown versions of a base that an image names are listed, so that they can be read', async () => {
  const named = [
    annotated(gone),
    annotated(older.digest),
    annotated(older.platforms[0]?.digest),
    annotated(digestFor('ubuntu'), { repository: other }),
  ];
  const facts = onBoth('os java0 app', 'os-arm java0 app', named);
  assert.deepEqual(unknownBases(facts, await indexBases(bases, signal)), [gone]);
  const many = Array.from({ length: 16 }, (_, index) => attested(digestFor(`version ${index}`)));
  assert.equal(unknownBases(on('os', many), await indexBases(bases, signal)).length, 8);
  const read = knownBase(image({ name: 'a version without a tag', layers: { [amd64]: 'os java0' } }), { repository, tags: [] });
  const onlyAmd64 = on('os java0 app', [annotated(gone)]);
  assert.deepEqual(await recognizeBase(onlyAmd64, [...bases, read]), {
    kind: 'recognized',
    base: { repository, digest: gone, tags: [] },
    by: 'Annotation',
  });
  assert.deepEqual(unknownBases(onlyAmd64, await indexBases([...bases, read], signal)), []);
});

const layerNames = fc.array(fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'), { minLength: 1, maxLength: 6 });
const knownChains = fc.uniqueArray(layerNames, { minLength: 1, maxLength: 8, selector: (names) => names.join(' ') });

test('an image that appends layers to a known base is recognized as built on the longest base that it begins with', async () => {
  const property = fc.asyncProperty(knownChains, fc.nat(), fc.array(fc.string({ minLength: 1 })), async (chains, choice, added) => {
    const known = chains.map((names) => base(names.join(' '), { [amd64]: names.join(' ') }));
    const chosen = chains[choice % chains.length] ?? [];
    const diffIds = [...chain(chosen.join(' ')), ...added.map(digestFor)];
    const facts = { digest: digestFor('app'), platforms: [{ platform: amd64, digest: digestFor('app'), diffIds, named: [] }] };
    const fitting = chains.filter((names) => chain(names.join(' ')).every((layer, index) => layer === diffIds[index]));
    const longest = fitting.reduce((one, two) => (two.length > one.length ? two : one));
    assert.equal(short(await recognizeBase(facts, known)), `${longest.join(' ')} by Layers`);
  });
  await fc.assert(property, { numRuns: 500 });
});

test('an image that has only a part of the layers of every known base is never recognized by them', async () => {
  const property = fc.asyncProperty(knownChains, fc.nat(), fc.nat(), fc.array(fc.nat(9)), async (chains, choice, cut, added) => {
    const known = chains.map((names) => base(names.join(' '), { [amd64]: ['os', ...names].join(' ') }));
    const chosen = ['os', ...(chains[choice % chains.length] ?? [])];
    const own = [...chosen.slice(0, cut % chosen.length), ...added.map((index) => `own-${index}`)];
    const isOn = chains.some((names) => ['os', ...names].every((name, index) => name === own[index]));
    fc.pre(!isOn);
    assert.equal((await recognizeBase(on(own.join(' ')), known)).kind, own[0] === 'os' ? 'unknown' : 'unrelated');
  });
  await fc.assert(property, { numRuns: 500 });
});

test('an image is never recognized as built on a base that it only names, without beginning with the layers of the base', async () => {
  const names = fc.array(
    fc.constantFrom(annotated(older.digest), annotated(newer.digest), attested(older.digest), packed('java1'), packed('java2')),
  );
  await fc.assert(
    fc.asyncProperty(names, async (named) => assert.notEqual((await recognizeBase(on('os app', named), bases)).kind, 'recognized')),
  );
});
