/** Which versions of a base are of its line, with tags as repositories have them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type LineRelation, lineOf, type LineRules } from '../../../src/bases/recognize/line.ts';
import { tagsOfLine } from '../../../src/bases/recognize/read-versions.ts';
import { filterTags } from '../../../src/core/select/filter-tags.ts';
import { strategies } from '../../../src/core/select/strategies/index.ts';
import { digestFor } from './samples.ts';

const { signal } = new AbortController();

interface Row {
  readonly strategy: ReturnType<typeof strategies.semver>;
  readonly selected: string;
  readonly from?: readonly string[];
  /** By the tags of a version, separated by spaces. */
  readonly expected: Readonly<Record<string, LineRelation | 'unknown'>>;
}

const java = strategies.semver({ range: '21.x' });
const rows: Readonly<Record<string, Row>> = {
  'a range of versions': {
    strategy: java,
    selected: '21.0.2',
    expected: {
      '21.0.1': 'older',
      '21.0.1 21 latest': 'older',
      '21.0.1-alpine': 'other',
      '21.0.1-jdk-alpine3.20': 'other',
      '21.0.2-alpine': 'other',
      '17.0.9': 'other',
      '25.0.1': 'other',
      '21.0.3': 'newer',
      '21': 'unknown',
      '21.0': 'unknown',
      '21-alpine': 'other',
      'jre-21': 'other',
      latest: 'unknown',
      '3f2a91c': 'unknown',
      'latest 17.0.9': 'unknown',
      debug: 'other',
      '': 'unknown',
    },
  },
  'a range, and an older line that `from` names': {
    strategy: java,
    selected: '21.0.2',
    from: ['17.*'],
    expected: { '17.0.9': 'older', '17.0.9-alpine': 'older', '11.0.2': 'other', '21.0.1-alpine': 'other' },
  },
  'versions of a variant': {
    strategy: filterTags(java, { allow: '(?P<v>.*)-alpine', extract: '$v' }),
    selected: '21.0.2-alpine',
    expected: { '21.0.1-alpine': 'older', '21.0.1': 'other', '21-alpine': 'unknown', '21': 'other', '21.0.3-alpine': 'newer' },
  },
  'a mutable version': {
    strategy: strategies.digest({ tag: '21' }),
    selected: '21',
    expected: {
      '21': 'older',
      '21.0.1': 'older',
      '21.0.2_13': 'older',
      '21.0.1-alpine': 'other',
      '21-jre': 'other',
      '17': 'other',
      '17.0.9': 'other',
      '2.1': 'other',
      latest: 'unknown',
    },
  },
  'a mutable variant of a release': {
    strategy: strategies.digest({ tag: 'bookworm-slim' }),
    selected: 'bookworm-slim',
    expected: {
      'bookworm-20240110-slim': 'older',
      'bookworm-20240110': 'other',
      'bullseye-20240110-slim': 'other',
      bookworm: 'other',
      '12.4-slim': 'other',
    },
  },
  'a mutable name': {
    strategy: strategies.digest({ tag: 'latest' }),
    selected: 'latest',
    expected: { latest: 'older', '1.2.3': 'unknown', '1.2.3-alpine': 'other', nonroot: 'other', '3f2a91c': 'unknown' },
  },
};

for (const [name, { strategy, selected: tag, from, expected }] of Object.entries(rows)) {
  test(`versions are sorted into the line of a base with ${name}`, async () => {
    const versions = Object.keys(expected).map((tags) => ({ digest: digestFor(tags), tags: tags.split(' ').filter((one) => one !== '') }));
    const selected = { tag, digest: digestFor('selected') };
    const known = [{ digest: selected.digest, tags: [tag] }, ...versions];
    const ofLine = await tagsOfLine(
      known.flatMap(({ tags }) => tags),
      { strategy, ...(from && { from }) },
      signal,
    );
    const line = await lineOf({ strategy, selected, known, ...ofLine }, signal);
    const found = Object.fromEntries(versions.map((version) => [version.tags.join(' '), line.relationOf(version) ?? 'unknown']));
    assert.deepEqual(found, expected);
  });
}

async function lineWith(tags: readonly string[], more: Partial<LineRules> = {}) {
  const strategy = strategies.digest({ tag: '21' });
  const known = tags.map((tag) => ({ digest: digestFor(tag), tags: tag === '' ? [] : [tag] }));
  const ofLine = await tagsOfLine(tags, { strategy }, signal);
  return lineOf({ strategy, selected: { tag: '21', digest: digestFor('21') }, known, ...ofLine, ...more }, signal);
}

test('a version without a tag is of the line if the repository has no other line', async () => {
  const untagged = { digest: digestFor('gone'), tags: [] };
  assert.equal((await lineWith(['21', '21.0.1', ''])).relationOf(untagged), 'older');
  assert.equal((await lineWith(['21', '21.0.1-alpine', ''])).relationOf(untagged), undefined);
});

test('a version that was selected before is of the line, whatever its tags are now; one that waits is newer', async () => {
  const line = await lineWith(['21', '17'], { selectedBefore: new Set([digestFor('17')]), waiting: digestFor('22') });
  assert.equal(line.relationOf({ digest: digestFor('17'), tags: ['17'] }), 'older');
  assert.equal(line.relationOf({ digest: digestFor('22'), tags: ['21'] }), 'newer');
});

test('a version of a mutable tag that names a higher version than the selected image is newer', async () => {
  const selected = { digest: digestFor('selected'), tag: '21' };
  const strategy = strategies.digest({ tag: '21' });
  const known = [
    { digest: selected.digest, tags: ['21', '21.0.2'] },
    { digest: digestFor('3'), tags: ['21.0.3'] },
  ];
  const ofLine = await tagsOfLine(['21', '21.0.2', '21.0.3'], { strategy }, signal);
  const line = await lineOf({ strategy, selected, known, ...ofLine }, signal);
  assert.equal(line.relationOf({ digest: digestFor('3'), tags: ['21.0.3'] }), 'newer');
  assert.equal(line.relationOf({ digest: digestFor('1'), tags: ['21.0.1'] }), 'older');
});
