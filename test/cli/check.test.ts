/** check on a real API server, whose policies a test reports on in the place of the service. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { PolicyStatus } from '../../src/core/model/policy-status.ts';
import { waitFor } from '../harness/wait-for.ts';
import { at, condition, createPolicies, startCliWorld, statusOf, type CliWorld } from './cluster-world.ts';
import { runCommand } from './run-command.ts';

describe('a check of a policy', () => {
  let world: CliWorld;
  before(async () => {
    world = await startCliWorld();
    await createPolicies(world);
  });
  after(() => world.stop());

  const run = (command: string, args: readonly string[]) => runCommand(command, [...args, '--kubeconfig', world.kubeconfig]);

  describe('check', () => {
    const change = {
      kind: 'Deployment',
      name: 'api',
      container: 'c0',
      from: 'a:1.0.0',
      to: 'a:1.1.0',
      tag: '1.1.0',
      trigger: 'Request',
    } as const;
    const readRequest = (previous?: string) =>
      waitFor('the request', async () => {
        const { metadata } = await world.cluster.request<{ metadata: { annotations?: Record<string, string> } }>(
          'GET',
          world.pathOf('api'),
        );
        const request = metadata.annotations?.['operator.technomad.dev/requested-at'];
        return request !== previous && request;
      });
    const tags = { runs: '1.1.0', latest: '1.1.0' };
    const rolling = [
      condition('Ready', 'False', 'Progressing', 'the rollout of a:1.1.0 has 1 of 3 pods'),
      condition('Reconciling', 'True', 'Progressing', 'the rollout of a:1.1.0 has 1 of 3 pods'),
    ];
    const rollingStatus = (request: string, when: string): PolicyStatus => ({
      ...statusOf(world, 'api', tags, ...rolling),
      lastHandledRequest: request,
      history: [{ ...change, namespace: world.namespace, at: when, result: 'Applied' }],
    });

    it('ends with 0 while an update is rolling out, and reports that', async () => {
      for (const [when, says] of [
        ['2026-03-01T12:00:00Z', /^changed from a:1\.0\.0 to a:1\.1\.0, the rollout is in progress: check --wait waits until it is over$/m],
        ['2026-03-01T12:00:00Z', /^a rollout is in progress: check --wait/m],
      ] as const) {
        const previous = await lastRequest();
        const checking = run('check', ['api', '--timeout', '60s']);
        await world.report('api', rollingStatus(await readRequest(previous), when));
        const { code, out, err } = await checking;
        assert.equal(code, 0, out + err);
        assert.match(out, says);
      }
    });

    for (const [how, { after, expected, says, timeout = '60s' }] of Object.entries({
      '0 when the policy is Ready': { after: [condition('Ready', 'True', 'UpToDate', 'done')], expected: 0, says: /Ready: True/ },
      '1 when it is Stalled': {
        after: [condition('Ready', 'False', 'RolloutFailed'), condition('Stalled', 'True', 'RolloutFailed')],
        expected: 1,
        says: /Stalled: True, RolloutFailed/,
      },
      '1 when the time is over': { after: rolling, expected: 1, says: /is neither Ready nor Stalled after 5s/, timeout: '5s' },
    }))
      it(`--wait ends with ${how}`, async () => {
        const previous = await lastRequest();
        const checking = run('check', ['api', '--wait', '--timeout', timeout]);
        const request = await readRequest(previous);
        const started = rollingStatus(request, at);
        await world.report('api', started);
        await world.report('api', { ...started, conditions: after });
        const { code, out, err } = await checking;
        assert.equal(code, expected, out + err);
        assert.match(out + err, says);
        assert.doesNotMatch(out, /the rollout is in progress:/);
      });

    const lastRequest = async () => {
      const { metadata } = await world.cluster.request<{ metadata: { annotations?: Record<string, string> } }>('GET', world.pathOf('api'));
      return metadata.annotations?.['operator.technomad.dev/requested-at'];
    };

    it('waits until the request has been handled, and reports the result', async () => {
      const previous = await lastRequest();
      const checking = run('check', ['api', '--timeout', '60s']);
      const requested = await readRequest(previous);

      const status = statusOf(world, 'api', { runs: '1.0.0', latest: '1.0.0' }, condition('Ready', 'True', 'UpToDate', 'all is well'));
      await world.report('api', { ...status, lastHandledRequest: requested });
      const { code, out, err } = await checking;
      assert.equal(code, 0);
      assert.match(out, /^selected: 1\.0\.0\nReady: True, UpToDate: all is well\n/);
      assert.match(err, /^waiting for image-watcher …\n/);
    });

    it('--no-wait only requests, and a timeout says what to look at', async () => {
      const { code, out } = await run('check', ['api', '--no-wait']);
      assert.deepEqual([code, out], [0, `requested a check of ${world.namespace}/api\n`]);
      const late = await run('check', ['api', '--timeout', '0s']);
      assert.equal(late.code, 1);
      assert.match(late.err, /no answer in 0s: see "kubectl -n \S+ describe imagepolicy\S*\/api"/);
    });
  });
});
