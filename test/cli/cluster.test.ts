/** Commands against a real API server: which policy is meant, what is said when something is wrong, and what the actions report. */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { execFile } from 'node:child_process';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import type { Condition, PolicyStatus } from '../../src/core/model/policy-status.ts';
import { installCrd } from '../service/resources/install-crd.ts';
import { borrowControlPlane } from '../harness/control-plane.ts';
import { mainProgram } from '../harness/program.ts';
import { kubeconfigWithGrants } from '../harness/service-account.ts';
import { tempFolder } from '../harness/temp-folder.ts';
import { waitFor } from '../harness/wait-for.ts';
import { writeKubeconfig } from '../service/kube/fake-api-server.ts';
import { at, condition, createPolicies, startCliWorld, withNamespace, type CliWorld } from './cluster-world.ts';
import { runCommand } from './run-command.ts';

const crdPath = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/imagepolicies.operator.technomad.dev';
describe('commands on a cluster', () => {
  let world: CliWorld;
  before(async () => {
    world = await startCliWorld();
    await createPolicies(world);
  });
  after(() => world.stop());

  const run = (command: string, args: readonly string[], kubeconfig = world.kubeconfig) =>
    runCommand(command, [...args, '--kubeconfig', kubeconfig]);

  describe('the name of a policy', () => {
    for (const [how, args] of [
      ['NAME, in the namespace of the kubeconfig', ['web']],
      ['ipol/NAME', ['ipol/web']],
      ['imagepolicy/NAME', ['imagepolicy/web']],
      ['imagepolicies.operator.technomad.dev/NAME', ['imagepolicies.operator.technomad.dev/web']],
      ['NAMESPACE/NAME', ['NAMESPACE/web']],
      ['-n NAMESPACE NAME', ['-n', 'NAMESPACE', 'web']],
    ] as const)
      it(`may be given as ${how}`, async () => {
        const isElsewhere = args.some((word) => word.includes('NAMESPACE'));
        const kubeconfig = isElsewhere ? withNamespace(world.kubeconfig, 'default') : world.kubeconfig;
        const words = args.map((word) => word.replace('NAMESPACE', world.namespace));
        for (const command of ['get', 'explain', 'diff', 'suspend', 'resume']) {
          const { code, err } = await run(command, words, kubeconfig);
          assert.deepEqual([command, err], [command, '']);
          assert.equal(code, command === 'explain' ? 1 : 0, 'there is no Deployment');
        }
      });
  });

  describe('the message of an error', () => {
    it('names a policy that does not exist', async () => {
      for (const command of ['get', 'explain', 'suspend', 'release', 'check', 'rollback', 'approve']) {
        const { code, out, err } = await run(command, ['wbe']);
        assert.deepEqual([code, out, err], [1, '', `there is no ImagePolicy ${world.namespace}/wbe; did you mean "web"?\n`], command);
      }
      const { err } = await run('get', ['something']);
      assert.equal(err, `there is no ImagePolicy ${world.namespace}/something: the namespace has api, held, web\n`);
      const empty = await run('get', ['default/web']);
      assert.equal(
        empty.err,
        'there is no ImagePolicy default/web: the namespace default has no policies; choose another one with --namespace\n',
      );
      assert.equal((await run('diff', ['wbe'])).code, 2, 'as kubectl diff');
    });

    it('names a permission that is missing', async () => {
      const { namespace, cluster } = world;
      const kubeconfig = await kubeconfigWithGrants(cluster, { name: 'reader', namespace }, [
        { namespace, rules: [{ apiGroups: ['operator.technomad.dev'], resources: ['imagepolicies'], verbs: ['get'] }] },
      ]);
      const user = `system:serviceaccount:${namespace}:reader`;
      const ask = 'ask an administrator for this permission\n';
      for (const [command, args, err] of [
        ['suspend', [`${namespace}/web`], `${user} may not patch imagepolicies in the namespace ${namespace}: ${ask}`],
        ['get', ['-n', namespace], `${user} may not list imagepolicies in the namespace ${namespace}: ${ask}`],
        ['get', ['-A'], `${user} may not list imagepolicies in all namespaces: ${ask}`],
        ['explain', [`${namespace}/web`], `${user} may not get deployments in the namespace ${namespace}: ${ask}`],
        ['get', [`${namespace}/wbe`], `there is no ImagePolicy ${namespace}/wbe\n`],
      ] as const)
        assert.deepEqual(await run(command, args, kubeconfig).then(({ code, err }) => [code, err]), [1, err]);
    });

    it('says that a token is not accepted', async () => {
      const kubeconfig = writeKubeconfig(world.cluster.server, { token: 'wrong' });
      const { code, err } = await run('get', [], kubeconfig);
      assert.deepEqual(
        [code, err],
        [1, 'the API server does not accept the credentials of the kubeconfig: log in again, or choose another --context\n'],
      );
    });

    it('says that an API server cannot be reached', async () => {
      const server = createServer();
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      const { port } = server.address() as AddressInfo;
      await new Promise((resolve) => server.close(resolve));
      const { code, err } = await run('get', [], writeKubeconfig(`https://127.0.0.1:${port}`, {}));
      assert.equal(code, 1);
      assert.equal(
        err,
        `the API server cannot be reached: connect ECONNREFUSED 127.0.0.1:${port}: does it run, and is it the right --context?\n`,
      );
    });

    it('names a kubeconfig or context that does not exist', async () => {
      const missing = await run('get', [], '/does/not/exist');
      assert.deepEqual(
        [missing.code, missing.err],
        [1, 'the kubeconfig /does/not/exist does not exist: name another one with --kubeconfig or the variable KUBECONFIG\n'],
      );
      const { code, err } = await run('get', ['--context', 'prod']);
      assert.deepEqual([code, err], [1, 'the kubeconfig has no context "prod"; it has image-watcher-test\n']);
    });

    it('says how to name a kubeconfig if there is none', async () => {
      const env = { PATH: process.env['PATH'] ?? '', HOME: tempFolder('home') };
      await assert.rejects(promisify(execFile)(process.execPath, [await mainProgram(), 'get'], { env }), {
        code: 1,
        stdout: '',
        stderr: 'there is no kubeconfig: name one with --kubeconfig or the variable KUBECONFIG, or write it to ~/.kube/config\n',
      });
    });

    it('says that a cluster has no definition', async () => {
      const emptyCluster = await borrowControlPlane();
      try {
        for (const [command, code] of [
          ['get', 1],
          ['diff', 2],
          ['explain', 1],
          ['suspend', 1],
        ] as const) {
          const ran = await run(command, command === 'get' || command === 'diff' ? [] : ['web'], emptyCluster.kubeconfigPath);
          assert.deepEqual(
            [command, ran.code, ran.err],
            [
              command,
              code,
              'the cluster has no CustomResourceDefinition imagepolicies.operator.technomad.dev: install image-watcher there, or choose another cluster with --context\n',
            ],
          );
        }
        await installCrd(emptyCluster, ['v1alpha1']);
        for (const args of [[], ['web']]) {
          const older = await run('get', args, emptyCluster.kubeconfigPath);
          assert.equal(older.code, 1);
          assert.match(
            older.err,
            /^the cluster has the CustomResourceDefinition of an older image-watcher, with v1alpha1 and without v1: stop the older service, start the new one with the role convert, and run image-watcher crd apply, in the order of \S+\/upgrading\.md\. Until then, kubectl get imagepolicies shows the policies\n$/,
          );
        }
        await emptyCluster.request('DELETE', crdPath);
        await waitFor('the older definition to be gone', () =>
          emptyCluster.request('GET', crdPath).then(
            () => false,
            () => true,
          ),
        );
        await installCrd(emptyCluster, ['v1']);
        const { code, out, err } = await run('get', [], emptyCluster.kubeconfigPath);
        assert.deepEqual([code, out, err], [0, '', 'there are no policies in the namespace default\n']);
      } finally {
        await emptyCluster.stop();
      }
    });
  });

  describe('release', () => {
    it('reports the hold that it ended', async () => {
      const { code, out } = await run('release', ['held']);
      assert.deepEqual(
        [code, out],
        [
          0,
          `released ${world.namespace}/held, which was held since ${at} (Held: a manual change replaced our image, and stays until there is a newer one); 1.4.0 is applied unless something else is in its way: see "image-watcher explain ${world.namespace}/held"\n`,
        ],
      );
      assert.deepEqual(JSON.parse((await run('release', ['held', '-o', 'json'])).out).held, { reason: 'Held', since: at });
      assert.equal((await run('release', ['web'])).out, `nothing was held: ${world.namespace}/web is as it was\n`);
      assert.equal((await run('release', ['web', '-o', 'name'])).out, 'imagepolicy.operator.technomad.dev/web\n');
    });
  });

  describe('rollback', () => {
    const rolledBack = { kind: 'Deployment', name: 'web', container: 'c0', from: 'a:1.4.0', to: 'a:1.3.0', tag: '1.3.0' } as const;
    const lost = condition('Stalled', 'True', 'TargetNotFound', 'Deployment shop/api does not exist');
    const failed = condition('Stalled', 'True', 'RolloutFailed', 'the rollout of a:1.3.0 failed');
    for (const [how, { before = [], after = [], expected, says = /^waiting for image-watcher …\n$/, last }] of Object.entries<{
      readonly before?: readonly Condition[];
      readonly after?: readonly Condition[];
      readonly expected: number;
      readonly says?: RegExp;
      readonly last?: RegExp;
    }>({
      '0 where it is done': {
        expected: 0,
        last: /\nrolled back: 1\.3\.0 runs now, and is held until "image-watcher release shop-\S+\/web" or until something newer is pushed\n$/,
      },
      '0 where it is rolling out': {
        after: [condition('Ready', 'False', 'Progressing'), condition('Reconciling', 'True', 'Progressing')],
        expected: 0,
        last: /\nrolled back: 1\.3\.0 is rolling out, and is held until /,
      },
      '1 where the policy is Stalled afterwards': {
        after: [failed],
        expected: 1,
        says: /rolled back to 1\.3\.0, but the policy is Stalled: RolloutFailed: the rollout of a:1\.3\.0 failed\n/,
      },
      '0 where the policy was Stalled before for another reason, and still is': {
        before: [lost],
        after: [lost],
        expected: 0,
        says: /rolled back to 1\.3\.0; the policy was Stalled before, and still is: TargetNotFound: Deployment shop\/api does not exist\n/,
      },
      '0 where the policy is not Stalled any more': { before: [failed], expected: 0 },
      '1 where it is Stalled for another reason than before': {
        before: [lost],
        after: [failed],
        expected: 1,
        says: /but the policy is Stalled: RolloutFailed/,
      },
    }))
      it(`ends with ${how}`, async () => {
        await world.report('web', { conditions: before });
        const running = run('rollback', ['web', '--to', '1.3.0']);
        const read = () =>
          world.cluster.request<{ metadata: { annotations?: Record<string, string> }; status: PolicyStatus }>('GET', world.pathOf('web'));
        const requested = await waitFor('the request', async () => {
          const { metadata, status } = await read();
          const request = metadata.annotations?.['operator.technomad.dev/rollback-to'];
          return request !== status.lastHandledRollback && request;
        });
        await world.report('web', {
          lastHandledRollback: requested,
          history: [{ ...rolledBack, namespace: world.namespace, trigger: 'Rollback', at: new Date().toISOString(), result: 'Applied' }],
          conditions: after,
        });
        const { code, err, out } = await running;
        assert.equal(code, expected, out + err);
        assert.match(err, says);
        if (last !== undefined) assert.match(out, last);
      });
  });
});
