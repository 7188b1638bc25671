/** What the commands say that a request has done, at a real API server. */
import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { lastEditedByAnnotation } from '../../src/core/model/named-approvals.ts';
import { holdAnnotation } from '../../src/core/model/named-hold.ts';
import { holdOn } from '../../src/core/model/promotion.ts';
import { readActions, readRequest } from '../../src/core/model/policy-actions.ts';
import { runCommand } from './run-command.ts';
import { at, condition, startCliWorld, statusOf, type CliWorld } from './cluster-world.ts';

let world: CliWorld;
before(async () => void (world = await startCliWorld()));
after(() => world.stop());

it('release does not claim that nothing was held when it ends a wait after too many retries', async () => {
  await world.create('web');
  const message = '1.4.0 on Deployment shop/web failed 4 times; release it';
  await world.report(
    'web',
    statusOf(
      world,
      'web',
      { runs: '1.3.0', latest: '1.4.0' },
      condition('Ready', 'False', 'RetriesExhausted', message),
      condition('Stalled', 'True', 'RetriesExhausted', message),
    ),
  );
  const { out } = await runCommand('release', ['web', '--kubeconfig', world.kubeconfig]);
  assert.doesNotMatch(out, /nothing was held/);
});

it('release says that it ends a hold while nothing waits, also one that another clock has dated, and which hold it does not end', async () => {
  const holdOf = async (name: string, hold: string) => {
    await world.create(name);
    await world.cluster.request('PATCH', world.pathOf(name), { metadata: { annotations: { [holdAnnotation]: hold } } });
    const { out } = await runCommand('release', [name, '--kubeconfig', world.kubeconfig]);
    const { metadata } = (await world.cluster.request('GET', world.pathOf(name))) as { metadata: { annotations: object } };
    return { out, keeps: holdOn({}, readActions({ ...metadata.annotations }), new Date(Date.now() + 60_000)) !== undefined };
  };
  const past = await holdOf('held-past', '2026-03-01T12:00:00Z ada@example.com\nsale');
  assert.match(
    past.out,
    /^released \S+\/held-past, which was on hold \(since 2026-03-01T12:00:00\.000Z by ada@example\.com: sale\); .* is applied unless /,
  );
  assert.equal(past.keeps, false);
  const ahead = await holdOf('held-ahead', `${new Date(Date.now() + 30_000).toISOString()} ada@example.com`);
  assert.match(ahead.out, /^released /);
  assert.equal(ahead.keeps, false);
  for (const [name, text] of [
    ['held-text', 'sale'],
    ['held-far', '2999-01-01T00:00:00Z ada@example.com'],
  ] as const) {
    const { out, keeps } = await holdOf(name, text);
    assert.match(out, /^nothing was held: .* it stays on hold \(.*\): remove the annotation operator\.technomad\.dev\/hold/);
    assert.equal(keeps, true);
  }
});

it('release writes the user, as the API server knows the caller, and the reason of the request', async () => {
  await world.create('named');
  await runCommand('release', ['named', '--kubeconfig', world.kubeconfig, '--reason', 'the hotfix is in 1.4.1']);
  const { metadata } = (await world.cluster.request('GET', world.pathOf('named'))) as { metadata: { annotations?: object } };
  const requested = readRequest({ ...metadata.annotations });
  assert.deepEqual({ ...requested, user: undefined }, { action: 'release', user: undefined, reason: 'the hotfix is in 1.4.1' });
  const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' };
  const answer = await world.cluster.request('POST', '/apis/authentication.k8s.io/v1/selfsubjectreviews', review);
  assert.equal(requested?.user, (answer as { status: { userInfo: { username: string } } }).status.userInfo.username);
});

