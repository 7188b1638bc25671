/** Pages offer only the actions that their user may request. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import type { PolicyPorts } from '../../src/service/api/ports.ts';
import { ann } from '../service/api/sample-policies.ts';
import { openDashboard, sessions } from './start-dashboard.ts';

async function signIn(t: TestContext, rights: readonly string[], policies: Partial<PolicyPorts> = {}) {
  const opened = openDashboard(t, { auth: ann('list *', 'get *', ...rights), identification: sessions, policies });
  await opened.submit('/sign-in', { token: 'anns-token' });
  return opened;
}

test('a user sees only the buttons that he may use, and an address of another one says that he may not', async (t) => {
  const waiting = '/policies/shop/approval';
  const buttonsOf = (text: string) =>
    [...text.matchAll(/class="button" href="\/policies\/shop\/approval\/(\w+)"/g)].map(([, name]) => name);
  const reader = await signIn(t, []);
  const read = (await reader.get(waiting)).text;
  assert.deepEqual(buttonsOf(read), []);
  assert.match(read, /Read-only: you have no permission/);
  assert.doesNotMatch((await reader.get(`${waiting}/approve`)).text, /method="post" action="\/policies/);
  const approver = await signIn(t, ['patch shop', 'approve shop'], { hasAdmissionPolicy: true });
  assert.deepEqual(buttonsOf((await approver.get(waiting)).text), ['approve', 'reject', 'check']);
  assert.match((await approver.get(`${waiting}/suspend`)).text, /you have no permission/);
  assert.match((await approver.get(`${waiting}/approve`)).text, /method="post" action="\/policies\/shop\/approval\/approve"/);
});
