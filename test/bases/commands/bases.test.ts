/** `image-watcher bases` with a real API server and a real registry. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { inParallel } from '../../../src/core/async/in-parallel.ts';
import { UsageError } from '../../../src/service/command-line/command.ts';
import { baseCreated, basePath, type Pushed, pushApplications } from '../recognize/applications.ts';
import { buildImage } from '../recognize/build-image.ts';
import { type Registry, startRegistry } from '../../harness/registry.ts';
import { kubeconfigWithRules } from '../../harness/service-account.ts';
import { tempFolder } from '../../harness/temp-folder.ts';
import { startCliWorld, withNamespace, type CliWorld } from '../../cli/cluster-world.ts';
import { runCommand } from '../../cli/run-command.ts';

let world: CliWorld;
let registry: Registry;
let pushed: Pushed;
let config: string;

before(async () => {
  [world, registry] = await Promise.all([startCliWorld(), startRegistry()]);
  pushed = await pushApplications(registry.host);
  config = join(tempFolder('bases'), 'config.yaml');
  writeFileSync(config, JSON.stringify({ registries: [{ host: registry.host, insecure: true, concurrency: 32 }] }));
  const created = await inParallel(pushed.applications, 8, ({ name, path }) => world.deploy(name, `${registry.host}/${path}:1`));
  for (const one of created) if (one.status === 'rejected') throw one.reason;
});
after(() => Promise.all([world.stop(), registry.stop()]));

const run = (args: readonly string[], kubeconfig = world.kubeconfig, columns?: number) =>
  runCommand('bases', [...args, '--kubeconfig', kubeconfig, '--config', config, '--docker-config', '/dev/null'], { columns });
const base = () => `${registry.host}/${basePath}`;

interface Report {
  readonly base: { readonly tag: string; readonly digest: string };
  readonly images: readonly {
    readonly image: string;
    readonly state: string;
    readonly behindSince?: string;
    readonly recognizedBy?: string;
    readonly reason?: string;
    readonly workloads: readonly string[];
  }[];
  readonly summary: Readonly<Record<string, number>>;
}

async function readReport(...args: string[]): Promise<Report> {
  const { code, out, err } = await run([...args, '-o', 'json']);
  assert.deepEqual([code, err], [0, '']);
  return JSON.parse(out) as Report;
}

test('the command bases shows all fifty applications on the base in their states, and no other images', async () => {
  const { images, summary, base: selected } = await readReport(base(), '--latest', '21');
  assert.deepEqual([selected.tag, selected.digest], ['21', pushed.versions.new.digest]);
  const shown = new Map(
    images.map(({ image, state, recognizedBy }) => [image, recognizedBy === undefined ? state : `${state} by ${recognizedBy}`]),
  );
  for (const { path, expected } of pushed.applications)
    assert.equal(shown.get(`${registry.host}/${path}:1`) ?? 'unrelated', expected, path);
  const { length } = pushed.applications;
  const count = (word: string) => pushed.applications.filter(({ expected }) => expected.startsWith(word)).length;
  assert.deepEqual(summary, {
    images: length,
    current: count('Current'),
    behind: count('Behind'),
    unknown: count('Unknown'),
    otherLine: 0,
    unrelated: count('unrelated'),
    uncomparedTags: 0,
  });
  assert.equal(count('Current') + count('Behind'), 51);
  for (const { image, state, behindSince, reason, workloads } of images) {
    const name = /shop\/(.*):1$/.exec(image)?.[1];
    assert.deepEqual(workloads, [`Deployment ${world.namespace}/${name}`]);
    if (state === 'Behind') assert.equal(behindSince, baseCreated);
    if (state === 'Unknown') assert.match(reason ?? '', /its layers do not begin with those of that image|its lowest layer is that of/);
  }
});

test('the command bases --range selects the highest version in the range, and says which images may be newer', async () => {
  const { base: selected, summary, images } = await readReport(base(), '--range', '21.x');
  const current = pushed.applications.filter(({ expected }) => expected.startsWith('Behind') && !expected.includes('untagged')).length;
  assert.equal(selected.tag, '21.0.1');
  assert.deepEqual([summary['current'], summary['behind']], [current - 1, 0]);
  const unsure = images.filter(({ reason }) => reason?.includes('is only known as 21: whether it is older than the selected version'));
  assert.equal(unsure.length, pushed.applications.filter(({ expected }) => expected.startsWith('Current')).length);
});

test('the command bases --behind shows only images that are behind, and --fail-on-behind ends with 1', async () => {
  const behind = pushed.applications
    .filter(({ expected }) => expected.startsWith('Behind'))
    .map(({ path }) => `${registry.host}/${path}:1`);
  const { code, out } = await run([base(), '--latest', '21', '--behind', '--fail-on-behind', '-o', 'name']);
  assert.equal(code, 1);
  assert.deepEqual(new Set(out.trim().split('\n')), new Set(behind));
  const all = await run([base(), '--latest', '21', '--behind']);
  assert.equal(all.code, 0);
  assert.match(all.out, /61 images, 25 behind, 6 unknown, 4 not built on it\n$/);
  assert.doesNotMatch(all.out, / Current | Unknown /);
});

test('the command bases judges the digest that pods run, not the one that the tag has now', async () => {
  const namespace = await world.cluster.namespace('pods');
  const kubeconfig = withNamespace(world.kubeconfig, namespace);
  const target = { host: registry.host, repository: 'pods/web', tag: '1' };
  const before = await buildImage(target, { layers: 'os java1 web' });
  const labels = { app: 'web' };
  const image = `${registry.host}/pods/web:1`;
  const containers = [{ name: 'c0', image }];
  await world.cluster.request('POST', `/apis/apps/v1/namespaces/${namespace}/deployments`, {
    metadata: { name: 'web', labels },
    spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers } } },
  });
  const pods = `/api/v1/namespaces/${namespace}/pods`;
  await world.cluster.request('POST', pods, { metadata: { name: 'web-1', labels }, spec: { containers } });
  const status = {
    containerStatuses: [{ name: 'c0', image, imageID: `${registry.host}/pods/web@${before.digest}`, ready: true, restartCount: 0 }],
  };
  await world.cluster.request('PATCH', `${pods}/web-1/status`, { status });
  await buildImage(target, { layers: 'os java2 web' });
  const report = async (as: string) => {
    const { out, err } = await run([base(), '--latest', '21', '--kind', 'deployment', '-l', 'app=web', '-o', 'json'], as);
    return { err, images: (JSON.parse(out) as Report).images };
  };
  const own = await report(kubeconfig);
  assert.deepEqual([own.err, own.images.map(({ state }) => state)], ['', ['Behind']]);

  const rules = [{ apiGroups: ['apps'], resources: ['deployments'], verbs: ['list'] }];
  const limited = withNamespace(await kubeconfigWithRules(world.cluster, namespace, 'limited', rules), namespace);
  const other = await report(limited);
  assert.match(other.err, /^you may not list pods: /);
  assert.deepEqual(
    other.images.map(({ state }) => state),
    ['Current'],
  );
  const { code, err } = await run([base(), '--latest', '21'], limited);
  assert.equal(code, 1);
  assert.match(err, /may not list statefulsets in the namespace .*: ask an administrator for this permission\n$/);
});

test('the command bases shows an image that cannot be read as unknown, with the reason', async () => {
  const namespace = await world.cluster.namespace('broken');
  const kubeconfig = withNamespace(world.kubeconfig, namespace);
  const images = {
    missing: `${registry.host}/shop/app-0:none`,
    unreachable: '127.0.0.1:1/shop/web:1',
    good: `${registry.host}/shop/app-0:1`,
  };
  for (const [name, image] of Object.entries(images)) {
    const labels = { app: name };
    await world.cluster.request('POST', `/apis/apps/v1/namespaces/${namespace}/deployments`, {
      metadata: { name },
      spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers: [{ name: 'c0', image }] } } },
    });
  }
  const { code, out } = await run([base(), '--latest', '21', '-o', 'json'], kubeconfig);
  assert.equal(code, 0);
  const { summary, images: shown } = JSON.parse(out) as Report;
  assert.deepEqual(summary, { images: 3, current: 1, behind: 0, otherLine: 0, unknown: 2, unrelated: 0, uncomparedTags: 0 });
  const reasons = shown.flatMap(({ reason }) => reason ?? []);
  assert.match(reasons[0] ?? '', /^its digest cannot be read: /);
  assert.match(reasons[1] ?? '', /^the registry does not have /);
});

describe('the command bases reports in one sentence', () => {
  test('that the repository, the version or the workloads do not exist', async () => {
    for (const [args, message] of [
      [[`${registry.host}/library/nothing`], /^the registry does not know 127\.0\.0\.1:\d+\/library\/nothing: check the name\n$/],
      [[base(), '--latest', 'none'], /^the registry does not have .*:none: select another version with --latest or --range\n$/],
      [[base(), '--range', '99.x'], /99\.x/],
      [[base(), '-l', 'app=nothing'], /^there are no workloads with the labels app=nothing in the namespace .*\n$/],
      [['127.0.0.1:1/library/base'], /^(?!the API server)[^\n]*127\.0\.0\.1:1[^\n]*\n$/],
    ] as const) {
      const { code, out, err } = await run(args);
      assert.deepEqual([code, out], [1, ''], args.join(' '));
      assert.match(err, message);
    }
  });

  test('that a registry denies access', async () => {
    const closed = await startRegistry({ htpasswd: { user: 'robot', password: 'secret' } });
    try {
      const file = join(tempFolder('bases'), 'config.yaml');
      writeFileSync(file, JSON.stringify({ registries: [{ host: closed.host, insecure: true }] }));
      const args = [`${closed.host}/library/base`, '--kubeconfig', world.kubeconfig, '--config', file, '--docker-config', '/dev/null'];
      const { code, err } = await runCommand('bases', args);
      assert.equal(code, 1);
      assert.match(err, /^[^\n]*(?:denied|refuse|accept|credential)[^\n]*\n$/i);
    } finally {
      await closed.stop();
    }
  });

  test('wrong usage', async () => {
    for (const [args, message] of [
      [[], /^name the repository of the base image/],
      [['harbor.example.com/base:21'], /^REPOSITORY has no tag: write --latest 21/],
      [['harbor.example.com/base', '--range', 'x.y'], /^--range: /],
      [['harbor.example.com/base', '--range', '1.x', '--latest', '1'], /^--range goes without --latest/],
      [['harbor.example.com/base', '-A', '-n', 'shop'], /^--all-namespaces goes without --namespace/],
      [['harbor.example.com/base', '--kind', 'Pod'], /^--kind is Deployment, .* not "Pod"/],
      [['https://harbor.example.com/base'], /^REPOSITORY: /],
    ] as const)
      await assert.rejects(
        runCommand('bases', args),
        (error) => error instanceof UsageError && message.test(error.message),
        args.join(' '),
      );
  });
});
