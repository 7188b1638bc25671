import assert from 'node:assert/strict';
import { test } from 'node:test';
import { writeDocument } from '../../src/dashboard/html.ts';
import { episodesOf, timeline } from '../../src/dashboard/parts/timeline.ts';
import { type Action, requestsFor } from '../../src/dashboard/parts/requests-for.ts';
import { en } from '../../src/dashboard/texts/en.ts';
import { appliedOnce, digestOf } from '../core/model/samples.ts';

type PushEvent = Parameters<typeof episodesOf>[1][number];
const web = { namespace: 'shop', name: 'web' };
const [once] = appliedOnce('1.1.0');
assert.ok(once);
const { alongside: _, ...applied } = once;
const change = { ...applied, at: '2026-03-01T12:00:10Z', digest: digestOf('a'), result: 'RolledOut' as const };

function push(id: string, at: string, more: Partial<PushEvent> = {}): PushEvent {
  const policies = [{ ...web, outcome: 'updated', tag: '1.1.0', digest: digestOf('a'), afterMs: 9_000 }] as const;
  return { id, receiver: 'prod', provider: 'harbor', tag: '1.1.0', receivedAt: at, outcome: 'updated', policies, ...more };
}

const early = '2026-03-01T12:00:05.000Z';
for (const [name, pushes, expected, endedAt] of [
  ['the push of its tag and digest', [push('one', early)], 'one', '2026-03-01T12:00:14.000Z'],
  [
    'the latest push before it',
    [push('later', '2026-03-01T12:01:00.000Z'), push('two', '2026-03-01T12:00:10.500Z'), push('one', early)],
    'two',
    '2026-03-01T12:00:19.500Z',
  ],
  ['no push of another tag', [push('one', early, { tag: '1.0.0' })], undefined, undefined],
  [
    'no push of another digest',
    [push('one', early, { policies: [{ ...web, outcome: 'unchanged', digest: digestOf('b') }] })],
    undefined,
    undefined,
  ],
  [
    'a push that waited for approval, which took longer than the push',
    [push('one', early, { policies: [{ ...web, outcome: 'waiting', afterMs: 5 }] })],
    'one',
    undefined,
  ],
] as const)
  test(`the timeline shows a change with ${name}`, () => {
    const [episode] = episodesOf([change], pushes, web);
    assert.deepEqual([episode?.push?.id, episode?.endedAt], [expected, endedAt]);
  });

test('the timeline shows a rollback without the push of its image, and as the end of the failed change', () => {
  const failed = { ...change, from: 'app:1.0.0', to: 'app:1.1.0', result: 'RolledBack' as const };
  const at = '2026-03-01T12:16:00.000Z';
  const back = { ...change, from: 'app:1.1.0', to: 'app:1.0.0', tag: '1.0.0', digest: digestOf('b'), trigger: 'Rollback' as const, at };
  const older = push('older', '2026-02-20T12:00:00.000Z', {
    tag: '1.0.0',
    policies: [{ ...web, outcome: 'updated', tag: '1.0.0', digest: digestOf('b'), afterMs: 900 }],
  });
  const [rollback, first] = episodesOf([back, failed], [push('one', early), older], web);
  assert.deepEqual([rollback?.push, rollback?.endedAt], [undefined, undefined]);
  assert.deepEqual([first?.push?.id, first?.endedAt], ['one', at]);
});

test('a change in the timeline does not end with the result of an earlier change of the same push', () => {
  const [episode] = episodesOf([{ ...change, at: '2026-03-01T12:30:00.000Z' }], [push('one', early)], web);
  assert.deepEqual([episode?.push?.id, episode?.endedAt], ['one', undefined]);
});

test('the timeline groups changes of one image with the same result', () => {
  const [a, b, c] = [change, { ...change, name: 'second' }, { ...change, name: 'third', result: 'Failed' as const }];
  assert.deepEqual(
    episodesOf([a, b, c], [], web).map(({ changes }) => changes.map(({ name }) => name)),
    [['web', 'second'], ['third']],
  );
});

