import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { chooseSelection, strategyOf } from '../../../src/service/command-line/selection/choose-selection.ts';
import { selectTag } from '../../../src/core/select/select-tag.ts';

/** The tag that runs, the others that the registry has, how the next one is selected, and which it is now; `none` where names do not show it. */
const rows: readonly (readonly [running: string, others: string, select: object, selected: string, allow?: string])[] = [
  // Versions: the major stays.
  ['1.4.2', '1.4.1 1.5.0 2.0.0 latest', { semver: { range: '1.x' } }, '1.5.0'],
  ['v1.4.2', 'v1.5.0 v2.0.0', { semver: { range: '1.x' } }, 'v1.5.0'],
  ['0.4.2', '0.4.9 0.5.0', { semver: { range: '0.4.x' } }, '0.4.9'],
  ['2026.3.1', '2027.1.0', { semver: { range: '>=2026.0.0' } }, '2027.1.0'],
  // Only where other forms would be candidates, a pattern is needed.
  ['1.4.2', '1.5.0 v1.5.0', { semver: { range: '1.x' } }, '1.5.0', String.raw`^(?P<version>[0-9]+\.[0-9]+\.[0-9]+)$`],
  // The suffix and the prefix stay.
  [
    '1.4.2-alpine',
    '1.5.0 1.5.0-alpine 1.6.0-slim',
    { semver: { range: '1.x' } },
    '1.5.0-alpine',
    String.raw`^(?P<version>[0-9]+\.[0-9]+\.[0-9]+)-alpine$`,
  ],
  ['7.2.4-alpine3.20', '7.2.5-alpine3.20 7.4.0-alpine3.21', { semver: { range: '7.x' } }, '7.2.5-alpine3.20'],
  ['app-1.4.2', 'app-1.5.0 other-1.6.0 1.7.0', { semver: { range: '1.x' } }, 'app-1.5.0'],
  ['21.0.3_9-jre', '21.0.3_10-jre 21.0.4_7-jre 21.0.5_1-jdk', { semver: { range: '21.x' } }, '21.0.4_7-jre'],
  ['16.3.0-debian-12-r9', '16.3.0-debian-12-r14 16.3.0-debian-13-r1', { semver: { range: '16.x' } }, '16.3.0-debian-12-r14'],
  ['7.9.1-1-ubi8', '7.9.1-12-ubi8 7.9.2-1-ubi9', { semver: { range: '7.x' } }, '7.9.1-12-ubi8'],
  ['2.4.1-20260301', '2.4.1-20260315 2.4.1-20260315-debug', { semver: { range: '2.x' } }, '2.4.1-20260315'],
  ['1.2.3.4', '1.2.3.10 1.2.3', { semver: { range: '1.x' } }, '1.2.3.10'],
  // Prereleases only where one runs.
  ['2.0.0-rc.1', '2.0.0-rc.2 2.1.0 2.0.0-alpine 3.0.0-rc.1', { semver: { range: '2.x', prereleases: true } }, '2.1.0'],
  ['1.4.2', '1.5.0-rc.1 1.5.0-beta.2', { semver: { range: '1.x' } }, '1.4.2'],
  // Two numbers are a version where no third one follows, and a line of versions where one does.
  ['16.3', '16.4 17.0 16', { semver: { range: '16.x' } }, '16.4', String.raw`^(?P<version>[0-9]+\.[0-9]+)$`],
  ['16.3-alpine', '16.4 16.4-alpine', { semver: { range: '16.x' } }, '16.4-alpine'],
  ['0.9', '0.10', { semver: { range: '0.x' } }, '0.10'],
  ['1.27', '1.27.1 1.28', { digest: { tag: '1.27' } }, '1.27'],
  ['1.27-alpine', '1.27.1-alpine 1.28-alpine', { digest: { tag: '1.27-alpine' } }, '1.27-alpine'],
  ['v2.10', 'v2.10.5 v2.11', { digest: { tag: 'v2.10' } }, 'v2.10'],
  ['16', '16.3 17', { digest: { tag: '16' } }, '16'],
  ['21-jre', '21.0.3_9-jre 22-jre', { digest: { tag: '21-jre' } }, '21-jre'],
  // What moves, and what shows no order.
  ['latest', '1.4.2', { digest: { tag: 'latest' } }, 'latest'],
  ['bookworm-slim', '12.5', { digest: { tag: 'bookworm-slim' } }, 'bookworm-slim'],
  ['24.04', '24.10 26.04', { digest: { tag: '24.04' } }, '24.04'],
  ['2022-latest', '2019-latest', { digest: { tag: '2022-latest' } }, '2022-latest'],
  ['1.4.2-SNAPSHOT', '1.5.0-SNAPSHOT', { digest: { tag: '1.4.2-SNAPSHOT' } }, '1.4.2-SNAPSHOT'],
  ['3.13.0rc1', '3.13.0rc2', { digest: { tag: '3.13.0rc1' } }, '3.13.0rc1'],
  // Numbers of builds, dates, commits.
  ['1047', '1048 latest 9', { numerical: {} }, '1048'],
  ['build-57', 'build-9 build-112 57', { numerical: {} }, 'build-112'],
  ['20260301', '20260302 20251231 2026', { alphabetical: {} }, '20260302'],
  ['RELEASE.2026-01-16T16-07-38Z', 'RELEASE.2026-03-01T00-00-00Z latest', { alphabetical: {} }, 'RELEASE.2026-03-01T00-00-00Z'],
  ['bookworm-20260612-slim', 'bookworm-20260713-slim trixie-20260801-slim', { alphabetical: {} }, 'bookworm-20260713-slim'],
  ['main-3f2a1b7', 'main-9c0ffee develop-1234abc', { newest: {} }, 'none', '^main-[0-9a-f]{7,40}$'],
  ['sha-1234567', 'sha-7654321', { newest: {} }, 'none', '^sha-[0-9a-f]{7,40}$'],
  ['1.4.2-g3f2a1b7', '1.4.3-g1a2b3c4', { newest: {} }, 'none', String.raw`^[0-9]+\.[0-9]+\.[0-9]+-g[0-9a-f]{7,40}$`],
  ['20260301.2', '20260301.10', { newest: {} }, 'none'],
];

