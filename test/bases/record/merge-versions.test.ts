import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { boundVersions, mergeVersions, shareOut } from '../../../src/bases/record/merge-versions.ts';
import { maxInRecord, maxTags, readVersions, type SeenVersion } from '../../../src/bases/record/seen-version.ts';
import { digestFor } from '../recognize/samples.ts';

const version = (name: string, more: Partial<SeenVersion> = {}): SeenVersion => ({
  digest: digestFor(name),
  tags: [name],
  seenAt: '2026-11-23T12:00:00Z',
  platforms: [],
  ...more,
});
const versions = fc.uniqueArray(
  fc.record({ name: fc.nat(30), tag: fc.nat(5), minute: fc.nat(59), isSelected: fc.boolean() }).map(({ name, tag, minute, isSelected }) =>
    version(`${name}`, {
      tags: [`${tag}`],
      seenAt: `2026-11-23T12:${`${minute}`.padStart(2, '0')}:00Z`,
      ...(isSelected && { selected: true as const }),
    }),
  ),
  { selector: ({ digest }) => digest },
);
const asSet = (list: readonly SeenVersion[]) =>
  list.map(({ tags, ...rest }) => JSON.stringify({ ...rest, tags: tags.toSorted() })).toSorted();

test('a merge of versions loses no version, tag or selection, whatever the order in which replicas write', () => {
  fc.assert(
    fc.property(versions, versions, (one, other) => {
      const merged = mergeVersions(one, other);
      assert.deepEqual(
        asSet(merged),
        asSet(mergeVersions(other, one)).map((text) => text),
      );
      assert.deepEqual(asSet(mergeVersions(merged, other)), asSet(merged));
      for (const { digest, tags, selected, seenAt } of [...one, ...other]) {
        const found = merged.find((each) => each.digest === digest);
        assert.ok(found && tags.every((tag) => found.tags.includes(tag)) && found.seenAt <= seenAt);
        assert.ok(selected !== true || found.selected === true);
      }
    }),
  );
});

test('a merge of versions never loses layers and names of platforms', () => {
  const layers = { count: 9, chain: digestFor('chain'), first: digestFor('first'), last: digestFor('last') };
  const of = (platform: string, more: Partial<SeenVersion['platforms'][number]> = {}) =>
    version('a', { platforms: [{ platform, digest: digestFor('amd64'), ...more }] });
  const whole = of('linux/amd64', { layers });
  for (const less of [of('linux/amd64'), of(''), version('a'), of('', { layers })]) {
    assert.deepEqual(mergeVersions([whole], [less]), [whole]);
    assert.deepEqual(mergeVersions([less], [whole]), [whole]);
  }
});

test('a version of a base keeps its newest tags', () => {
  const many = Array.from({ length: maxTags + 10 }, (_, index) => `old-${index}`);
  const [merged] = mergeVersions([version('a', { tags: many })], [version('a', { tags: ['new'] })]);
  assert.deepEqual([merged?.tags.length, merged?.tags[0]], [maxTags, 'new']);
});

test('versions of a base in use are never dropped, and the newest others are kept', () => {
  const all = Array.from({ length: 20 }, (_, index) => version(`${index}`, { seenAt: `2026-11-23T12:00:${10 + index}Z` }));
  const inUse = new Set([digestFor('0'), digestFor('3')]);
  const kept = boundVersions(all.with(5, { ...version('5', { seenAt: all[5]?.seenAt ?? '' }), selected: true }), 6, inUse);
  assert.deepEqual(
    kept.map(({ tags: [name] }) => name),
    ['0', '3', '5', '17', '18', '19'],
  );
});

test('versions on which images ran are never dropped, whichever replica writes last', () => {
  const all = Array.from({ length: 6 }, (_, index) => version(`${index}`, { seenAt: `2026-11-23T12:00:${10 + index}Z` }));
  const ran = version('1', { seenAt: '2026-11-23T12:00:30Z', used: true });
  for (const merged of [mergeVersions(all, [ran]), mergeVersions([ran], all)])
    assert.deepEqual(
      boundVersions(merged, 2, new Set())
        .map(({ tags: [name] }) => name)
        .toSorted((a = '', b = '') => a.localeCompare(b)),
      ['1', '5'],
    );
});

