/** Which versions of a base the API compares for an approval. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createBaseOrigins } from '../../../src/bases/api/base-origins.ts';
import { baseSourceOf } from '../../../src/bases/policies/select-base.ts';
import type { BaseStatus } from '../../../src/core/model/base-status.ts';
import { digestOf } from '../../core/model/samples.ts';
import { basePolicyOf, java, newJava } from './sample-bases.ts';
import { start } from './start-bases.ts';

const { tag, digest } = newJava;
const pendingApproval = { tag, digest };
const entry = (letter: string, result: 'Selected' | 'Rejected' = 'Selected') => ({
  tag: `21.0.${letter}`,
  digest: digestOf(letter),
  selectedAt: '2026-03-01T09:00:00Z',
  requested: 0,
  updated: 0,
  failed: 0,
  result,
});

function ask(status: BaseStatus, { spec = {}, mayUse = true }: { spec?: object; mayUse?: boolean } = {}) {
  const asked: string[] = [];
  const find = (source: { readonly path: string }, reference: string) => {
    asked.push(`${source.path} ${reference}`);
    return { repository: 'https://github.com/platform/java' };
  };
  const originsOf = createBaseOrigins(
    { find },
    (policy) => baseSourceOf(policy, { sourceOf: (_, base) => base.repository }),
    () => mayUse,
  );
  const found = originsOf(basePolicyOf({ name: 'java', image: java, spec: { mode: 'Approval', ...spec }, status }));
  return { found: Object.keys(found), asked };
}

test('a base that waits for approval is compared with the base selected before, and not with a rejected one', () => {
  const history = [entry('b'), entry('d', 'Rejected'), entry('a')];
  const { found, asked } = ask({ pendingApproval, history });
  assert.deepEqual(found, ['now', 'before']);
  assert.deepEqual(asked, [`library/base-java ${digest}`, `library/base-java ${digestOf('a')}`]);
  assert.deepEqual(ask({ pendingApproval, history: [entry('b')] }).found, ['now']);
});

test('the origin of a base is not read if no base waits, the policy is unusable or its registry is not allowed', () => {
  for (const [status, more] of [
    [{ history: [entry('b'), entry('a')] }, {}],
    [{ pendingApproval }, { spec: { select: {} } }],
    [{ pendingApproval }, { mayUse: false }],
  ] as const)
    assert.deepEqual(ask(status, more), { found: [], asked: [] });
});

test('the API shows the commits between two bases in the list of bases and in the answer about one base', async (t) => {
  const { get } = start(t);
  const { body } = await get('/bases/platform/framework');
  assert.deepEqual(
    body.changes?.links.map(({ kind, host }) => `${kind} ${host}`),
    ['changes github.com', 'releases github.com'],
  );
  const list = await get('/bases');
  assert.deepEqual(list.body.bases.find(({ name }) => name === 'framework')?.changes, body.changes);
  assert.equal((await get('/bases/platform/java')).body.changes, undefined);
});
