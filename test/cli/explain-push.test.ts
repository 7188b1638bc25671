/** `explain --push` against a real API server: what its first sentence says of each kind of push. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { PolicyStatus } from '../../src/core/model/policy-status.ts';
import { tempFolder } from '../harness/temp-folder.ts';
import { condition, startCliWorld, statusOf, type CliWorld } from './cluster-world.ts';
import { runCommand } from './run-command.ts';

const digest = (letter: string) => `sha256:${letter.repeat(64)}`;
const nothing = 'would change nothing';
const unasked = /^whether the registry has it is not known: explain asks only the API server$/m;

interface Row {
  readonly how: string;
  readonly policy: string;
  readonly push: string;
  readonly says: string;
  readonly code: number;
  readonly isKnown?: boolean;
}

describe('explain --push', () => {
  let world: CliWorld;
  const repository = (name: string) => `harbor.example.com/shop/${name}`;
  const create = async (name: string, spec: object, runs: string, status: Partial<PolicyStatus> = {}) => {
    await world.create(name, spec);
    await world.deploy(name, `${repository(name)}:${runs}`);
    const [tag = ''] = runs.split('@');
    const reported = statusOf(world, name, { runs: tag, latest: tag }, condition('Ready', 'True', 'UpToDate'));
    await world.report(name, { ...reported, ...status });
  };
  before(async () => {
    world = await startCliWorld();
    const latest = { tag: 'main', digest: digest('a'), selectedAt: '2026-03-01T12:00:00Z' };
    await Promise.all([
      create('web', {}, '1.4.0'),
      create('slow', { minAge: '8h' }, '1.4.0'),
      create('queued', { minAge: '8h' }, '1.4.0', {
        waiting: { tag: '1.5.0', digest: digest('c'), since: '2036-03-01T12:00:00Z', until: '2036-03-01T20:00:00Z', reason: 'MinAge' },
      }),
      create('asks', { update: { mode: 'Approval' } }, '1.4.0'),
      create('branch', { select: { digest: { tag: 'main' } } }, `main@${digest('a')}`, { latest }),
      create('newest', { select: { newest: {} } }, 'build-a'),
      create('both', { update: { allowDowngrade: true } }, '1.4.0'),
      create('off', { suspend: true }, '1.4.0'),
      world.create('lost'),
    ]);
  });
  after(() => world.stop());

  const explain = (policy: string, push: string, ...args: string[]) =>
    runCommand('explain', [policy, '--push', `${repository(policy)}:${push}`, '--kubeconfig', world.kubeconfig, ...args]);

  const rows: readonly Row[] = [
    { how: 'newer', policy: 'web', push: '1.5.0', says: 'would change 1 container', code: 0 },
    { how: 'older', policy: 'web', push: '1.3.0', says: `${nothing}: 1.3.0 is older than 1.4.0, which runs`, code: 1 },
    { how: 'equal', policy: 'web', push: '1.4.0', says: `${nothing}: c0 already runs 1.4.0`, code: 0, isKnown: true },
    { how: 'equal by its build', policy: 'web', push: '1.4.0_1', says: `${nothing}: "1.4.0_1" is not a semantic version`, code: 1 },
    { how: 'not a semantic version', policy: 'web', push: 'main', says: `${nothing}: "main" is not a semantic version`, code: 1 },
    { how: 'without a target', policy: 'lost', push: '1.0.0', says: `${nothing}: Deployment NS/lost does not exist`, code: 1 },
    { how: 'of a suspended policy', policy: 'off', push: '1.5.0', says: `${nothing}: suspended: `, code: 1 },
    {
      how: 'too young for minAge',
      policy: 'slow',
      push: '1.5.0',
      says: 'would change nothing until its digest has been known for 8h (minAge)',
      code: 1,
    },
    {
      how: 'newer than the pending one',
      policy: 'queued',
      push: '1.6.0',
      says: `${nothing} before 1.5.0, which is pending until 2036-03-01T20:00:00Z (minAge)`,
      code: 1,
    },
    { how: 'in need of approval', policy: 'asks', push: '1.5.0', says: `${nothing}: ApprovalRequired: `, code: 1 },
    {
      how: 'of a mutable tag without its digest',
      policy: 'branch',
      push: 'main',
      says: 'changes something only if its digest is another one than that of the running image: add it to --push as @sha256:…',
      code: 1,
    },
    {
      how: 'of a mutable tag with another digest',
      policy: 'branch',
      push: `main@${digest('b')}`,
      says: 'would change 1 container',
      code: 0,
    },
    {
      how: 'of a mutable tag with the same digest',
      policy: 'branch',
      push: `main@${digest('a')}`,
      says: `${nothing}: c0 already runs main`,
      code: 0,
      isKnown: true,
    },
    {
      how: 'selected by its creation time',
      policy: 'newest',
      push: 'build-b',
      says: 'changes something only if its image was created later than the running one, which only the registry knows',
      code: 1,
    },
    {
      how: 'older, where the policy may downgrade',
      policy: 'both',
      push: '1.3.0',
      says: `${nothing}: the policy selects 1.4.0, and 1.3.0 only if the registry has nothing better`,
      code: 1,
    },
  ];
  for (const { how, policy, push, says, code, isKnown = false } of rows)
    it(`reports the effect of a push that is ${how}`, async () => {
      const { out, ...ran } = await explain(policy, push);
      const [first = ''] = out.split('\n');
      const expected = `a push of ${push} ${says}`.replace('NS', world.namespace);
      assert.ok(first.startsWith(expected), `${first}\n${expected}`);
      assert.doesNotMatch(out, / selects the |not selected: /);
      assert.deepEqual([ran.code, ran.err], [code, ''], out);
      const isChecked = !/is not a semantic|suspended|only if the registry/.test(first);
      assert.equal(unasked.test(out), isChecked && !isKnown, out);
      assert.equal(/nothing is in the way/.test(out), says.startsWith('would change 1'), out);
      const json = JSON.parse((await explain(policy, push, '-o', 'json')).out) as { summary: string };
      assert.equal(json.summary, first);
    });

  it('reports that a push to another repository would change nothing', async () => {
    const args = ['web', '--push', 'harbor.example.com/shop/api:1.0.0', '--kubeconfig', world.kubeconfig];
    const { out } = await runCommand('explain', args);
    assert.match(
      out,
      /^a push of 1\.0\.0 would change nothing: the policy watches harbor\.example\.com\/shop\/web, not harbor\.example\.com\/shop\/api\n/,
    );
  });

  it('reports that a push would change nothing in a namespace that is not selected', async () => {
    const file = join(tempFolder('config'), 'config.yaml');
    writeFileSync(file, JSON.stringify({ watch: { namespaceSelector: { matchLabels: { watched: 'yes' } } } }));
    assert.match((await explain('web', '1.5.0', '--config', file)).out, /^a push of 1\.5\.0 would change nothing: NamespaceNotSelected: /);
  });

  it('is not needed to see in explain and diff that an image is too young to be applied', async () => {
    const until = '2036-03-01T20:00:00Z';
    const latest = { tag: '1.5.0', digest: digest('c'), selectedAt: '2036-03-01T12:00:00Z' };
    await create('young', { minAge: '8h' }, '1.4.0', {
      latest,
      waiting: { tag: '1.5.0', digest: digest('c'), since: '2036-03-01T12:00:00Z', until, reason: 'MinAge' },
    });
    const explained = await runCommand('explain', ['young', '--kubeconfig', world.kubeconfig]);
    assert.deepEqual(
      [explained.code, /^ {2}… minAge +MinAge: 8h: 1\.5\.0 is pending until 2036-03-01T20:00:00Z \(policy\)$/m.test(explained.out)],
      [1, true],
      explained.out,
    );
    const differs = await runCommand('diff', ['young', '--kubeconfig', world.kubeconfig]);
    assert.equal(differs.code, 0, differs.out);
    assert.match(differs.out, /^# Deployment .*young c0 stays at .*:1\.4\.0: MinAge: 1\.5\.0 is pending until 2036-03-01T20:00:00Z$/m);
  });
});
