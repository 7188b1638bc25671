import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readSources, releaseNotes, versionProblems, type Sources } from './version-problems.ts';

const good: Sources = {
  packageJson: '{"version":"1.2.3"}',
  packageLock: '{"version":"1.2.3","packages":{"":{"version":"1.2.3"}}}',
  chart: 'version: 1.2.3\nappVersion: 1.2.3\n',
  changelog: '# Changelog\n\n## Unreleased\n\n- next\n\n## 1.2.3 - 2026-01-31\n\n### Added\n\n- this\n\n## 1.2.2\n\n- that\n',
};

const rows: readonly [name: string, tag: string, sources: Partial<Sources>, problems: RegExp[]][] = [
  ['all agree', 'v1.2.3', {}, []],
  ['a tag that is no version', 'release-1', {}, [/^the tag release-1 is no version/]],
  ['a tag without v', '1.2.3', {}, [/is no version/]],
  ['another package', 'v1.2.3', { packageJson: '{"version":"1.2.2"}' }, [/^package\.json: version is 1\.2\.2, not 1\.2\.3$/]],
  ['a lock that was forgotten', 'v1.2.3', { packageLock: '{}' }, [/^package-lock\.json: version is missing/, /packages\[""\]/]],
  ['a chart with another program', 'v1.2.3', { chart: 'version: 1.2.3\nappVersion: 1.2.2\n' }, [/^Chart\.yaml: appVersion is 1\.2\.2/]],
  ['nothing in the changelog', 'v1.2.3', { changelog: '## 1.2.3-rc.1\n\n- x\n\n## 1.2.3\n\n## 1.2.2\n' }, [/^CHANGELOG\.md has nothing/]],
];

for (const [name, tag, sources, expected] of rows) {
  test(`the problems of a release are found for ${name}`, () => {
    const problems = versionProblems(tag, { ...good, ...sources });
    assert.equal(problems.length, expected.length, problems.join('\n'));
    for (const [index, pattern] of expected.entries()) assert.match(problems[index] ?? '', pattern);
  });
}

test('the notes of a release are its section of the changelog', () => {
  assert.equal(releaseNotes('1.2.3', good.changelog), '### Added\n\n- this');
  assert.equal(releaseNotes('9.9.9', good.changelog), '');
});

test('the files of this checkout have the same version', () => {
  const sources = readSources();
  const { version } = JSON.parse(sources.packageJson) as { version: string };
  const problems = versionProblems(`v${version}`, { ...sources, changelog: `## ${version}\n\n- x\n` });
  assert.deepEqual(problems, []);
});
