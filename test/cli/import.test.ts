import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { UsageError } from '../../src/service/command-line/command.ts';
import type { Imported } from '../../src/cli/import/importer.ts';
import { readDocuments } from '../../src/cli/manifests/read-documents.ts';
import { installCrd, policiesPath } from '../service/resources/install-crd.ts';
import { borrowControlPlane, type ControlPlane } from '../harness/control-plane.ts';
import { runCommand } from './run-command.ts';

let cluster: ControlPlane;
let namespace: string;
before(async () => {
  cluster = await borrowControlPlane();
  await installCrd(cluster, ['v1']);
  namespace = await cluster.namespace('keel');
  const template = (image: string) => ({ metadata: { labels: { app: 'a' } }, spec: { containers: [{ name: 'app', image }] } });
  const selector = { matchLabels: { app: 'a' } };
  const jobTemplate = (image: string) => {
    const { metadata, spec } = template(image);
    return { spec: { template: { metadata, spec: { ...spec, restartPolicy: 'Never' } } } };
  };
  const apps = `/apis/apps/v1/namespaces/${namespace}`;
  const keel = (name: string, annotations: Record<string, string>, labels: Record<string, string> = {}) => ({ name, annotations, labels });
  await Promise.all([
    cluster.request('POST', `${apps}/deployments`, {
      metadata: keel('web', { 'keel.sh/policy': 'minor', 'keel.sh/approvals': '2' }),
      spec: { selector, template: template('ghcr.io/shop/web:1.4.2') },
    }),
    cluster.request('POST', `${apps}/deployments`, { metadata: { name: 'other' }, spec: { selector, template: template('nginx:1.0.0') } }),
    cluster.request('POST', `${apps}/statefulsets`, {
      metadata: keel('db', {}, { 'keel.sh/policy': 'force', 'keel.sh/match-tag': 'true', 'keel.sh/trigger': 'poll' }),
      spec: { selector, serviceName: 'db', template: template('ghcr.io/shop/db:stable') },
    }),
    cluster.request('POST', `${apps}/daemonsets`, {
      metadata: keel('agent', { 'keel.sh/policy': 'glob:build-*', 'keel.sh/trigger': 'poll', 'keel.sh/pollSchedule': '@every 5m' }),
      spec: { selector, template: template('ghcr.io/shop/agent:build-7') },
    }),
    cluster.request('POST', `${apps}/deployments`, {
      metadata: keel('kafka', { 'keel.sh/policy': 'force' }),
      spec: { selector, template: template('confluentinc/cp-kafka:7.9.1-1-ubi8') },
    }),
    cluster.request('POST', `${apps}/deployments`, {
      metadata: keel('nightly', { 'keel.sh/policy': 'force', 'keel.sh/approvals': '1' }),
      spec: { selector, template: template('ghcr.io/shop/nightly:20260301') },
    }),
    cluster.request('POST', `/apis/batch/v1/namespaces/${namespace}/cronjobs`, {
      metadata: keel('report', { 'keel.sh/policy': 'patch' }),
      spec: { schedule: '0 3 * * *', jobTemplate: jobTemplate('ghcr.io/shop/report:main') },
    }),
  ]);
});
after(() => cluster.stop());

const run = (...args: string[]) => runCommand('import', ['keel', '--kubeconfig', cluster.kubeconfigPath, ...args]);

test('import keel reads every kind that Keel updates, and reports what cannot be converted, with exit code 1', async () => {
  const { code, out, err } = await run('--output', 'json', '--namespace', namespace);
  const { policies, skipped } = JSON.parse(out) as Imported;
  assert.deepEqual(
    policies.map(({ policy: { metadata, spec } }) => [metadata.name, spec.targets[0]?.kind, Object.keys(spec.select)[0]]),
    [
      ['kafka', 'Deployment', 'semver'],
      ['nightly', 'Deployment', 'numerical'],
      ['web', 'Deployment', 'semver'],
      ['db', 'StatefulSet', 'digest'],
      ['agent', 'DaemonSet', 'alphabetical'],
    ],
  );
  assert.deepEqual(
    skipped.map(({ object }) => object),
    [`CronJob ${namespace}/report`],
  );
  assert.deepEqual([code, err], [1, '5 policies with 5 targets; 1 not carried over\n']);
});

test('the API server accepts the policies that import keel prints for all namespaces', async () => {
  const { out } = await run();
  const documents = readDocuments(out).map((document) => ('value' in document ? document.value : assert.fail(out)));
  assert.equal(documents.length, 5);
  for (const document of documents) await cluster.request('POST', policiesPath(namespace, 'v1'), document);
});

test("import keel pins digests for force on a version or a number, and keeps the rest of the policy's update", async () => {
  const { out } = await run('--output', 'json', '--namespace', namespace);
  const { policies } = JSON.parse(out) as Imported;
  const updates = policies.map(({ policy: { metadata, spec } }) => [metadata.name, spec.update]);
  assert.deepEqual(
    updates.filter(([, update]) => update !== undefined),
    [
      ['kafka', { pin: 'Digest' }],
      ['nightly', { mode: 'Approval', pin: 'Digest' }],
      ['web', { mode: 'Approval' }],
    ],
  );
});

test('import keel prints nothing and ends with 0 if no workload has settings for Keel', async () => {
  const { code, out, err } = await run('-n', 'default');
  assert.deepEqual([code, out, err], [0, '', 'no workload has settings of Keel\n']);
});

test('import keel ends with 1 if the cluster does not answer', async () => {
  const { code, err } = await runCommand('import', ['keel', '--kubeconfig', '/does/not/exist']);
  assert.equal(code, 1);
  assert.match(err, /^the kubeconfig .* does not exist/);
});

for (const args of [[], ['helm'], ['keel', '--output', 'text'], ['keel', '--force']]) {
  test(`the command "import ${args.join(' ')}" is reported as wrong usage`, () => assert.rejects(runCommand('import', args), UsageError));
}
