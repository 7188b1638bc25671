import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { convertReview } from '../../../src/conversion/convert-review.ts';
import { crdName } from '../../../src/service/resources/group.ts';
import { oldCrd } from '../../service/resources/old-crd.ts';
import { borrowControlPlane, type ControlPlane } from '../../harness/control-plane.ts';
import { type ConversionEndpoint, startConversionEndpoint } from '../../harness/conversion-endpoint.ts';
import { readStoredObjects } from '../../harness/etcd-objects.ts';
import { waitFor } from '../../harness/wait-for.ts';
import { runCommand, runCrd } from '../../cli/run-command.ts';
import { reportProgress } from '../../../src/conversion/commands/crd-migrate.ts';

const crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const admission = '/apis/admissionregistration.k8s.io/v1';
const policies = (version: string, name = '') =>
  `/apis/operator.technomad.dev/${version}/namespaces/default/imagepolicies${name && `/${name}`}`;
const applied = 'application/apply-patch+yaml';

let cluster: ControlPlane;
let endpoint: ConversionEndpoint;
before(async () => {
  [cluster, endpoint] = await Promise.all([borrowControlPlane(), startConversionEndpoint(convertReview)]);
});
after(() => Promise.all([cluster.stop(), endpoint.stop()]));

const crd = (action: string, ...args: string[]) => runCrd(cluster.kubeconfigPath, action, ...args);
const withUrl = () => ['--conversion-url', endpoint.url, '--ca-file', endpoint.caFile];

const spec = {
  repository: 'library/nginx',
  tagPolicy: { strategy: 'Regex', pattern: '^release-.*' },
  updateTarget: { kind: 'Deployment', name: 'web', namespace: 'default' },
  pollIntervalMinutes: 5,
};
const policy = (name: string, rest: object = {}) => ({
  apiVersion: 'operator.technomad.dev/v1alpha1',
  kind: 'ImagePolicy',
  metadata: { name },
  spec,
  ...rest,
});

