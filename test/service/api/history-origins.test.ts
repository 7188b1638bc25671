/** Which images the API looks up for the history of a policy, and what it says of their commits. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createHistoryOrigins } from '../../../src/service/api/history-origins.ts';
import { detail } from '../../../src/service/api/policy-view.ts';
import type { HistoryEntry } from '../../../src/core/model/policy-status.ts';
import { digestOf, noAliases, policyOf, specOf } from '../../core/model/samples.ts';

const repository = { registry: 'harbor.example.com', path: 'shop/web' };
const image = 'harbor.example.com/shop/web';
const revisions = new Map([
  [digestOf('a'), 'a'.repeat(40)],
  [digestOf('b'), 'b'.repeat(40)],
]);

function change(from: string | undefined, to: string, digest: string | undefined, more: Partial<HistoryEntry> = {}): HistoryEntry {
  return {
    kind: 'Deployment',
    namespace: 'shop',
    name: 'web',
    container: 'web',
    tag: '1.1.0',
    trigger: 'Webhook',
    result: 'RolledOut',
    at: '2026-03-01T12:00:00Z',
    to,
    ...more,
    ...(from !== undefined && { from }),
    ...(digest !== undefined && { digest }),
  };
}

/** The finder, and the digests and tags that it looked up. */
function finder(mayUse = true) {
  const asked: string[] = [];
  const find = createHistoryOrigins({
    find(source, reference) {
      asked.push(`${source.path} ${reference}`);
      const revision = revisions.get(reference);
      return revision === undefined ? undefined : { repository: 'https://github.com/shop/web', revision };
    },
    sourceOf: (_, spec) => spec.repository,
    mayUseRegistry: () => mayUse,
    aliases: noAliases,
  });
  return { asked, find };
}

const policyWith = (...history: HistoryEntry[]) => policyOf({ spec: specOf({ repository }), status: { history } });
const second = change(`${image}:1.0.0`, `${image}:1.1.0`, digestOf('b'));
const first = change(undefined, `${image}:1.0.0`, digestOf('a'));
const [a, b] = ['a'.repeat(40), 'b'.repeat(40)];
const compare = { kind: 'changes', url: `https://github.com/shop/web/compare/${a}...${b}` };

const rows: [about: string, history: HistoryEntry[], asked: string[], links: object[]][] = [
  [
    'the digest of the image before is that of the change before',
    [second, first],
    [digestOf('b'), digestOf('a'), digestOf('a')],
    [compare, { kind: 'commit', url: `https://github.com/shop/web/commit/${a}` }],
  ],
  [
    'a digest in the image counts',
    [change(`${image}:1.0.0@${digestOf('a')}`, `${image}:1.1.0@${digestOf('b')}`, undefined)],
    [digestOf('b'), digestOf('a')],
    [compare],
  ],
  [
    'the tag before is not looked up, because it may be another image today',
    [second],
    [digestOf('b')],
    [{ kind: 'commit', url: `https://github.com/shop/web/commit/${b}` }],
  ],
  [
    'a rollback is not compared with what failed',
    [change(`${image}:1.1.0`, `${image}:1.0.0`, digestOf('a'), { trigger: 'Rollback' }), second],
    [digestOf('a'), digestOf('b')],
    [
      { kind: 'commit', url: `https://github.com/shop/web/commit/${a}` },
      { kind: 'commit', url: `https://github.com/shop/web/commit/${b}` },
    ],
  ],
  [
    'the same change of two workloads is asked for once',
    [second, { ...second, name: 'other' }, first],
    [digestOf('b'), digestOf('a'), digestOf('a')],
    [compare, { kind: 'commit', url: `https://github.com/shop/web/commit/${a}` }],
  ],
  ['an image without a digest is not looked up', [change(`${image}:1.0.0`, `${image}:1.1.0`, undefined)], [], []],
  ['another repository is not looked up', [change(undefined, 'harbor.example.com/shop/other:1.0.0', digestOf('a'))], [], []],
  ['what names no source has no commits', [change(undefined, `${image}:1.2.0`, digestOf('c'))], [digestOf('c')], []],
];
for (const [about, history, asked, links] of rows)
  test(`the commits of a history are linked correctly where ${about}`, () => {
    const { asked: really, find } = finder();
    const policy = policyWith(...history);
    const { commits = [] } = detail(policy, {}, find(policy));
    assert.deepEqual(
      really,
      asked.map((one) => `shop/web ${one}`),
    );
    assert.deepEqual(
      commits.flatMap(({ changes }) => changes.links.map(({ kind, url }) => ({ kind, url }))),
      links,
    );
  });

test('only the newest ten changes of a history are looked up, and nothing of a registry that is not allowed', () => {
  const letters = '0123456789abcdef'.split('');
  const many = letters.map((letter) => change(undefined, `${image}:1.0.${letter}`, digestOf(letter)));
  const { asked, find } = finder();
  find(policyWith(...many));
  assert.deepEqual(
    asked,
    Array.from(letters.slice(0, 10), (letter) => `shop/web ${digestOf(letter)}`),
  );
  const refused = finder(false);
  assert.deepEqual(refused.find(policyWith(second)), []);
  assert.deepEqual(refused.asked, []);
});
