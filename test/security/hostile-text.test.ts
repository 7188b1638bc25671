/**
 * Text that makes patterns go back and forth, through everything that reads what tenants, senders and registries choose. Nothing here looks at the clock: what costs
 * exponentially or with the third power of the length does not end within the life of this test.
 */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { parse } from 'yaml';
import { readBasePolicy } from '../../src/bases/resource/read-base-policy.ts';
import { readPolicy } from '../../src/service/resources/read-policy.ts';
import { validatePolicy } from '../../src/service/resources/validate.ts';
import { evaluateConsent } from '../../src/core/plan/consent.ts';
import { parseDuration } from '../../src/core/model/text.ts';
import { filterTags } from '../../src/core/select/filter-tags.ts';
import { tryParseImageReference } from '../../src/core/model/image-reference.ts';
import { parseApproval, parseRollback } from '../../src/core/model/policy-actions.ts';
import { acceptPush } from '../../src/core/model/push-event.ts';
import { selectTag } from '../../src/core/select/select-tag.ts';
import { strategies } from '../../src/core/select/strategies/index.ts';
import { parseChallenges } from '../../src/service/registry/challenge.ts';
import { nextLink } from '../../src/service/registry/session.ts';
import { parseRetryAfter } from '../../src/core/async/backoff.ts';
import { webDeployment } from '../core/model/samples.ts';
import { readContext, resources } from '../harness/resource-group.ts';
import { sampled } from '../harness/full-tests.ts';

const root = join(import.meta.dirname, '../..');
const length = 4_000;
const units = [
  'a',
  '-',
  '.',
  '0',
  ' ',
  '/',
  ':',
  '@',
  '"',
  ',',
  '\\',
  '(a+)+',
  '[',
  '{',
  '$1',
  'a.',
  'a-',
  '0.',
  '1h',
  '||',
  'v1.',
  '>=0 ',
  ' - ',
  '%41',
  'é',
  '\u{1F433}',
];
/** What cannot be read may be refused, by an error that says so: a list of tags must not end where its next page cannot be found. */
const orUnreadable = (read: () => unknown) => {
  try {
    read();
  } catch (error) {
    assert.match(String(error), /cannot be read$/);
  }
};
const hostile = units.flatMap((unit) => {
  const text = unit.repeat(Math.ceil(length / unit.length));
  return [text, `${text}!`, `a${text}`, `sha256:${text}`, `https://${text}`];
});

describe('processing hostile text terminates', { timeout: 240_000 }, () => {
  for (const file of globSync('crd/samples/*.yaml', { cwd: root })) {
    test(`when ${file} is parsed, whatever its texts are`, () => {
      const sample: unknown = parse(readFileSync(join(root, file), 'utf8'));
      const readSample = (sample as { kind: string }).kind === 'BaseImagePolicy' ? readBasePolicy : readPolicy;
      for (const [index, text] of hostile.entries()) {
        for (const policy of sampled(withEachText(sample, text), 5, index)) {
          validatePolicy(policy, resources);
          readSample(stored(policy), readContext);
        }
      }
    });
  }

  const context = { receiver: 'r', provider: 'p', aliases: new Map<string, string>(), now: new Date(0) };
  for (const [what, read] of [
    ['image names', tryParseImageReference],
    ['pushed repositories', (text) => acceptPush({ registry: 'h.example.com', repository: text, tag: '1' }, context)],
    ['pushed tags', (text) => acceptPush({ registry: 'h.example.com', repository: 'a/b', tag: text, digest: text }, context)],
    ['registries', (text) => acceptPush({ registry: text, repository: text, tag: '1' }, context)],
    ['durations', parseDuration],
    ['consents', (text) => evaluateConsent({ namespace: 'shop' }, webDeployment, { onTarget: text, onNamespace: text }, 'legacy')],
    ['approvals', parseApproval],
    ['rollbacks', parseRollback],
    ['challenges of registries', (text) => parseChallenges(`Bearer realm=${text}`)],
    ['links of registries', (text) => orUnreadable(() => nextLink(`<${text}`))],
    ['pauses of registries', (text) => parseRetryAfter(text, 0)],
  ] as const satisfies readonly (readonly [string, (text: string) => unknown])[]) {
    test(`for ${what}`, () => {
      for (const text of hostile) read(text);
    });
  }

  for (const pattern of ['(a+)+$', '(a|a)*$', '(.*a){20}', '^(([a-z])+.)+[A-Z]([a-z])+$', '(?:a?){200}a{200}']) {
    test(`for tags on which the pattern ${pattern} backtracks`, () => {
      const tags = Array.from({ length: 500 }, (_, index) => `${'a'.repeat(100)}-${index}`);
      const filter = filterTags(strategies.alphabetical(), { allow: pattern, ignore: [pattern] });
      for (const strategy of [filter, strategies.semver({}), strategies.numerical()]) selectTag(strategy, tags);
    });
  }
});

test('no regular expression is built from user input', () => {
  const makers = globSync('src/**/*.ts', { cwd: root }).filter((file) =>
    /new RegExp\(|\bRegExp\(/.test(readFileSync(join(root, file), 'utf8')),
  );
  // From constants of ours.
  assert.deepEqual(makers, [join('src', 'service', 'resources', 'v1-fields', 'scalars.ts')]);
  // CEL makes one of what a rule compares with.
  const definitions = globSync('crd/*.yaml', { cwd: root }).map((file) => readFileSync(join(root, file), 'utf8'));
  const compared = definitions.flatMap((text) => [...text.matchAll(/\.matches\(../g)].map(([start]) => start));
  assert.ok(compared.length > 0);
  for (const start of compared) assert.match(start, /\((?:'|r')/);
});

/** As the API server gives it back. */
function stored(policy: unknown): unknown {
  const { metadata, ...rest } = policy as { metadata?: object };
  return { ...rest, metadata: { ...metadata, name: 'web', namespace: 'shop', uid: 'u', resourceVersion: '1', generation: 1 } };
}

/** The document with one of its texts replaced, for each of them. */
function* withEachText(node: unknown, text: string): Generator {
  if (typeof node === 'string') yield text;
  if (typeof node !== 'object' || node === null) return;
  for (const [key, inner] of Object.entries(node)) {
    for (const changed of withEachText(inner, text))
      yield Array.isArray(node) ? node.with(Number(key), changed) : { ...node, [key]: changed };
  }
}