test('more versions than the maximum are kept if all are in use', () => {
  const all = Array.from({ length: 5 }, (_, index) => version(`${index}`, { seenAt: `2026-11-23T12:00:${10 + index}Z` }));
  const inUse = new Set(['0', '1', '2'].map(digestFor));
  assert.deepEqual(
    boundVersions(all, 2, inUse).map(({ tags: [name] }) => name),
    ['0', '1', '2'],
  );
});

test('a version stays in its record, and a full record takes no further version', () => {
  const full = Array.from({ length: maxInRecord }, (_, index) => version(`full-${index}`));
  const second = [version('second')];
  const shares = shareOut([version('new'), ...second, ...full], [full, second]);
  assert.deepEqual(
    shares.map((share) => share.length),
    [maxInRecord, 2],
  );
  assert.deepEqual(shares[0], full);
  const many = Array.from({ length: maxInRecord * 2 + 1 }, (_, index) => version(`${index}`));
  assert.deepEqual(
    shareOut(many, []).map((share) => share.length),
    [maxInRecord, maxInRecord, 1],
  );
});

const wide = (name: string, tags = 1) =>
  version(name, {
    tags: Array.from({ length: tags }, (_, index) => `${name}-${index}-${'x'.repeat(100)}`),
    platforms: Array.from({ length: 16 }, (_, index) => ({
      platform: `linux/arm/v${index}`,
      digest: digestFor(`${name} ${index}`),
      layers: { count: 9, chain: digestFor('chain'), first: digestFor('first'), last: digestFor('last') },
    })),
  });
const isSmall = (share: readonly SeenVersion[]) => JSON.stringify(share).length < 1_000_000;

test('records of versions with many platforms and tags are smaller than what etcd takes, and stay as they are', () => {
  const many = Array.from({ length: 700 }, (_, index) => wide(`${index}`));
  const shares = shareOut(many, []);
  assert.ok(shares.length > 2 && shares.every(isSmall));
  assert.deepEqual(shareOut(many.toReversed(), shares), shares);
  const more = shareOut([wide('new'), ...many], shares);
  assert.deepEqual(
    more.filter((share, index) => share.length !== shares[index]?.length).map((share) => share.at(-1)),
    [wide('new')],
  );
});

test('a record that grows too large by new tags moves some versions to other records, and takes no further one', () => {
  const many = Array.from({ length: 140 }, (_, index) => wide(`${index}`));
  const grown = many.map((one, index) => (index < 60 ? wide(`${index}`, maxTags) : one));
  const shares = shareOut([...grown, wide('new')], [many]);
  assert.ok(shares.length === 2 && shares.every(isSmall));
  assert.deepEqual(asSet(shares.flat()), asSet([...grown, wide('new')]));
  assert.ok(shares[1]?.some(({ digest }) => digest === digestFor('new')));
});

test('invalid versions in a record are left out when it is read', () => {
  const good = version('good');
  const odd = [
    null,
    'text',
    { ...good, digest: 'sha256:1' },
    { ...good, tags: ['a b'] },
    { ...good, tags: Array.from({ length: maxTags + 1 }, () => 'a') },
    { ...good, seenAt: 'yesterday' },
    { ...good, platforms: [{ platform: 'linux/amd64\n', digest: good.digest }] },
    {
      ...good,
      platforms: [{ platform: '', digest: good.digest, layers: { count: 0, chain: good.digest, first: good.digest, last: good.digest } }],
    },
    JSON.parse('{"__proto__": {"digest": "a"}}') as unknown,
  ];
  assert.deepEqual(readVersions({ versions: [...odd, good] }), [good]);
  for (const spec of [undefined, null, 1, {}, { versions: 1 }, { versions: null }]) assert.deepEqual(readVersions(spec), []);
});
