/** The page of approvals: one group for each image that waits, which is chosen as a whole. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { digestOf, policyOf, specOf } from '../core/model/samples.ts';
import { openDashboard } from './start-dashboard.ts';

const repository = (path: string) => ({ registry: 'harbor.example.com', path });
const waiting = (name: string, namespace: string, path: string, letter: string) =>
  policyOf({
    namespace,
    name,
    spec: specOf({ repository: repository(path), mode: 'Approval' }),
    status: {
      running: '1.0.0',
      pendingApproval: { tag: '1.1.0', digest: digestOf(letter) },
      conditions: [
        { type: 'ApprovalRequired', status: 'True', reason: 'ApprovalRequired', message: '', lastTransitionTime: '2026-03-01T11:00:00Z' },
      ],
      targetCounts: { total: 3, upToDate: 0, problems: 0 },
    },
  });
const policies = [
  waiting('api', 'shop', 'shop/api', 'a'),
  waiting('web', 'eu', 'shop/web', 'b'),
  waiting('web', 'us', 'shop/web', 'b'),
  waiting('web', 'old', 'shop/web', 'c'),
];
const open = (t: Parameters<typeof openDashboard>[0]) =>
  openDashboard(t, {
    policies: { all: () => policies, find: (namespace, name) => policies.find((one) => one.namespace === namespace && one.name === name) },
  });

/** Each group: its heading, and its policies, of which the chosen ones have a star. */
const groupsIn = (text: string) =>
  [...text.matchAll(/<section class="waiting">(.*?)<\/section>/gs)].map(([, group = '']) => [
    /<h2>([^<]*)/.exec(group)?.[1]?.trim(),
    ...[...group.matchAll(/<input type="checkbox" name="choice" value="(\S+)[^>]*>/g)].map(([input, name = '']) =>
      input.includes(' checked') ? `${name}*` : name,
    ),
  ]);

test('the approvals page groups policies by the image that waits, with the largest group first', async (t) => {
  const { text } = await open(t).get('/approvals');
  assert.deepEqual(groupsIn(text), [
    ['harbor.example.com/shop/web:1.1.0', 'eu/web', 'us/web'],
    ['harbor.example.com/shop/web:1.1.0', 'old/web'],
    ['harbor.example.com/shop/api:1.1.0', 'shop/api'],
  ]);
  assert.match(text, /<code>1\.0\.0<\/code> → <code>1\.1\.0<\/code>/);
  assert.match(text, /Workloads: 3/);
});

test('the approvals page shows who has approved an image, whose approval does not count, and the end of the approvals', async (t) => {
  const two = {
    tag: '1.1.0',
    digest: digestOf('b'),
    since: '2026-03-01T11:00:00Z',
    generation: 1,
    required: 2,
    given: [{ user: 'ada <b>', at: '2026-03-01T11:30:00Z', seenAt: '2026-03-01T11:30:00Z', reason: 'tested' }],
    uncounted: [{ user: 'bob', at: '2026-03-01T10:00:00Z', why: 'Earlier' as const }],
    until: '2026-03-03T11:30:00Z',
  };
  const web = waiting('web', 'eu', 'shop/web', 'b');
  const policy = { ...web, status: { ...web.status, approvals: two } };
  const { get } = openDashboard(t, { policies: { all: () => [policy], find: () => policy } });
  for (const page of ['/approvals', '/policies/eu/web']) {
    const { text } = await get(page);
    assert.match(
      text,
      /1 of 2 approvals · <b>ada &lt;b(?:>|&gt;)<\/b> <time class="ago" datetime="2026-03-01T11:30:00Z">[^<]*<\/time> <q>tested<\/q>/,
      page,
    );
    assert.match(
      text,
      / · <s>bob<\/s> before this image waited, or the policy was changed · the others until <time class="both" datetime="2026-03-03T11:30:00Z">/,
    );
  }
});

test('the approvals page shows commits once for each group, with the host of their source, and on the confirmation', async (t) => {
  const [old, revision] = ['a'.repeat(40), 'b'.repeat(40)];
  const now = { repository: 'https://git.example.com/shop/web', revision, version: '1.1.0' };
  const known = { now, before: { repository: now.repository, revision: old } };
  const origins = (name: string) => (name === 'us' ? known : name === 'eu' ? { now } : {});
  const ports = {
    all: () => policies,
    find: (namespace: string, name: string) => policies.find((one) => one.namespace === namespace && one.name === name),
  };
  const differ = openDashboard(t, { policies: { ...ports, originsOf: ({ namespace }) => origins(namespace) } });
  const compare = new RegExp(
    `<a href="https://git.example.com/shop/web/compare/${old}\\.\\.\\.${revision}" rel="noopener noreferrer external">Changes aaaaaaa…bbbbbbb on git.example.com</a>`,
  );
  const { text } = await differ.get('/approvals');
  assert.match(text, compare);
  assert.match(text, /Commit bbbbbbb on git\.example\.com/);
  assert.equal(text.match(/Releases on git\.example\.com/g)?.length, 2);
  for (const page of ['/policies/us/web', '/policies/us/web/approve', '/policies/us/web/reject'])
    assert.match((await differ.get(page)).text, compare, page);
  const same = openDashboard(t, { policies: { ...ports, originsOf: ({ namespace }) => (namespace === 'shop' ? {} : known) } });
  assert.equal((await same.get('/approvals')).text.match(/Changes aaaaaaa…bbbbbbb/g)?.length, 2, 'one for each image');
  assert.doesNotMatch((await differ.get('/policies/shop/api')).text, /class="note commits"/);
});

test('the approvals page chooses a whole group or all images without JavaScript', async (t) => {
  const { get } = open(t);
  const { text } = await get('/approvals');
  const [, all = ''] = /href="([^"]+)">Choose all 2/.exec(text) ?? [];
  assert.deepEqual(
    groupsIn((await get(all.replaceAll('&amp;', '&'))).text)
      .flat()
      .filter((one) => one?.endsWith('*')),
    ['eu/web*', 'us/web*'],
  );
  const everything = groupsIn((await get('/approvals?choose=*')).text).flat();
  assert.equal(everything.filter((one) => one?.endsWith('*')).length, 4);
});

test('the images chosen on the approvals page are rejected with a reason', async (t) => {
  const { submit, patched } = open(t);
  const choice = `shop/api 1.1.0 ${digestOf('a')}`;
  const { text } = await submit('/approvals/confirm', { choice, decision: 'reject' });
  assert.match(text, /Reject this image\?/);
  assert.match(text, /<input name="reason"[^>]* placeholder="Why\? \(required\)" required/);
  const done = await submit('/approvals', { choice, decision: 'reject', reason: 'breaks the login' });
  assert.match(done.text, /shop\/api/);
  const annotations = JSON.stringify(patched);
  assert.match(annotations, new RegExp(`"operator.technomad.dev/reject":"1.1.0@${digestOf('a')} \\d{4}-`));
  assert.match(annotations, /breaks the login"/);
});
