import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readPolicy } from '../../../src/service/resources/read-policy.ts';
import type { ReadContext } from '../../../src/service/resources/read-spec.ts';
import { isUsable } from '../../../src/core/model/image-policy.ts';

const context: ReadContext = { aliases: new Map(), customTargets: [], olderVersions: [] };

test('a policy that asks for several approvers is used only where their names are verified', () => {
  const approvals = { count: 3, within: '1h', notByAuthor: true };
  const raw = {
    metadata: {
      namespace: 'shop',
      name: 'web',
      uid: 'a',
      resourceVersion: '1',
      generation: 1,
      annotations: { 'operator.technomad.dev/last-edited-by': 'ada' },
    },
    spec: {
      image: 'registry.example.com/shop/web',
      select: { semver: {} },
      targets: [{ kind: 'Deployment', name: 'web' }],
      update: { mode: 'Approval', approvals },
    },
  };
  const { spec, editedBy } = readPolicy(raw, { ...context, verifiesApprovers: true });
  assert.ok(isUsable(spec));
  assert.deepEqual([spec.approvals, editedBy], [{ count: 3, withinMs: 3_600_000, notByAuthor: true }, 'ada']);
  for (const unverified of [context, { ...context, verifiesApprovers: false }]) {
    const { spec: refused } = readPolicy(raw, unverified);
    assert.ok('problem' in refused);
    assert.equal(refused.problem.reason, 'ApproversUnverified');
    assert.match(refused.problem.message, /cannot know who approves: install the admission policy of the chart/);
  }
});