describe('init chooses the right selection for the tag', () => {
  for (const [running, others, select, selected, allow] of rows) {
    test(`${running} beside ${others}`, () => {
      const tags = [running, ...others.split(' ')];
      const chosen = chooseSelection(running, tags);
      if ('problem' in chosen) assert.fail(chosen.problem);
      assert.deepEqual(chosen.select, select);
      const strategy = strategyOf(chosen);
      assert.equal(strategy.reject(running), undefined);
      if (selected !== 'none') assert.equal(selectTag(strategy, tags), selected);
      if (allow !== undefined) assert.equal(chosen.tags?.allow, allow);
    });
  }
});

test('init proposes no selection for a mutable tag that the registry does not have', () => {
  assert.deepEqual(chooseSelection('stable', ['1.4.2']), {
    problem: 'the registry does not have the tag stable, which runs, nor any other that could follow it',
  });
});

test('init explains a selection by its reason, the versions out of its range, and other suffixes', () => {
  const chosen = chooseSelection('7.2.4-alpine3.20', ['7.2.4-alpine3.20', '7.4.0-alpine3.21', '8.0.0-alpine3.20']);
  if ('problem' in chosen) assert.fail(chosen.problem);
  assert.equal(chosen.why, 'The highest 7.x is selected. The suffix -alpine3.20 stays.');
  assert.deepEqual(chosen.notes, [
    '8.0.0-alpine3.20 is outside of the range: widen it to follow that.',
    '7.4.0-alpine3.21 has another suffix: change tags.allow to follow that.',
  ]);
  const followed = chooseSelection('latest', ['latest', '1.4.2']);
  assert.match('notes' in followed ? (followed.notes[0] ?? '') : '', /1\.4\.2 would be selected/);
});
