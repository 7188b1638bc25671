/** The single-file executable of this platform, as the release workflow builds it: it runs without the project, also as a plugin of kubectl. */
import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { copyFileSync, linkSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { parse } from 'yaml';
import { createPolicies, startCliWorld, type CliWorld } from '../cli/cluster-world.ts';
import { customResourceDefinition } from '../../src/conversion/definition.ts';
import { deliver, harborBody, startWorld } from '../end-to-end/world.ts';
import { createServicePod, startFakeKubelet } from '../harness/fake-kubelet.ts';
import { pushImage } from '../harness/push-image.ts';
import { askRedis } from '../harness/redis.ts';
import { tempFolder } from '../harness/temp-folder.ts';
import { buildExecutable } from './build-executable.ts';
import { krewManifest } from './krew-manifest.ts';

const root = join(import.meta.dirname, '../..');
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };

describe('the executable', () => {
  let world: CliWorld;
  const folder = tempFolder('executable');
  before(async () => {
    [world] = await Promise.all([startCliWorld(), buildExecutable(join(folder, 'image-watcher'))]);
    await createPolicies(world);
    linkSync(join(folder, 'image-watcher'), join(folder, 'kubectl-image_watcher'));
    copyFileSync(join(root, 'bin/kubectl_complete-image_watcher'), join(folder, 'kubectl_complete-image_watcher'));
  });
  after(() => world.stop());

  const run = (program: string, ...args: string[]) =>
    promisify(execFile)(program, args, {
      cwd: folder,
      env: { PATH: `${folder}:/usr/local/bin:/usr/bin:/bin`, HOME: folder, KUBECONFIG: world.kubeconfig },
    });

  it('shows its version, and reads from a cluster', async () => {
    assert.deepEqual(await run('image-watcher', 'version'), {
      stdout: `image-watcher ${version} (Node.js ${process.versions.node})\n`,
      stderr: '',
    });
    assert.match((await run('image-watcher', 'get', 'web')).stdout, /^web +\S+ +1\.4\.0/m);
    await assert.rejects(run('image-watcher', 'explain', 'api'), { code: 1, stdout: /^the policy is not reconciled yet: /, stderr: '' });
    await assert.rejects(run('image-watcher', 'dance'), { code: 2, stderr: /^there is no command "dance"/ });
  });

  it('runs the service, which updates a workload after a webhook, and doctor finds nothing wrong', async () => {
    const serving = await startWorld({ crd: customResourceDefinition({ v1Only: true }), fsync: true });
    try {
      const { host } = serving.quiet;
      await askRedis(serving.redis.port, 'CONFIG SET maxmemory 512mb');
      const service = await serving.start({ program: { command: join(folder, 'image-watcher'), args: () => [] } });
      await pushImage({ host, repository: 'shop/web', tag: '1.0.0', content: 'old' });
      await serving.createDeployment('web', `${host}/shop/web:1.0.0`);
      await serving.createPolicy('web', `${host}/shop/web`, { strategy: 'SemVer' });
      await serving.waitForFirstLook('web');
      await pushImage({ host, repository: 'shop/web', tag: '1.1.0', content: 'new' });
      assert.equal((await deliver(service, harborBody(host, 'shop/web', [{ tag: '1.1.0' }]))).status, 202);
      await serving.waitForImage('web', `${host}/shop/web:1.1.0`);
      const target = ['--server', service.operationsUrl, '--insecure', '--kubeconfig', serving.cluster.kubeconfigPath];
      const { stdout, stderr } = await run('image-watcher', 'doctor', ...target);
      assert.match(stdout, /^✓ service\/version +/m);
      assert.match(stdout, /^✓ redis\/appendonly +/m);
      assert.match(stdout, /✗ 0 /);
      assert.equal(stderr, '');
      // The executable contains only a part of the Kubernetes client.
      const kubelet = await startFakeKubelet(serving.cluster, 'only-ports');
      try {
        const namespace = await serving.cluster.namespace('image-watcher');
        await createServicePod(serving.cluster, kubelet.node, {
          namespace,
          name: 'work',
          port: Number(new URL(service.operationsUrl).port),
        });
        const through = ['--service-namespace', namespace, '--kubeconfig', serving.cluster.kubeconfigPath];
        assert.match((await run('image-watcher', 'events', ...through)).stdout, /shop\/web:1\.1\.0/);
        assert.equal(kubelet.requests.length, 1);
      } finally {
        await kubelet.stop();
      }
    } finally {
      await serving.stop();
    }
  });

  it('shows the name of the plugin in its help', async () => {
    assert.match((await run('kubectl-image_watcher', 'get', '--help')).stdout, /^Usage: kubectl image-watcher get /);
  });

  const skip = spawnSync('kubectl', ['version', '--client']).status === 0 ? false : 'kubectl is not installed';

  it('is a plugin of kubectl, which completes it', { skip }, async () => {
    assert.match((await run('kubectl', 'image-watcher', 'get', 'web')).stdout, /^web +\S+ +1\.4\.0/m);
    assert.match((await run('kubectl', 'image-watcher', 'get', '--help')).stdout, /^Usage: kubectl image-watcher get /);
    const completed = await run('kubectl', '__complete', 'image-watcher', 'explain', 'w');
    assert.match(completed.stdout, /^web\n:4\n/);
    const options = await run('kubectl', '__complete', 'image-watcher', 'ge');
    assert.match(options.stdout, /^get\t/m);
  });
});

it('the completion of the plugin can be executed', () => {
  assert.ok((statSync(join(root, 'bin/kubectl_complete-image_watcher')).mode & 0o111) === 0o111);
});

describe('the manifest for Krew', () => {
  it('names each archive of the release with its address and digest', () => {
    const folder = tempFolder('archives');
    for (const platform of ['linux-amd64', 'darwin-arm64']) {
      writeFileSync(join(folder, `image-watcher-${version}-${platform}.tar.gz`), platform);
      writeFileSync(join(folder, `image-watcher-${version}-${platform}.tar.gz.sigstore.json`), '{}');
    }
    const { metadata, spec } = parse(krewManifest(folder)) as { metadata: object; spec: { version: string; platforms: object[] } };
    assert.deepEqual([metadata, spec.version, spec.platforms.length], [{ name: 'image-watcher' }, `v${version}`, 2]);
    assert.deepEqual(spec.platforms[1], {
      selector: { matchLabels: { os: 'linux', arch: 'amd64' } },
      uri: `https://github.com/technomad/image-watcher/releases/download/v${version}/image-watcher-${version}-linux-amd64.tar.gz`,
      sha256: 'abb35c616421af72198ad7c2aeeef38516f08f6a7afb2a728cf0068a8a712ddc',
      bin: 'image-watcher',
    });
  });

  it('is refused without archives, and for those of another version', () => {
    const folder = tempFolder('archives');
    assert.throws(() => krewManifest(folder), /no archive of a release/);
    writeFileSync(join(folder, 'image-watcher-9.9.9-linux-amd64.tar.gz'), '');
    assert.throws(() => krewManifest(folder), /is not of version/);
  });
});
