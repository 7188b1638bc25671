/** Where the links of notifications lead. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { signApproval } from '../../src/core/model/approval-link.ts';
import { pending } from '../service/api/sample-policies.ts';
import { openDashboard } from './start-dashboard.ts';

test('the link of a notification leads to the approval of its image, while that waits and the link is not too old', async (t) => {
  const secret = 'a secret of the links';
  const { get } = openDashboard(t, { more: { linkSecret: () => secret } });
  const approval = { namespace: 'shop', name: 'approval', uid: 'uid-approval', ...pending, until: Date.now() + 60_000 };
  const follow = async (change: Partial<typeof approval>, key = secret) =>
    (await get(`/policies/shop/approval/approve?link=${signApproval({ ...approval, ...change }, key)}`)).text;
  assert.match(await follow({}), /<form method="post" action="\/policies\/shop\/approval\/approve"[^]*value="1\.3\.0"/);
  assert.match(await follow({ tag: '1.2.9', digest: `sha256:${'c'.repeat(64)}` }), /1\.2\.9 does not wait for approval any more/);
  for (const text of [
    await follow({ until: Date.now() - 1 }),
    await follow({ uid: 'uid-of-an-older-policy' }),
    await follow({ name: 'another' }),
    await follow({}, 'another secret'),
    (await get('/policies/shop/approval/approve?link=x')).text,
  ]) {
    assert.match(text, /This link is not valid, or older than a day/);
    assert.doesNotMatch(text, /<form method="post" action="\/policies/);
  }
});
