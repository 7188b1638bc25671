import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { strategies } from '../../../../src/core/select/strategies/index.ts';
import { convertSelection, type Selection } from '../../../../src/cli/import/keel/selection.ts';
import { readKeelSettings } from '../../../../src/cli/import/keel/settings.ts';

type Keys = Readonly<Record<string, string>>;

function convert(policy: string, tag: string, keys: Keys = {}) {
  const annotations = Object.fromEntries(Object.entries({ policy, ...keys }).map(([key, value]) => [`keel.sh/${key}`, value]));
  const settings = readKeelSettings({ labels: {}, annotations });
  assert.ok(settings);
  return convertSelection(settings, tag);
}

const poll = { trigger: 'poll' };

for (const [policy, tag, keys, expected] of [
  ['major', '1.4.2', {}, { select: { semver: {} } }],
  ['minor', '1.4.2', {}, { select: { semver: { range: '1.x' } } }],
  ['patch', 'v1.4.2', {}, { select: { semver: { range: '1.4.x' } } }],
  ['minor', '0.3.0', {}, { select: { semver: { range: '0.x' } } }],
  ['all', '1.4.2', {}, { select: { semver: { prereleases: true } } }],
  ['all', '1.4.2-rc1', {}, { select: { semver: { prereleases: true } } }],
  [
    'all',
    '1.4.2-alpine',
    {},
    { select: { semver: {} }, tags: { allow: String.raw`^(?P<version>v?[0-9]+\.[0-9]+\.[0-9]+)-alpine$`, extract: '$version' } },
  ],
  [
    'minor',
    '1.4.2-alpine3.20',
    {},
    {
      select: { semver: { range: '1.x' } },
      tags: { allow: String.raw`^(?P<version>v?[0-9]+\.[0-9]+\.[0-9]+)-alpine3\.20$`, extract: '$version' },
    },
  ],
  ['minor', '1.4.2', { matchPreRelease: 'false' }, { select: { semver: { range: '1.x', prereleases: true } } }],
  ['minor', '1.4.2-rc1', { matchPreRelease: 'false' }, { select: { semver: { range: '1.x', prereleases: true } } }],
  [
    'minor',
    '1.27',
    {},
    { select: { semver: { range: '1.x' } }, tags: { allow: String.raw`^(?P<version>v?[0-9]+\.[0-9]+)$`, extract: '${version}.0' } },
  ],
  ['major', 'latest', {}, { select: { semver: {} } }],
  ['force', 'latest', { matchTag: 'true' }, { select: { digest: { tag: 'latest' } } }],
  ['force', '1.25', { 'match-tag': 'true' }, { select: { digest: { tag: '1.25' } } }],
  ['force', 'main', {}, { select: { digest: { tag: 'main' } } }],
  ['force', 'build-7', {}, { select: { newest: {} }, pin: 'Digest' }],
  ['force', '1.4.2', {}, { select: { semver: { prereleases: true } }, pin: 'Digest' }],
  ['force', '7.9.1-1-ubi8', {}, { select: { semver: { prereleases: true } }, pin: 'Digest' }],
  [
    'force',
    '1.27-alpine',
    {},
    {
      select: { semver: { prereleases: true } },
      tags: { allow: String.raw`^(?P<version>v?[0-9]+\.[0-9]+)-alpine$`, extract: '${version}.0' },
      pin: 'Digest',
    },
  ],
  ['force', '20260301', {}, { select: { numerical: {} }, pin: 'Digest' }],
  ['glob:build-*', 'build-7', {}, { select: { alphabetical: {} }, tags: { allow: '^build-.*$' } }],
  ['glob:build-*', 'build-7', poll, { select: { alphabetical: {} }, tags: { allow: '^build-.*$' } }],
  ['glob:v1.*-prod', 'v1.2-prod', poll, { select: { alphabetical: {} }, tags: { allow: String.raw`^v1\..*-prod$` } }],
  ['glob:*', 'a', poll, { select: { alphabetical: {} } }],
  ['regexp:^v[0-9]+$', 'v1', poll, { select: { alphabetical: {} }, tags: { allow: '^v[0-9]+$' } }],
  ['regexp:^a$|^b$', 'a', {}, { select: { newest: {} }, tags: { allow: '^.*(?:^a$|^b$).*$' } }],
  ['regexp:prod', 'prod-1', {}, { select: { newest: {} }, tags: { allow: '^.*prod.*$' } }],
  [
    'regexp:^rel-(?P<compare>[0-9]{8})$',
    'rel-20260101',
    {},
    { select: { alphabetical: {} }, tags: { allow: '^rel-(?P<compare>[0-9]{8})$', extract: '$compare' } },
  ],
  ['newest:^main-', 'main-1', {}, { select: { newest: {} }, tags: { allow: '^main-.*$' } }],
  ['newest:.*', 'main-1', {}, { select: { newest: {} } }],
] satisfies [policy: string, tag: string, keys: Keys, expected: Omit<Selection, 'notes'>][]) {
  test(`the policy ${policy} of Keel is converted for the tag ${tag} with ${JSON.stringify(keys)}`, () => {
    const converted = convert(policy, tag, keys);
    assert.ok(!('problem' in converted), JSON.stringify(converted));
    const { notes, ...selection } = converted;
    assert.deepEqual(selection, expected);
    for (const note of notes) assert.match(note, /^[A-Z"].*\.$/);
  });
}

for (const [policy, tag, problem] of [
  ['minor', 'latest', /runs "latest"/],
  ['major', 'main', /"main" is no version/],
  ['minor', '2024.01.02', /is no version/],
  ['patch', '1.27', /has two numbers/],
  ['minor', '7', /is no version/],
  ['glob:', 'a', /cannot read the policy/],
  ['glob:a:b', 'a', /cannot read the policy/],
  ['regexp:(', 'a', /is not RE2 syntax/],
  [`regexp:${'a'.repeat(600)}`, 'a', /longer than 512/],
  ['sometimes', 'a', /has no policy "sometimes"/],
  ['globular:x', 'a', /has no policy/],
] as const) {
  test(`the policy ${policy.slice(0, 20)} of Keel is not converted for the tag ${tag}, with the reason`, () => {
    const converted = convert(policy, tag);
    assert.ok('problem' in converted);
    assert.match(converted.problem, problem);
  });
}

describe('the converted policy selects what Keel would select', () => {
  for (const [policy, running, candidates, others] of [
    ['minor', '1.4.2', ['1.4.3', '1.5.0'], ['2.0.0', '1.5.0-rc.1', 'latest']],
    ['patch', '1.4.2', ['1.4.3'], ['1.5.0', '2.0.0']],
    ['major', '1.4.2', ['1.4.3', '2.0.0'], ['2.0.0-rc.1']],
    ['all', '1.4.2', ['1.4.3', '2.0.0-rc.1'], ['main']],
  ] as const) {
    test(`for the policy ${policy} of an image with the tag ${running}`, () => {
      const converted = convert(policy, running);
      assert.ok('select' in converted);
      const { range, prereleases } = converted.select.semver ?? {};
      const strategy = strategies.semver({ ...(range !== undefined && { range }), ...(prereleases !== undefined && { prereleases }) });
      for (const tag of candidates) assert.equal(strategy.reject(tag), undefined, tag);
      for (const tag of others) assert.notEqual(strategy.reject(tag), undefined, tag);
    });
  }
});
