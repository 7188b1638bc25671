/** `image-watcher init` with a real API server and real registries. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { inParallel } from '../../../src/core/async/in-parallel.ts';
import { UsageError } from '../../../src/service/command-line/command.ts';
import type { Proposals } from '../../../src/cli/init/propose-policies.ts';
import { readDocuments } from '../../../src/cli/manifests/read-documents.ts';
import { policiesPath } from '../../service/resources/install-crd.ts';
import { pushImage } from '../../harness/push-image.ts';
import { type Registry, startRegistry } from '../../harness/registry.ts';
import { kubeconfigWithRules } from '../../harness/service-account.ts';
import { tempFolder } from '../../harness/temp-folder.ts';
import { startCliWorld, withNamespace, type CliWorld } from '../cluster-world.ts';
import { runCommand } from '../run-command.ts';
import { expected, leftOut, repositories, type Service, services } from './services.ts';

let world: CliWorld;
let registry: Registry;
let denied: Registry;
let config: string;
let digest: string;

before(async () => {
  [world, registry, denied] = await Promise.all([
    startCliWorld(),
    startRegistry(),
    startRegistry({ htpasswd: { user: 'a', password: 'b' } }),
  ]);
  config = join(tempFolder('init'), 'config.yaml');
  const hosts = [registry.host, denied.host, '127.0.0.1:1'];
  writeFileSync(config, JSON.stringify({ registries: hosts.map((host) => ({ host, insecure: true, concurrency: 32 })) }));
  const tags = Object.entries(repositories).flatMap(([repository, list]) =>
    list.split(' ').map((tag, index) => ({ repository, tag, index })),
  );
  const pushed = await inParallel(tags, 8, ({ repository, tag, index }) =>
    pushImage({ host: registry.host, repository, tag, content: `${repository}:${tag}`, created: `2026-01-${10 + index}T00:00:00Z` }),
  );
  for (const one of pushed) if (one.status === 'rejected') throw one.reason;
  const at = tags.findIndex(({ repository, tag }) => repository === 'shop/web' && tag === '1.4.2');
  const web = pushed[at];
  digest = web?.status === 'fulfilled' ? web.value.digest : assert.fail();
  for (const created of await inParallel(services, 8, create)) if (created.status === 'rejected') throw created.reason;
  await world.create('known', { image: `${registry.host}/shop/payments` });
});
after(() => Promise.all([world.stop(), registry.stop(), denied.stop()]));

function imageOf(text: string): string {
  const path = text.replace('DIGEST', digest);
  if (path.startsWith('DENIED/')) return path.replace('DENIED', denied.host);
  return path.startsWith('OFFLINE/') ? path.replace('OFFLINE', '127.0.0.1:1') : `${registry.host}/${path}`;
}

async function create({ kind, name, images, initImages = {}, labels = {}, annotations = {}, owner }: Service): Promise<void> {
  const containersOf = (list: Readonly<Record<string, string>>) =>
    Object.entries(list).map(([one, image]) => ({ name: one, image: imageOf(image) }));
  const pod = { containers: containersOf(images), initContainers: containersOf(initImages) };
  const template = { metadata: { labels: { app: name } }, spec: pod };
  const selector = { matchLabels: { app: name } };
  const ownerReferences = owner === undefined ? [] : [{ ...owner, uid: 'a-uid', controller: true }];
  const metadata = { name, labels, annotations, ownerReferences };
  const of = (group: string, plural: string) => `/apis/${group}/namespaces/${world.namespace}/${plural}`;
  if (kind === 'CronJob') {
    const jobTemplate = { spec: { template: { ...template, spec: { ...pod, restartPolicy: 'Never' } } } };
    await world.cluster.request('POST', of('batch/v1', 'cronjobs'), { metadata, spec: { schedule: '0 3 * * *', jobTemplate } });
  } else
    await world.cluster.request('POST', of('apps/v1', `${kind.toLowerCase()}s`), {
      metadata,
      spec: { selector, serviceName: name, template },
    });
}

const run = (args: readonly string[], terminal: Parameters<typeof runCommand>[2] = {}) =>
  runCommand('init', [...args, '--kubeconfig', world.kubeconfig, '--config', config, '--docker-config', '/dev/null'], terminal);

async function propose(...args: string[]): Promise<Proposals> {
  const { code, out } = await run(['-o', 'json', ...args]);
  assert.equal(code, 0);
  return JSON.parse(out) as Proposals;
}

test('init proposes the right policy for each image of forty services, and says why it leaves out others', async () => {
  assert.ok(services.length >= 40);
  const found = await propose();
  const shown = found.policies.map(({ policy: { metadata, spec }, selects = '' }) => {
    const options = spec.select.semver?.range ?? spec.select.digest?.tag;
    const targets = spec.targets.map(({ name = '' }) => name).toSorted((one, other) => (one < other ? -1 : 1));
    return [
      metadata.name,
      [targets.join(' '), [...Object.keys(spec.select), ...(options === undefined ? [] : [options])].join(' '), selects],
    ] as const;
  });
  assert.deepEqual(Object.fromEntries(shown), expected);
  const out = found.leftOut.flatMap(({ workloads, why }) => workloads.map((workload) => [workload.split('/')[1] ?? '', why] as const));
  assert.deepEqual(out.map(([name]) => name).toSorted(), Object.keys(leftOut).toSorted());
  for (const [name, why] of out) assert.match(why, leftOut[name] ?? /never/, name);
  for (const { policy } of found.policies) assert.equal(policy.spec.update?.mode, 'Approval');
  const notesOf = (name: string) => found.policies.find(({ policy }) => policy.metadata.name === name)?.notes.join('\n') ?? '';
  const ofHelm = found.policies.filter(({ notes }) => notes.join('').includes('helm'));
  assert.deepEqual(
    ofHelm.map(({ policy }) => policy.metadata.name),
    ['blog'],
  );
  assert.match(
    notesOf('blog'),
    /Deployment \S+\/by-helm is of the Helm release site: the next "helm upgrade" puts the image back to that of/,
  );
  assert.match(notesOf('blog'), /"helm get values site --namespace web --all"/);
});

test('init --diff shows that nothing would change immediately, and what waits for an approval', async () => {
  const { code, out, err } = await run(['--diff']);
  assert.equal(code, 0);
  assert.doesNotMatch(out, /^[-+]/m);
  assert.match(out, /^# Deployment shop-\S*\/web app stays at \S*shop\/web:1\.4\.2: ApprovalRequired: 1\.5\.0 waits for approval/m);
  assert.match(out, /^# Deployment \S*\/frontend .*main-9c0ffee waits for approval/m);
  assert.match(out, /^# Deployment \S*\/mailer app stays at \S*:stable: ApprovalRequired: stable@sha256|stable waits for approval/m);
  assert.match(err, /^nothing would change at once; [0-9]+ updates would wait for an approval\n$/);
});

test('init --diff --mode Automatic shows what would change immediately, and ends with 1', async () => {
  const { code, out, err } = await run(['--diff', '--mode', 'Automatic']);
  assert.equal(code, 1);
  assert.match(out, new RegExp(`^\\+${registry.host}/shop/web:1\\.5\\.0$`, 'm'));
  assert.match(out, new RegExp(`^\\+${registry.host}/shop/web:1\\.5\\.0@sha256:`, 'm'));
  assert.match(out, new RegExp(`^\\+${registry.host}/library/nginx:1\\.27-alpine@sha256:`, 'm'));
  assert.doesNotMatch(out, /payments/);
  assert.match(err, /^[0-9]+ containers would change at once\n$/);
});

test('init -A leaves out the namespaces of Kubernetes itself, which -n includes', async () => {
  const deployments = '/apis/apps/v1/namespaces/kube-system/deployments';
  const labels = { app: 'dns' };
  const template = { metadata: { labels }, spec: { containers: [{ name: 'dns', image: `${registry.host}/shop/web:1.4.2` }] } };
  await world.cluster.request('POST', deployments, { metadata: { name: 'dns' }, spec: { selector: { matchLabels: labels }, template } });
  try {
    const everywhere = await propose('-A');
    const why = everywhere.leftOut.find(({ workloads }) => workloads.includes('Deployment kube-system/dns'))?.why;
    assert.equal(why, 'kube-system is updated with the cluster: name it with --namespace to include it');
    assert.equal(everywhere.policies.length, Object.keys(expected).length);
    assert.equal((await propose('-n', 'kube-system')).policies.length, 1);
  } finally {
    await world.cluster.request('DELETE', `${deployments}/dns`);
  }
});

test('init says what it does not know without the permission to list policies, and fails without that for workloads', async () => {
  const apps = { apiGroups: ['apps'], resources: ['deployments', 'statefulsets', 'daemonsets', 'replicasets'], verbs: ['list'] };
  const all = [apps, { apiGroups: ['batch'], resources: ['cronjobs'], verbs: ['list'] }];
  const as = async (name: string, rules: Parameters<typeof kubeconfigWithRules>[3]) => {
    const kubeconfig = withNamespace(await kubeconfigWithRules(world.cluster, world.namespace, name, rules), world.namespace);
    return runCommand('init', ['-o', 'json', '--kubeconfig', kubeconfig, '--config', config, '--docker-config', '/dev/null']);
  };
  const limited = await as('limited', all);
  assert.equal(limited.code, 0);
  assert.match(limited.err, /^you may not list ImagePolicies, so images that one updates already are not left out\n/);
  const none = await as('none', [apps]);
  assert.deepEqual([none.code, none.out], [1, '']);
  assert.match(none.err, /may not list cronjobs/);
});

test('init reads an image of a private registry with the pull Secrets of its pods or of their service account', async () => {
  const { cluster } = world;
  const namespace = await cluster.namespace('private');
  const push = (tag: string) => pushImage({ host: denied.host, repository: 'secret/app', tag, auth: { user: 'a', password: 'b' } });
  await Promise.all([push('1.0.0'), push('1.1.0')]);
  const auths = { [denied.host]: { auth: Buffer.from('a:b').toString('base64') } };
  const data = { '.dockerconfigjson': Buffer.from(JSON.stringify({ auths })).toString('base64') };
  const objects = `/api/v1/namespaces/${namespace}`;
  await cluster.request('POST', `${objects}/secrets`, { metadata: { name: 'pull' }, type: 'kubernetes.io/dockerconfigjson', data });
  await cluster.request('POST', `${objects}/serviceaccounts`, { metadata: { name: 'puller' }, imagePullSecrets: [{ name: 'pull' }] });
  const start = async (name: string, access: object) => {
    const path = `/apis/apps/v1/namespaces/${namespace}/deployments`;
    const spec = { ...access, containers: [{ name: 'app', image: `${denied.host}/secret/app:1.0.0` }] };
    const template = { metadata: { labels: { app: name } }, spec };
    await cluster.request('POST', path, { metadata: { name }, spec: { selector: { matchLabels: { app: name } }, template } });
    const found = await propose('-n', namespace);
    await cluster.request('DELETE', `${path}/${name}`);
    return [found.policies.map(({ selects }) => selects), found.leftOut.map(({ why }) => /denied|refuse/i.test(why))];
  };
  assert.deepEqual(await start('named', { imagePullSecrets: [{ name: 'pull' }] }), [['1.1.0'], []]);
  assert.deepEqual(await start('of-account', { serviceAccountName: 'puller' }), [['1.1.0'], []]);
  assert.deepEqual(await start('without', {}), [[], [true]]);
});

test('init fails in a namespace without workloads, and says what to do', async () => {
  const { code, err } = await run(['-n', 'default']);
  assert.deepEqual(
    [code, err],
    [1, 'there are no workloads and no charts in the namespace default: choose another one with --namespace, or all with -A\n'],
  );
});

test('the API server accepts the policies that init prints, after which init proposes nothing more', async () => {
  const { code, out, err } = await run([], { interactive: true });
  assert.equal(code, 0);
  assert.match(err, /37 policies with [0-9]+ targets; 9 left out\n$/);
  assert.match(out, /^# Nothing changes when these policies are applied: /);
  assert.match(
    out,
    /^# Runs now: 1\.4\.1, 1\.4\.2\.\n# The highest 1\.x is selected\.\n# 2\.0\.0 is outside of the range: widen it to follow that\.\napiVersion/m,
  );
  const documents = readDocuments(out).map((document) => ('value' in document ? document.value : assert.fail(out)));
  const file = join(tempFolder('init'), 'policies.yaml');
  const answers = ['maybe', 'y', file];
  const asked: string[] = [];
  const ask = (question: string) => {
    asked.push(question);
    return Promise.resolve(answers.shift());
  };
  const written = await run([], { ask });
  assert.equal(written.code, 0);
  assert.match(written.out, /^POLICY +IMAGE +RUNS +SELECTS +NOW\n/);
  assert.match(written.out, /left out: \S*shop\/web@sha256:\S+ of Deployment \S*\/web-frozen: it is pinned by its digest only/);
  assert.equal(readFileSync(file, 'utf8'), out);
  assert.deepEqual(
    asked.map((question) => question.split(/[?[]/)[0]),
    ['Write all of them', 'Write all of them', 'File '],
  );
  for (const document of documents) await world.cluster.request('POST', policiesPath(world.namespace, 'v1'), document);
  const again = await propose();
  assert.equal(again.policies.length, 0);
});

for (const args of [['-A', '-n', 'shop'], ['--mode', 'Now'], ['--output', 'text'], ['web'], ['--force']]) {
  test(`"init ${args.join(' ')}" is reported as wrong usage`, () => assert.rejects(runCommand('init', args), UsageError));
}