async function stored(): Promise<Record<string, string>> {
  const objects = await readStoredObjects(cluster.etcd.url, '/registry/operator.technomad.dev/imagepolicies/');
  return Object.fromEntries(objects.map(({ value }) => [value.metadata.name, value.apiVersion.replace(/^.*\//, '')]));
}

const readCrd = () =>
  cluster.request<{ metadata: object; spec: Record<string, unknown>; status: { storedVersions: string[] } }>('GET', `${crds}/${crdName}`);
const storedVersions = async () => (await readCrd()).status.storedVersions;
const refusal = (error: unknown) => (error as { status: number }).status;
const isServed = (version: string) =>
  cluster.request('GET', policies(version)).then(
    () => true,
    (error: unknown) => refusal(error) !== 404,
  );

test('crd migrate says what to do in a cluster without the definition', async () => {
  const { code, err } = await crd('migrate');
  assert.equal(code, 1);
  assert.match(err, /has no CustomResourceDefinition imagepolicies.*run "crd apply" first/);
  const content = await crd('migrate', '--if-present');
  assert.deepEqual([content.code, content.err], [0, '']);
  assert.match(content.out, /there is no CustomResourceDefinition/);
});

test('crd migrate has nothing to migrate with the older definition, and says what to do', async () => {
  await cluster.request('POST', crds, oldCrd);
  await waitFor('it to be served', () => isServed('v1alpha1'));
  for (const name of ['first', 'forbidden', 'last']) await cluster.request('POST', policies('v1alpha1'), policy(name));
  await cluster.request('POST', policies('v1alpha1'), policy('without-spec', { spec: undefined }));
  const { code, out } = await crd('migrate');
  assert.equal(code, 0);
  assert.match(out, /storedVersions is \[v1alpha1\].*\n.*"crd apply" changes that to v1/);
});

test('crd migrate refuses two versions without a webhook, because fields would be lost', async () => {
  const before = await readCrd();
  const { out } = await runCommand('crd', ['print', '--kind', 'ImagePolicy', '-o', 'json']);
  const printed = JSON.parse(out) as { spec: Record<string, unknown> };
  await cluster.request('PUT', `${crds}/${crdName}`, { ...before, spec: { ...printed.spec, conversion: { strategy: 'None' } } });
  const { code, err } = await crd('migrate');
  assert.equal(code, 1);
  assert.match(err, /has no conversion webhook, but objects may be stored as v1alpha1/);
  assert.equal((await stored())['first'], 'v1alpha1');
});

test('a policy that the API server refuses does not stop the migration of others, and storedVersions stays', async () => {
  assert.equal((await crd('apply', ...withUrl())).code, 0);
  const rules = [{ apiGroups: ['operator.technomad.dev'], apiVersions: ['*'], operations: ['UPDATE'], resources: ['imagepolicies'] }];
  const validations = [{ expression: "object.metadata.name != 'forbidden'", message: 'nobody touches this one' }];
  await cluster.request('POST', `${admission}/validatingadmissionpolicies`, {
    metadata: { name: 'untouchable' },
    spec: { failurePolicy: 'Fail', matchConstraints: { resourceRules: rules }, validations },
  });
  await cluster.request('POST', `${admission}/validatingadmissionpolicybindings`, {
    metadata: { name: 'untouchable' },
    spec: { policyName: 'untouchable', validationActions: ['Deny'] },
  });
  const touch = () => cluster.request('PATCH', `${policies('v1', 'forbidden')}?dryRun=All`, { metadata: { labels: { a: 'b' } } });
  await waitFor('the rule to hold', () =>
    touch().then(
      () => false,
      (error: Error) => error.message.includes('nobody touches this one'),
    ),
  );
  const { code, out } = await crd('migrate');
  assert.equal(code, 1);
  assert.match(
    out,
    /^4 policies, 3 rewritten as v1 in .* s\n1 could not be rewritten:\n {2}default\/forbidden: .*nobody touches this one\n/,
  );
  assert.match(out, /storedVersions is still \[v1alpha1, v1\]: correct or delete/);
  assert.deepEqual(await stored(), { first: 'v1', forbidden: 'v1alpha1', last: 'v1', 'without-spec': 'v1' });
  const json = await crd('migrate', '-o', 'json');
  const { refused, rewritten } = JSON.parse(json.out) as { refused: object[]; rewritten: number };
  assert.deepEqual([json.code, rewritten, refused.length], [1, 0, 1]);
  assert.ok(
    json.err
      .trim()
      .split('\n')
      .every((line) => typeof JSON.parse(line) === 'object'),
    'progress is JSON lines',
  );
  await cluster.request('DELETE', `${admission}/validatingadmissionpolicybindings/untouchable`);
  await waitFor('the rule to be gone', () => touch().then(() => true));
});

test('several migrations that run simultaneously all succeed', async () => {
  const all = await Promise.all([crd('migrate'), crd('migrate'), crd('migrate')]);
  for (const { code, out, err } of all) assert.equal(code, 0, `${out}${err}`);
  assert.deepEqual([await storedVersions(), (await stored())['forbidden']], [['v1'], 'v1']);
});

test('crd migrate --retire is refused while a policy needs v1alpha1, with all reasons', async () => {
  const patch = policy('first', { metadata: { name: 'first', labels: { a: 'b' } }, spec: undefined });
  await cluster.request('PATCH', `${policies('v1alpha1', 'first')}?fieldManager=flux`, patch, applied);
  const manifest = { 'kubectl.kubernetes.io/last-applied-configuration': JSON.stringify(policy('last')) };
  await cluster.request('PATCH', policies('v1', 'last'), { metadata: { annotations: manifest } });
  const { code, out } = await crd('migrate', '--retire', 'v1alpha1', '--unused-for', '0s');
  assert.equal(code, 1);
  assert.match(
    out,
    /still needed:\n {2}default\/first: flux applies it server-side in that version\n {2}default\/last: its manifest was applied in that version\n/,
  );
  const lately = await crd('migrate', '--retire', 'v1alpha1', '-o', 'json');
  const { retirement } = JSON.parse(lately.out) as { retirement: { action: string; uses: { name: string; why: string }[] } };
  assert.equal(retirement.action, 'refused');
  assert.ok(retirement.uses.some(({ name, why }) => name === 'forbidden' && /wrote it through that version at/.test(why)));
  assert.ok(await isServed('v1alpha1'));
});

test('crd migrate --retire succeeds when policies are applied as v1, is kept by crd apply, and can be reverted', async () => {
  const v1 = { apiVersion: 'operator.technomad.dev/v1', kind: 'ImagePolicy', metadata: { name: 'first', labels: { a: 'c' } } };
  await cluster.request('PATCH', `${policies('v1', 'first')}?fieldManager=flux`, v1, applied);
  await cluster.request('PATCH', policies('v1', 'last'), {
    metadata: { annotations: { 'kubectl.kubernetes.io/last-applied-configuration': null } },
  });
  const { code, out } = await crd('migrate', '--retire', 'v1alpha1', '--unused-for', '0s');
  assert.equal(code, 0, out);
  await waitFor('v1alpha1 to be gone', async () => !(await isServed('v1alpha1')));
  // Its managedFields still name v1alpha1, which the API server can still convert.
  await cluster.request(
    'PATCH',
    `${policies('v1', 'forbidden')}?fieldManager=flux`,
    { ...v1, metadata: { name: 'forbidden', labels: { a: 'b' } } },
    applied,
  );
  assert.match((await crd('migrate', '--retire', 'v1alpha1')).out, /was already retired/);
  assert.equal((await crd('apply')).code, 0);
  assert.equal(await isServed('v1alpha1'), false);
  const alone = await crd('apply', '--v1-only');
  assert.equal(alone.code, 1);
  assert.match(alone.err, /managedFields of \d+ objects \(default\/\S+ …\) name v1alpha1: server-side apply to them would fail/);
  assert.equal((await crd('apply', '--serve', 'v1alpha1')).code, 0);
  await waitFor('v1alpha1 to be back', () => isServed('v1alpha1'));
});

test('a downgrade stores v1alpha1 and restores the older definition with what it can express, and an upgrade works again', async () => {
  await cluster.request('PATCH', policies('v1', 'first'), { spec: { minAge: '2h' } });
  assert.equal((await crd('apply', '--storage', 'v1alpha1')).code, 0);
  const { code, out } = await crd('migrate');
  assert.equal(code, 0, out);
  assert.match(out, /^4 policies, 4 rewritten as v1alpha1 .*\nstatus.storedVersions is \[v1alpha1\]/);
  assert.deepEqual([await storedVersions(), new Set(Object.values(await stored()))], [['v1alpha1'], new Set(['v1alpha1'])]);
  const { metadata } = await readCrd();
  await cluster.request('PUT', `${crds}/${crdName}`, { ...oldCrd, metadata });
  await waitFor('v1 to be gone', async () => !(await isServed('v1')));
  const readOlderSpec = async (name: string) => (await cluster.request<{ spec: typeof spec }>('GET', policies('v1alpha1', name))).spec;
  assert.deepEqual(await readOlderSpec('last'), spec);
  assert.deepEqual((await readOlderSpec('first')).repository, spec.repository);
  assert.notEqual(
    (await readOlderSpec('first')).tagPolicy.pattern,
    spec.tagPolicy.pattern,
    'an older service must not act on what it cannot see',
  );
  await cluster.request('PATCH', policies('v1alpha1', 'last'), { spec: { pollIntervalMinutes: 7 } });
  assert.equal((await crd('apply', ...withUrl())).code, 0);
  assert.equal((await crd('migrate')).code, 0);
  const newer = async (name: string) => (await cluster.request<{ spec: Record<string, unknown> }>('GET', policies('v1', name))).spec;
  assert.deepEqual([(await newer('first'))['minAge'], (await newer('last'))['poll']], ['2h', { interval: '7m' }]);
  assert.deepEqual([await storedVersions(), new Set(Object.values(await stored()))], [['v1'], new Set(['v1'])]);
});

const counts = (rewritten: number, refused = 0) => ({
  total: 1_000,
  rewritten,
  unchanged: 0,
  gone: 0,
  refused: Array.from({ length: refused }, () => ({ namespace: 'a', name: 'b', message: 'c' })),
});

function report(style: 'line' | 'lines' | 'json') {
  const written: string[] = [];
  let time = 0;
  const progress = reportProgress({ write: (text) => written.push(text), style, now: () => time });
  return { written, progress, at: (milliseconds: number) => (time = milliseconds) };
}

test('crd migrate shows its progress on a terminal in one line that is redrawn', () => {
  const { written, progress, at } = report('line');
  progress.update(counts(1), 1);
  at(100);
  progress.update(counts(50), 1);
  at(500);
  progress.update(counts(100), 1);
  progress.end();
  progress.end();
  assert.deepEqual(written, [
    '\r\u001B[Kmigrating: 1 of 1000, 999 remain, 1000/s, 1 rewritten',
    '\r\u001B[Kmigrating: 100 of 1000, 900 remain, 200/s, 100 rewritten',
    '\n',
  ]);
});

test('crd migrate prints its progress without a terminal now and then, and at the end of each pass', () => {
  const { written, progress, at } = report('lines');
  progress.update(counts(1), 1);
  at(4_000);
  progress.update(counts(600), 1);
  at(5_000);
  progress.update(counts(900, 100), 1);
  at(5_100);
  progress.update(counts(0), 2);
  at(11_100);
  progress.update(counts(600), 2);
  progress.end();
  assert.deepEqual(written, [
    'migrating: 1 of 1000, 999 remain, 1000/s, 1 rewritten\n',
    'migrating: 1000 of 1000, 0 remain, 200/s, 900 rewritten, 100 refused\n',
    'checking: 600 of 1000, 400 remain, 100/s, 600 rewritten\n',
  ]);
});

test('crd migrate -o json prints its progress as JSON lines', () => {
  const { written, progress, at } = report('json');
  at(10_000);
  progress.update(counts(500), 1);
  assert.deepEqual(
    written.map((line) => JSON.parse(line) as unknown),
    [{ pass: 1, done: 500, total: 1_000, rewritten: 500, refused: 0, remaining: 500, perSecond: 500_000 }],
  );
});
