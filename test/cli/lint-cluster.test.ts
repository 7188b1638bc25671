/** `image-watcher lint --cluster` with a real API server and a real registry: what policies would do at once, before they are applied. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { stringify } from 'yaml';
import { UsageError } from '../../src/service/command-line/command.ts';
import { policiesPath } from '../service/resources/install-crd.ts';
import { pushImage } from '../harness/push-image.ts';
import { type Registry, startRegistry } from '../harness/registry.ts';
import { kubeconfigWithRules } from '../harness/service-account.ts';
import { tempFolder } from '../harness/temp-folder.ts';
import { startCliWorld, withNamespace, type CliWorld } from './cluster-world.ts';
import { runCommand } from './run-command.ts';

interface Finding {
  readonly file: string;
  readonly line?: number;
  readonly policy: string;
  readonly field: string;
  readonly reason: string;
  readonly message: string;
}
interface Report {
  readonly problems: readonly Finding[];
  readonly warnings?: readonly Finding[];
  readonly notes?: readonly Finding[];
}

const dates: Readonly<Record<string, string>> = {
  '1.4.0': '2026-03-01',
  '1.5.0': '2026-04-01',
  '1.4.0-alpine': '2026-03-01',
  '10.11.4': '2026-03-01',
  '2021.12.16': '2021-12-16',
  '3.0.0': '2020-01-01',
  '2.9.0': '2026-03-01',
  '1042': '2026-03-01',
  '20200101': '2020-01-01',
};
const repositories: Readonly<Record<string, readonly string[]>> = {
  'shop/web': ['1.4.0', '1.5.0', '1.4.0-alpine'],
  'shop/db': ['10.11.4', '2021.12.16'],
  'shop/odd': ['3.0.0', '2.9.0'],
  'shop/build': ['1042', '20200101'],
};

describe('lint --cluster', () => {
  let world: CliWorld;
  let registry: Registry;
  let denied: Registry;
  let config: string;
  before(async () => {
    [world, registry, denied] = await Promise.all([
      startCliWorld(),
      startRegistry(),
      startRegistry({ htpasswd: { user: 'a', password: 'b' } }),
    ]);
    config = join(tempFolder('lint'), 'config.yaml');
    const registries = [registry.host, denied.host].map((host) => ({ host, insecure: true }));
    writeFileSync(config, JSON.stringify({ registries, checks: { jobs: true, analysis: true } }));
    for (const [repository, tags] of Object.entries(repositories))
      for (const tag of tags)
        await pushImage({ host: registry.host, repository, tag, content: `${repository}:${tag}`, created: `${dates[tag]}T00:00:00Z` });
    await deploy('web', { app: 'shop/web:1.4.0', alpine: 'shop/web:1.4.0-alpine' });
    await deploy('db', { app: 'shop/db:10.11.4' });
    await deploy('odd', { app: 'shop/odd:2.9.0' });
    await deploy('build', { app: 'shop/build:1042' });
    await deploy('new', { app: 'shop/web:1.5.0' });
  });
  after(() => Promise.all([world.stop(), registry.stop(), denied.stop()]));

  async function deploy(name: string, images: Readonly<Record<string, string>>): Promise<void> {
    const labels = { app: name };
    const containers = Object.entries(images).map(([container, image]) => ({ name: container, image: `${registry.host}/${image}` }));
    await world.cluster.request('POST', `/apis/apps/v1/namespaces/${world.namespace}/deployments`, {
      metadata: { name },
      spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers } } },
    });
  }

  const policy = (name: string, repository: string, spec: object = {}, host = registry.host) => ({
    apiVersion: 'operator.technomad.dev/v1',
    kind: 'ImagePolicy',
    metadata: { name },
    spec: { image: `${host}/${repository}`, select: { semver: {} }, targets: [{ kind: 'Deployment', name }], ...spec },
  });
  const run = async (args: readonly string[], kubeconfig = world.kubeconfig) => {
    const usual = ['--kubeconfig', kubeconfig, '--config', config, '--docker-config', '/dev/null'];
    const { out, err, code } = await runCommand('lint', ['--cluster', ...args, ...usual]);
    const plain = (text: string) =>
      text.replaceAll(world.namespace, 'shop').replaceAll(registry.host, 'registry').replaceAll(denied.host, 'denied');
    return { code, out: plain(out), err: plain(err) };
  };
  const lint = async (...policies: readonly object[]): Promise<Report & { code: number }> => {
    const file = join(tempFolder('lint'), 'policies.yaml');
    writeFileSync(file, policies.map((one) => stringify(one)).join('---\n'));
    const { code, out } = await run([file, '-o', 'json']);
    return { code, ...(JSON.parse(out) as Report) };
  };
  const short = (findings: readonly Finding[] = []) => findings.map(({ policy: name, field, reason }) => `${name} ${field} ${reason}`);

  it('notes what would change immediately, and warns of a container of another track', async () => {
    const { code, problems, warnings, notes } = await lint(policy('web', 'shop/web', { select: { semver: { range: '1.x' } } }));
    assert.deepEqual([code, problems], [0, []]);
    assert.deepEqual(short(notes), ['shop/web spec.targets[0] Updated']);
    assert.equal(
      notes?.[0]?.message,
      'Deployment shop/web: app would be changed at once from registry/shop/web:1.4.0 to registry/shop/web:1.5.0',
    );
    assert.deepEqual(short(warnings), ['shop/web spec.targets[0] OtherTrack']);
    assert.match(
      warnings?.[0]?.message ?? '',
      /^Deployment shop\/web: alpine stays at \S+-alpine, and 1\.5\.0\S* is not applied: .*another track/,
    );
    assert.deepEqual([notes?.[0]?.line, notes?.[0]?.file.endsWith('policies.yaml')], [11, true]);
  });

  it('reports checks that would time out because of the configuration or of the objects that they are made from', async () => {
    const jobTemplate = { spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'job', image: 'job:1' }] } } } };
    for (const [name, suspend, annotations] of [
      ['good', true, { 'operator.technomad.dev/check': 'allow' }],
      ['active', false, { 'operator.technomad.dev/check': 'allow' }],
      ['foreign', true, {}],
    ] as const)
      await world.cluster.request('POST', `/apis/batch/v1/namespaces/${world.namespace}/cronjobs`, {
        metadata: { name, annotations },
        spec: { suspend, schedule: '0 0 1 1 *', jobTemplate },
      });
    const job = (cronJob: string) => ({ name: cronJob, job: { cronJob } });
    const secretRef = { name: 'checks', key: 'key' };
    const checks = [
      ...['good', 'missing', 'active', 'foreign'].map(job),
      { name: 'success', analysis: { template: 'success-rate' } },
      { name: 'host', http: { url: 'https://evil.example.com', secretRef } },
    ];
    const { code, problems } = await lint(policy('web', 'shop/web', { rollout: { checks } }));
    assert.equal(code, 1);
    assert.deepEqual(
      problems.map(({ field, message }) => `${field} ${message}`),
      [
        'spec.rollout.checks[1] the check missing would time out: there is no CronJob missing in the namespace of the policy',
        'spec.rollout.checks[2] the check active would time out: the CronJob active is not suspended: it would run by itself',
        'spec.rollout.checks[3] the check foreign would time out: the CronJob foreign is not allowed for checks: it needs the annotation operator.technomad.dev/check: allow',
        'spec.rollout.checks[4] the check success would time out: Argo Rollouts is not installed in this cluster: it has no AnalysisTemplates',
        'spec.rollout.checks[5] the check host would time out: its host evil.example.com is not allowed: ask the operator to add it to checks.hosts of the configuration',
      ],
    );
    await Promise.all(
      ['good', 'active', 'foreign'].map((name) =>
        world.cluster.request('DELETE', `/apis/batch/v1/namespaces/${world.namespace}/cronjobs/${name}`),
      ),
    );
  });

  it('reports a first change to an unlikely version or to an older image as a problem', async () => {
    const { code, problems } = await lint(policy('db', 'shop/db'), policy('odd', 'shop/odd'));
    assert.equal(code, 1);
    assert.deepEqual(short(problems), ['shop/db spec.targets[0] UnlikelyVersion', 'shop/odd spec.targets[0] UnlikelyVersion']);
    assert.match(problems[0]?.message ?? '', /2021\.12\.16 is far from 10\.11\.4, which runs.*set select\.semver\.range/);
    assert.match(problems[1]?.message ?? '', /the image of 3\.0\.0 was created on 2020-01-01, before that of 2\.9\.0/);
    const ranged = await lint(policy('db', 'shop/db', { select: { semver: { range: '10.x' } } }));
    assert.deepEqual([ranged.code, ranged.problems, ranged.warnings, ranged.notes], [0, [], undefined, undefined]);
    const open = await lint(policy('db', 'shop/db', { select: { semver: { range: '>=10' } } }));
    assert.deepEqual([open.code, short(open.warnings)], [0, ['shop/db spec.targets[0] UnlikelyVersion']]);
    assert.match(
      open.warnings?.[0]?.message ?? '',
      /would be changed at once from \S+:10\.11\.4 to \S+:2021\.12\.16, but 2021\.12\.16 is far from 10\.11\.4, which runs: .* limit the versions with select\.semver\.range$/,
    );
    const aged = await lint(policy('odd', 'shop/odd', { select: { semver: { range: '>=2' } } }));
    assert.deepEqual([aged.code, short(aged.warnings)], [0, ['shop/odd spec.targets[0] UnlikelyVersion']]);
    assert.match(aged.warnings?.[0]?.message ?? '', /but the image of 3\.0\.0 was created on 2020-01-01, before that of 2\.9\.0/);
    for (const select of [{ numerical: {} }, { alphabetical: {} }]) {
      const build = await lint(policy('build', 'shop/build', { select }));
      assert.deepEqual([build.code, short(build.warnings)], [0, ['shop/build spec.targets[0] UnlikelyVersion']]);
      assert.match(build.warnings?.[0]?.message ?? '', /but the image of 20200101 was created on .* limit the tags with tags\.allow$/);
    }
  });

  it('warns of a downgrade, and keeps an image that is newer than the selected one', async () => {
    const range = { select: { semver: { range: '<1.5' } } };
    const down = await lint(policy('new', 'shop/web', { ...range, update: { allowDowngrade: true } }));
    assert.deepEqual(
      [down.code, short(down.warnings), down.notes],
      [0, ['shop/new spec.targets[0] OlderThanRunning'], undefined],
      JSON.stringify(down),
    );
    assert.match(down.warnings?.[0]?.message ?? '', /1\.5\.0/);
  });

  it('reports missing targets, targets that do not run the image, and images that the registry does not show', async () => {
    const { code, problems } = await lint(
      policy('lost', 'shop/web'),
      policy('db', 'shop/web'),
      policy('web', 'shop/nothing'),
      policy('odd', 'shop/secret', {}, denied.host),
      policy('new', 'shop/web', { select: { semver: { range: '7.x' } } }),
    );
    assert.equal(code, 1);
    assert.deepEqual(short(problems), [
      'shop/lost spec.targets[0] TargetNotFound',
      'shop/db spec.targets[0] ContainerNotFound',
      'shop/web spec.image RepositoryNotFound',
      'shop/odd spec.image RegistryDenied',
      'shop/new spec.select NoMatchingTag',
    ]);
  });

  it('warns of two policies on one container, whether both are in the files or one is in the cluster', async () => {
    const range = (text: string) => ({ select: { semver: { range: text } }, targets: [{ kind: 'Deployment', name: 'new' }] });
    const both = await lint(policy('one', 'shop/web', range('1.x')), policy('two', 'shop/web', range('>=1.5')));
    assert.deepEqual(short(both.warnings), []);
    const down = { ...range('1.4.0'), update: { allowDowngrade: true } };
    const fighting = await lint(policy('one', 'shop/web', range('1.x')), policy('two', 'shop/web', down));
    assert.deepEqual(short(fighting.warnings), ['shop/two spec.targets[0] OlderThanRunning', 'shop/two spec.targets[0] SharedContainer']);
    await world.cluster.request('POST', policiesPath(world.namespace, 'v1'), policy('stored', 'shop/web', range('1.x')));
    try {
      const stored = await lint(policy('two', 'shop/web', down));
      const shared = stored.warnings?.find(({ reason }) => reason === 'SharedContainer');
      assert.match(
        shared?.message ?? '',
        /^Deployment shop\/new is also a target of shop\/stored, with the same image: shop\/two would change container app that shop\/stored updates; /,
      );
    } finally {
      await world.cluster.request('DELETE', `${policiesPath(world.namespace, 'v1')}/stored`);
    }
  });

  it('notes an image that waits for an approval', async () => {
    const { code, warnings, notes } = await lint(
      policy('web', 'shop/web', {
        select: { semver: { range: '1.x' } },
        targets: [{ kind: 'Deployment', name: 'web', containers: ['app'] }],
        update: { mode: 'Approval' },
      }),
    );
    assert.deepEqual([code, warnings, short(notes)], [0, undefined, ['shop/web spec.targets[0] ApprovalRequired']]);
  });

  it('checks the policies of the namespace if no files are named, and writes nothing', async () => {
    const read = async () =>
      JSON.stringify(await world.cluster.request('GET', `/apis/apps/v1/namespaces/${world.namespace}/deployments/web`));
    const none = await run([]);
    assert.deepEqual([none.code, none.out, none.err], [2, '', 'there is no ImagePolicy or BaseImagePolicy in the cluster\n']);
    await world.cluster.request('POST', policiesPath(world.namespace, 'v1'), policy('db', 'shop/db'));
    await world.cluster.request(
      'POST',
      policiesPath(world.namespace, 'v1'),
      policy('web', 'shop/web', { select: { semver: { range: '1.x' } } }),
    );
    const workload = await read();
    const policies = () => world.cluster.request<{ items: object[] }>('GET', policiesPath(world.namespace, 'v1'));
    const stored = JSON.stringify((await policies()).items);
    for (const args of [[], ['-n', world.namespace], ['-A']]) {
      const { code, out, err } = await run(args);
      assert.deepEqual([code, err], [1, '']);
      assert.match(out, /^\(cluster\)\n {2}shop\/db spec\.targets\[0\]: Deployment shop\/db: app: 2021\.12\.16 is far from 10\.11\.4/);
      assert.match(out, /\n {2}note: shop\/web spec\.targets\[0\]: Deployment shop\/web: app would be changed at once from /);
      assert.match(out, /\n2 policies in the cluster: 1 problem, 1 warning, 1 note\n$/);
    }
    assert.equal(await read(), workload);
    assert.equal(JSON.stringify((await policies()).items), stored);
  });

  it('needs only permissions to read, and names one that is missing', async () => {
    const apps = { apiGroups: ['apps'], resources: ['deployments'], verbs: ['get'] };
    const own = { apiGroups: ['operator.technomad.dev'], resources: ['imagepolicies'], verbs: ['get', 'list'] };
    const as = async (name: string, rules: Parameters<typeof kubeconfigWithRules>[3]) =>
      run([], withNamespace(await kubeconfigWithRules(world.cluster, world.namespace, name, rules), world.namespace));
    const reader = await as('reader', [apps, own]);
    assert.match(reader.out, /2 policies in the cluster: 1 problem, 1 warning, 1 note\n$/, reader.err);
    const blind = await as('blind', [own]);
    assert.equal(blind.code, 1);
    assert.match(blind.out, /shop\/db spec: \S+ may not get deployments in the namespace shop: ask an administrator/);
  });

  it('reports a problem in the text of a file once, and ends with 2 if the cluster is unreachable', async () => {
    const wrong = await lint(policy('web', 'shop/web', { select: { semver: { range: 'x.y.z' } } }));
    assert.deepEqual([wrong.code, short(wrong.problems)], [1, ['web spec.select.semver.range InvalidTagPolicy']]);
    const missing = join(tempFolder('lint'), 'none');
    const { code, err } = await runCommand('lint', ['--cluster', '--kubeconfig', missing]);
    assert.equal(code, 2);
    assert.match(err, /none/);
  });

  for (const args of [
    ['-n', 'shop', 'a.yaml'],
    ['--kubeconfig', 'x', 'a.yaml'],
    ['--cluster', '-A', 'a.yaml'],
    ['--cluster', '-A', '-n', 'shop'],
    ['-A'],
  ])
    it(`"lint ${args.join(' ')}" is reported as wrong usage`, () => assert.rejects(runCommand('lint', args), UsageError));
});