test('the timeline shows for a change the time at which its image was verified', () => {
  const policies = [{ ...web, outcome: 'updated', tag: '1.1.0', digest: digestOf('a'), verifiedMs: 300, afterMs: 9_000 }] as const;
  const policy = { namespace: 'shop', name: 'web' };
  const shown = writeDocument(timeline([change], { pushes: [push('one', early, { policies })], actions: [] }, policy, en));
  assert.match(shown, /Verified at the registry<\/span> <time datetime="2026-03-01T12:00:05\.300Z"/);
  assert.match(shown, /datetime="2026-03-01T12:00:14\.000Z"/);
});

const action = (name: Action['action'], at: string, more: Partial<Action> = {}): Action => ({
  id: 'one',
  type: 'action',
  at,
  action: name,
  subject: { kind: 'ImagePolicy', ...web },
  user: 'ada',
  ...more,
});
const wanted = `1.1.0@${digestOf('a')}`;
for (const [name, trigger, actions, expected] of [
  [
    'every approval of its image',
    'Approval',
    [
      action('approve', '2026-03-01T12:00:09Z', { user: 'eve', value: `${wanted} 2026-03-01T12:00:09Z` }),
      action('approve', '2026-02-28T12:00:00Z', { value: wanted }),
      action('approve', '2026-02-28T11:00:00Z', { user: 'bob', value: `1.0.0@${digestOf('b')}` }),
    ],
    ['eve', 'ada'],
  ],
  ['no approval after it', 'Approval', [action('approve', '2026-03-01T12:00:12Z', { value: wanted })], []],
  [
    'the rollback right before it',
    'Rollback',
    [action('rollback', '2026-03-01T12:00:08Z'), action('rollback', '2026-03-01T12:00:01Z', { user: 'eve' })],
    ['ada'],
  ],
  ['no rollback of the day before', 'Rollback', [action('rollback', '2026-02-28T12:00:00Z')], []],
  ['the check right before it', 'Request', [action('check', '2026-03-01T12:00:08Z')], ['ada']],
  ['nobody, if it followed a push', 'Webhook', [action('check', '2026-03-01T12:00:08Z')], []],
] as const)
  test(`the timeline shows a change with ${name}`, () => {
    assert.deepEqual(
      requestsFor({ ...change, trigger }, actions).map(({ user }) => user),
      expected,
    );
  });

test('the timeline shows as text who requested a rollback and why', () => {
  const at = '2026-03-01T12:00:10Z';
  const actions = [action('rollback', '2026-03-01T12:00:08Z', { why: 'payments <b>fail</b>' })];
  const shown = writeDocument(timeline([{ ...change, trigger: 'Rollback', at }], { pushes: [], actions }, web, en));
  assert.match(shown, /Requested by<\/span> <b>ada<\/b> <time[^>]*>[^<]*<\/time> “payments &lt;b>fail&lt;\/b>”/);
});

test('the timeline shows for a change only the commits between its own images', () => {
  const [from, to] = ['app:1.0.0', 'app:1.1.0'];
  const url = 'https://github.com/shop/web/compare/aaaaaaa...bbbbbbb';
  const link = { kind: 'changes' as const, url, host: 'github.com', from: 'aaaaaaa', to: 'bbbbbbb' };
  const changes = { repository: 'https://github.com/shop/web', links: [link] };
  const { trigger, digest } = change;
  const show = (before: string) =>
    writeDocument(
      timeline([{ ...change, from: before, to }], { pushes: [], actions: [], commits: [{ from, to, trigger, digest, changes }] }, web, en),
    );
  assert.match(
    show(from),
    /Commits<\/span> <span[^>]*><a href="https:\/\/github\.com\/shop\/web\/compare\/aaaaaaa\.\.\.bbbbbbb"[^>]*>Changes aaaaaaa…bbbbbbb on github\.com<\/a>/,
  );
  assert.doesNotMatch(show('app:0.9.0'), /Commits/);
});
