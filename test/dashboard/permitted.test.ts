/** Pages offer only the actions that their user may request. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { createBaseRoutes } from '../../src/bases/api/routes.ts';
import type { PolicyPorts } from '../../src/service/api/ports.ts';
import { basePolicyOf, java, newJava, sampleView } from '../bases/api/sample-bases.ts';
import { digestOf, policyOf, specOf } from '../core/model/samples.ts';
import { ann } from '../service/api/sample-policies.ts';
import { openDashboard, sessions } from './start-dashboard.ts';

const condition = { type: 'ApprovalRequired', status: 'True', message: '', lastTransitionTime: '2026-03-01T11:00:00Z' } as const;
const base = basePolicyOf({
  name: 'java',
  image: java,
  spec: { mode: 'Approval' },
  status: {
    latest: newJava,
    pendingApproval: { tag: newJava.tag, digest: newJava.digest },
    conditions: [{ ...condition, reason: 'ApprovalRequired' }],
  },
});
const pending = { tag: '1.1.0', digest: digestOf('b') };
const waiting = ['eu', 'us', 'asia'].map((namespace) =>
  policyOf({
    namespace,
    name: 'web',
    spec: specOf({ mode: 'Approval' }),
    status: { pendingApproval: pending, conditions: [{ ...condition, reason: 'ApprovalRequired' }] },
  }),
);
const failing = policyOf({
  namespace: 'eu',
  name: 'api',
  status: {
    conditions: [
      {
        type: 'Stalled',
        status: 'True',
        reason: 'RegistryUnavailable',
        message: 'the registry does not answer',
        lastTransitionTime: '2026-03-01T11:00:00Z',
      },
    ],
  },
});
const listed = (policies: readonly ReturnType<typeof policyOf>[]): Partial<PolicyPorts> => ({
  hasAdmissionPolicy: true,
  all: () => policies,
  find: (namespace, name) => policies.find((one) => one.namespace === namespace && one.name === name),
});

async function signIn(t: TestContext, rights: readonly string[], policies: Partial<PolicyPorts> = {}) {
  const added = { features: ['bases'], routes: createBaseRoutes(sampleView({ all: () => [base], find: () => base })) };
  const see = ['list *', 'get *', 'list baseimagepolicies *', 'get baseimagepolicies *'];
  const opened = openDashboard(t, { auth: ann(...see, ...rights), identification: sessions, policies, added });
  await opened.submit('/sign-in', { token: 'anns-token' });
  return opened;
}

test('a user sees only permitted buttons, and the address of another action says that it is not permitted', async (t) => {
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

test('the approvals page offers only images that the user may decide about, also when choosing all', async (t) => {
  const chosen = (text: string) => [...text.matchAll(/name="choice" value="(\S+)/g)].map(([, name]) => name);
  const everything = { decision: 'approve' } as const;
  const choices = waiting.map(({ namespace }) => ['choice', `${namespace}/web ${pending.tag} ${pending.digest}`] as const);
  const reader = await signIn(t, [], listed(waiting));
  const read = (await reader.get('/approvals')).text;
  assert.match(read, /Read-only: you have no permission/);
  assert.deepEqual(chosen(read), []);
  assert.doesNotMatch(read, /Choose all|class="primary"|\/bases\/platform\/java\/approve/);
  assert.doesNotMatch((await reader.get('/')).text, /Approve all/);
  const asked = (await reader.submit('/approvals/confirm', [['decision', 'approve'], ...choices])).text;
  assert.deepEqual(chosen(asked), []);
  assert.doesNotMatch(asked, /class="primary"/);

  const rights = ['eu', 'us'].flatMap((namespace) => [`patch ${namespace}`, `approve ${namespace}`]);
  const approver = await signIn(t, [...rights, 'patch asia'], listed(waiting));
  const { text } = await approver.get('/approvals');
  assert.deepEqual(chosen(text), ['eu/web', 'us/web']);
  assert.match(text, /Choose all 2/);
  assert.match((await approver.get('/')).text, /Approve all/);
  const some = (await approver.submit('/approvals/confirm', [...Object.entries(everything), ...choices])).text;
  assert.deepEqual(chosen(some), ['eu/web', 'us/web']);
  assert.match(some, /asia\/web.*you have no permission/s);
});

test('the page of a base has only buttons that the user may use', async (t) => {
  const page = '/bases/platform/java';
  const buttons = (text: string) => [...text.matchAll(/class="button" href="\/bases\/platform\/java\/(\w+)"/g)].map(([, name]) => name);
  const reader = await signIn(t, ['patch platform', 'approve platform'], listed([]));
  const read = (await reader.get(page)).text;
  assert.deepEqual(buttons(read), []);
  assert.match(read, /Read-only: you have no permission/);
  assert.doesNotMatch((await reader.get(`${page}/approve`)).text, /method="post" action="\/bases/);
  const approver = await signIn(t, ['patch baseimagepolicies platform', 'approve baseimagepolicies platform'], listed([]));
  assert.deepEqual(buttons((await approver.get(page)).text), ['approve', 'reject', 'check']);
  assert.deepEqual(buttons((await approver.get('/approvals')).text), ['approve', 'reject']);
  assert.match((await approver.get(`${page}/suspend`)).text, /you have no permission/);
});

test('the first page offers the step of a cause only to users who may do it, also if users share a reading', async (t) => {
  const step = /class="button" href="\/policies\/eu\/api\/check"/;
  const policies = listed([failing]);
  const users: Readonly<Record<string, readonly string[]>> = { anns: ['patch eu'], bobs: [] };
  const see = ['list *', 'get *'];
  const dashboard = openDashboard(t, {
    auth: {
      kind: 'kubernetes',
      reviewToken: (token) => Promise.resolve(token in users ? { user: token, groups: [] } : undefined),
      reviewAccess: ({ user }, { verb, namespace = '*' }) =>
        Promise.resolve([...see, ...(users[user] ?? [])].includes(`${verb} ${namespace}`)),
    },
    identification: sessions,
    policies,
  });
  const cookiesOf = new Map<string, string>();
  for (const user of Object.keys(users)) {
    await dashboard.submit('/sign-in', { token: user });
    cookiesOf.set(user, [...dashboard.cookies].map(([name, value]) => `${name}=${value}`).join('; '));
  }
  dashboard.cookies.clear();
  const read = async (page: string, user: string) =>
    (await dashboard.get(page, { cookie: cookiesOf.get(user) ?? '', 'x-regular': '1' })).text;
  for (const page of ['/', '/live/'])
    assert.deepEqual(
      [step.test(await read(page, 'anns')), step.test(await read(page, 'bobs')), step.test(await read(page, 'anns'))],
      [true, false, true],
      page,
    );
});