it('rollback does not report an earlier rollback as its own result if it changes nothing, and says why', async () => {
  await world.create('api');
  const first = {
    kind: 'Deployment',
    namespace: world.namespace,
    name: 'api',
    container: 'c0',
    from: 'harbor.example.com/shop/api:1.4.0',
    to: 'harbor.example.com/shop/api:1.3.0',
    tag: '1.3.0',
    trigger: 'Rollback',
    at,
    result: 'Applied',
  } as const;
  const status = { ...statusOf(world, 'api', { runs: '1.3.0', latest: '1.4.0' }, condition('Ready', 'True', 'Held')), history: [first] };
  await world.report('api', status);
  const problem = 'nothing was rolled back: all targets run 1.3.0 already';
  const answer = async () => {
    for (;;) {
      const { metadata } = (await world.cluster.request('GET', world.pathOf('api'))) as {
        metadata: { annotations?: Record<string, string> };
      };
      const asked = metadata.annotations?.['operator.technomad.dev/rollback-to'];
      // As the service answers where there is no earlier image.
      if (asked !== undefined) return world.report('api', { ...status, lastHandledRollback: asked, lastRollbackProblem: problem });
    }
  };
  const [{ code, err }] = await Promise.all([runCommand('rollback', ['api', '--kubeconfig', world.kubeconfig]), answer()]);
  assert.equal(code, 1);
  assert.ok(err.endsWith(`${problem}\n`), err);
});

const suspended = { suspend: true };

it('rollback asks for nothing while the policy is suspended, also by its parent, and says so at once', async () => {
  await world.create('off', suspended);
  await world.create('child');
  const message = 'its BaseImagePolicy shop/java is suspended';
  const { conditions } = statusOf(world, 'child', { runs: '1.3.0', latest: '1.4.0' }, condition('Ready', 'True', 'Suspended', message));
  await world.report('child', { conditions: conditions ?? [], observedGeneration: 1 });
  for (const [name, why] of [
    ['off', 'it is suspended, and has to be resumed first'],
    ['child', message],
  ] as const) {
    const { code, err } = await runCommand('rollback', [name, '--kubeconfig', world.kubeconfig]);
    assert.deepEqual([code, err], [1, `nothing was rolled back: ${why}\n`]);
    const { metadata } = (await world.cluster.request('GET', world.pathOf(name))) as { metadata: { annotations?: object } };
    assert.equal(metadata.annotations, undefined);
  }
});

it('release does not claim that nothing was held while the policy is suspended, because it counts when the policy is resumed', async () => {
  await world.create('paused', suspended);
  const { out } = await runCommand('release', ['paused', '--kubeconfig', world.kubeconfig]);
  assert.match(out, /^what has held \S+\/paused until now is released when it goes on: it is suspended/);
});

it('reject names the commands for what is applied already if nothing waits for approval', async () => {
  await world.create('between-waves');
  const { code, err } = await runCommand('reject', ['between-waves', '--kubeconfig', world.kubeconfig]);
  const key = `${world.namespace}/between-waves`;
  assert.equal(code, 1);
  assert.match(err, new RegExp(`^nothing was rejected: no image is pending for ${key}\n"image-watcher rollback ${key}" takes back`));
});

it('approve does not count a person twice, nor the author of the policy where that must not be, and says so as the API does', async () => {
  const digest = `sha256:${'b'.repeat(64)}`;
  const pendingApproval = { tag: '1.4.0', digest };
  const { cluster } = world;
  const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' };
  const { status } = await cluster.request<{ status: { userInfo: { username: string } } }>(
    'POST',
    '/apis/authentication.k8s.io/v1/selfsubjectreviews',
    review,
  );
  const user = status.userInfo.username;
  const approve = async (name: string, notByAuthor: boolean, given: { user: string; at: string; seenAt: string }[]) => {
    await world.create(name, { update: { mode: 'Approval', approvals: { count: 2, notByAuthor } } });
    await cluster.request('PATCH', world.pathOf(name), { metadata: { annotations: { [lastEditedByAnnotation]: user } } });
    await world.report(name, { pendingApproval, approvals: { ...pendingApproval, since: at, generation: 1, required: 2, given } });
    const { code, err } = await runCommand('approve', [name, '--kubeconfig', world.kubeconfig]);
    return { code, err };
  };
  assert.deepEqual(await approve('twice', false, [{ user, at, seenAt: at }]), {
    code: 1,
    err: `nothing was approved: you have approved it at ${at}, and each person counts once\n`,
  });
  const own = await approve('author', true, []);
  assert.deepEqual([own.code, own.err.startsWith('nothing was approved: you have changed the policy last')], [1, true]);
  assert.deepEqual(await approve('first', false, [{ user: 'somebody', at, seenAt: at }]), { code: 0, err: '' });
});
