/** Which images are changed together, on the pages of a policy, of approvals and of confirmations, in the API, and in what the command says. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeStatus } from '../../src/cli/describe-status.ts';
import type { PolicyStatus } from '../../src/core/model/policy-status.ts';
import { createPendingOrigins } from '../../src/service/api/pending-origins.ts';
import { summarize } from '../../src/service/api/policy-view.ts';
import { appliedOnce, digestOf, noAliases, policyOf, specOf } from '../core/model/samples.ts';
import { openDashboard } from './start-dashboard.ts';

const own = 'registry.example.com/shop/web';
const proxy = 'registry.example.com/shop/proxy';
const [a, b, set] = [digestOf('a'), digestOf('b'), digestOf('c')];
const spec = specOf({
  mode: 'Approval',
  alongside: { images: [{ repository: { registry: 'registry.example.com', path: 'shop/proxy' } }], match: 'SameTag', withinMs: 1_000 },
});
const latest = {
  tag: '1.3.0',
  digest: a,
  setDigest: set,
  selectedAt: '2026-03-01T12:00:00Z',
  companions: [{ image: proxy, tag: '1.3.0', digest: b }],
};
const pendingApproval = { tag: '1.3.0', digest: set, images: [`${own}@${a}`, `${proxy}@${b}`] };
const conditions: PolicyStatus['conditions'] = [
  { type: 'ApprovalRequired', status: 'True', reason: 'ApprovalRequired', message: '', lastTransitionTime: '2026-03-01T11:00:00Z' },
];
const textOf = (html: string) => html.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ');
const together = `Changed together:? ${own} ${a} ${proxy} ${b} `;

test('the pages about approvals name every image of a set that waits', async (t) => {
  const policy = policyOf({ spec, status: { latest, pendingApproval, conditions } });
  const { get, submit } = openDashboard(t, { policies: { all: () => [policy], find: () => policy } });
  for (const path of ['/policies/shop/web', '/policies/shop/web/approve', '/policies/shop/web/reject', '/approvals'])
    assert.match(textOf((await get(path)).text), new RegExp(together), path);
  const confirmed = async (digest: string) =>
    textOf((await submit('/approvals/confirm', { decision: 'approve', choice: `shop/web 1.3.0 ${digest}` })).text);
  assert.match(await confirmed(set), new RegExp(`${set} ${own} ${a} ${proxy} ${b} `));
  assert.ok(!(await confirmed(digestOf('d'))).includes(proxy), 'another set was chosen than the one that waits');
});

test('the page of a policy names the companions of the selected image, and those that were changed with it', async (t) => {
  const alongside = [{ container: 'proxy', from: `${proxy}:1.2.3`, to: `${proxy}:1.3.0` }];
  const status = { latest, history: appliedOnce('1.3.0').map((one) => ({ ...one, alongside })) };
  const policy = policyOf({ spec, status });
  const { get } = openDashboard(t, { policies: { all: () => [policy], find: () => policy } });
  const text = textOf((await get('/policies/shop/web')).text);
  assert.match(text, new RegExp(`Changed together ${proxy}:1\\.3\\.0 `));
  assert.match(text, new RegExp(`\\(proxy\\): ${proxy}:1\\.2\\.3 → ${proxy}:1\\.3\\.0`));
});

test('the API lists the companions of a policy, of its selected image and of the image that waits', () => {
  const shown = summarize(policyOf({ spec, status: { latest, pendingApproval } }));
  assert.deepEqual([shown.alongside, shown.latest?.companions, shown.pendingApproval], [[proxy], latest.companions, pendingApproval]);
  const alone = summarize(policyOf({ status: { latest: { tag: '1.3.0', digest: a, selectedAt: latest.selectedAt } } }));
  assert.deepEqual([alone.alongside, alone.latest], [undefined, { tag: '1.3.0', digest: a }]);
});

test('the command get names the companions of the selected image and of the image that waits', () => {
  assert.deepEqual(describeStatus({ latest, pendingApproval }), [
    `selected: 1.3.0@${a} with ${proxy}:1.3.0@${b}`,
    `waits for approval: ${own}@${a}`,
    `waits for approval: ${proxy}@${b}`,
  ]);
});

test('the commits of a waiting set are those of its own image, and not of the digest of the set', () => {
  const asked: string[] = [];
  const originsOf = createPendingOrigins({
    find: ({ path }, reference) => void asked.push(`${path} ${reference}`),
    sourceOf: (_, { repository }) => repository,
    mayUseRegistry: undefined,
    aliases: noAliases,
  });
  const target = { kind: 'Deployment', namespace: 'shop', name: 'web', container: 'web', state: 'Kept' } as const;
  originsOf(policyOf({ spec, status: { pendingApproval, targets: [{ ...target, image: `${own}:1.2.3@${digestOf('e')}` }] } }));
  assert.deepEqual(asked, [`shop/web ${a}`, `shop/web ${digestOf('e')}`]);
  asked.length = 0;
  // Where the own image runs already, and a companion waits, there is nothing to compare.
  originsOf(policyOf({ spec, status: { pendingApproval, targets: [{ ...target, image: `${own}:1.3.0@${a}` }] } }));
  assert.deepEqual(asked, [`shop/web ${a}`]);
});
