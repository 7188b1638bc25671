/** The pages with which several people decide about a base: who has approved it, why an approval does not count, and a rejection with its reason. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createBaseRoutes } from '../../src/bases/api/routes.ts';
import { basePolicyOf, java, newJava, sampleView } from '../bases/api/sample-bases.ts';
import { ann } from '../service/api/sample-policies.ts';
import { openDashboard, sessions } from './start-dashboard.ts';

const { tag, digest } = newJava;
const condition = {
  type: 'ApprovalRequired',
  status: 'True',
  reason: 'ApprovalRequired',
  message: '',
  lastTransitionTime: '2026-03-01T11:00:00Z',
} as const;
const basePolicy = (given: string) =>
  basePolicyOf({
    name: 'java',
    image: java,
    spec: { mode: 'Approval', approvals: { count: 2 } },
    status: {
      latest: newJava,
      conditions: [condition],
      pendingApproval: { tag, digest },
      approvals: {
        tag,
        digest,
        since: '2026-03-01T11:00:00Z',
        generation: 1,
        required: 2,
        given: [{ user: given, at: '2026-03-01T11:30:00Z', seenAt: '2026-03-01T11:30:00Z', reason: 'scanned' }],
        uncounted: [{ user: 'bob', at: '2026-03-01T10:00:00Z', why: 'Author' }],
      },
    },
  });

async function open(
  t: Parameters<typeof openDashboard>[0],
  policy: ReturnType<typeof basePolicy>,
  more: Parameters<typeof openDashboard>[1] = {},
) {
  const view = sampleView({ all: () => [policy], find: () => policy });
  const dashboard = openDashboard(t, {
    auth: ann('get baseimagepolicies *', 'list baseimagepolicies *', 'patch baseimagepolicies *', 'list *', 'get *'),
    identification: sessions,
    added: { features: ['bases'], routes: createBaseRoutes(view) },
    ...more,
  });
  await dashboard.submit('/sign-in', { token: 'anns-token' });
  return dashboard;
}

test('each page on which a base can be approved shows as text who has approved it', async (t) => {
  const { get } = await open(t, basePolicy('ada <b>'));
  for (const page of ['/approvals', '/bases/platform/java', '/bases/platform/java/approve']) {
    const { text } = await get(page);
    assert.match(text, /1 of 2 approvals · <b>ada &lt;b(?:>|&gt;)<\/b> .*<q>scanned<\/q> · <s>bob<\/s>/, page);
  }
  const { text } = await get('/approvals');
  assert.match(text, /href="\/bases\/platform\/java\/approve".*href="\/bases\/platform\/java\/reject"/s);
});

test('the first page shows a base that waits for approval, or counts it where images wait as well', async (t) => {
  const both = await (await open(t, basePolicy('ada'))).get('/');
  assert.match(both.text, /href="\/approvals">Approvals: 2</);
  const { get } = await open(t, basePolicy('ada'), { policies: { all: () => [] } });
  const { text } = await get('/');
  assert.match(text, /Bases that wait for approval.*href="\/bases\/platform\/java".*21\.0\.7.*href="\/approvals"/s);
});

test('each page on which a base can be approved shows its commits', async (t) => {
  const { get } = openDashboard(t, { added: { features: ['bases'], routes: createBaseRoutes(sampleView()) } });
  const compare =
    /<a href="https:\/\/github\.com\/platform\/framework\/compare\/5d414020+\.\.\.9e107d90+" rel="noopener noreferrer external">Changes 5d41402…9e107d9 on github\.com<\/a>/;
  for (const page of ['/approvals', '/bases/platform/framework', '/bases/platform/framework/approve', '/bases/platform/framework/reject'])
    assert.match((await get(page)).text, compare, page);
});

test('an approval of a base that would not count is refused on the page with the reason', async (t) => {
  const { submit, patched } = await open(t, basePolicy('ann'));
  const { status, text } = await submit('/bases/platform/java/approve', { tag, digest });
  assert.equal(status, 409);
  assert.match(text, /role="alert">[^<]*each person counts once.*<form method="post" action="\/bases\/platform\/java\/approve"/s);
  assert.equal(patched.length, 0);
});

test('a base that waits for approval is rejected with a reason', async (t) => {
  const { get, submit, patched } = await open(t, basePolicy('ada'));
  assert.match(
    (await get('/bases/platform/java/reject')).text,
    /Reject 21\.0\.7@sha256:b+\?.*<input name="reason"[^>]* placeholder="Why\? \(required\)" required/s,
  );
  assert.equal((await submit('/bases/platform/java/reject', { tag, digest, reason: 'breaks the login' })).status, 303);
  assert.match(JSON.stringify(patched), /"operator\.technomad\.dev\/request-reason":"reject 21\.0\.7@[^"]* breaks the login"/);
});
