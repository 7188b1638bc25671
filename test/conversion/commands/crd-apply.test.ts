import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { convertReview } from '../../../src/conversion/convert-review.ts';
import { baseCrdName, crdName } from '../../../src/service/resources/group.ts';
import { oldCrd } from '../../service/resources/old-crd.ts';
import { borrowControlPlane, type ControlPlane } from '../../harness/control-plane.ts';
import { type ConversionEndpoint, startConversionEndpoint } from '../../harness/conversion-endpoint.ts';
import { kubeconfigWithRules } from '../../harness/service-account.ts';
import { tempFolder } from '../../harness/temp-folder.ts';
import { waitFor } from '../../harness/wait-for.ts';
import { runCommand, runCrd } from '../../cli/run-command.ts';
import { addedDefinitions } from '../../harness/resource-group.ts';

const crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const policies = (version: string, namespace = 'default') =>
  `/apis/operator.technomad.dev/${version}/namespaces/${namespace}/imagepolicies`;

interface Crd {
  metadata: { generation: number; resourceVersion: string; annotations?: Record<string, string>; labels?: Record<string, string> };
  spec: {
    versions: { name: string; served: boolean; storage: boolean }[];
    conversion: { strategy: string; webhook?: { clientConfig: object } };
  };
  status: { storedVersions: string[] };
}

/** A version as an earlier program may have had it. */
const olderBase = {
  name: 'v1',
  served: true,
  storage: true,
  schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
};

let cluster: ControlPlane;
let endpoint: ConversionEndpoint;
let strange: ConversionEndpoint;
before(async () => {
  [cluster, endpoint, strange] = await Promise.all([
    borrowControlPlane(),
    startConversionEndpoint(convertReview),
    startConversionEndpoint(() => ({ status: 200, body: { hello: 'world' } })),
  ]);
});
after(() => Promise.all([cluster.stop(), endpoint.stop(), strange.stop()]));

const allNames = [crdName, ...addedDefinitions.map(({ name }) => name)];

beforeEach(async () => {
  for (const name of allNames) {
    await cluster.request('DELETE', `${crds}/${name}`).catch((error: unknown) => assert.equal((error as { status: number }).status, 404));
    await waitFor(`${name} to be gone`, async () => (await read(name)) === undefined);
  }
});

const apply = (...args: string[]) => runCrd(cluster.kubeconfigPath, 'apply', ...args);
const withUrl = () => ['--conversion-url', endpoint.url, '--ca-file', endpoint.caFile];

async function read(name: string = crdName): Promise<Crd | undefined> {
  try {
    return await cluster.request<Crd>('GET', `${crds}/${name}`);
  } catch (error) {
    assert.equal((error as { status: number }).status, 404);
    return undefined;
  }
}

async function describe(): Promise<string> {
  const crd = await read();
  const versions = crd?.spec.versions.map(({ name, served, storage }) => `${name}${storage ? ' stored' : ''}${served ? '' : ' unserved'}`);
  return crd ? `${versions?.join(', ')}; ${crd.spec.conversion.strategy}; ${crd.status.storedVersions.join(', ')}` : 'nothing';
}

async function installOld(): Promise<Crd> {
  await cluster.request('POST', crds, oldCrd);
  await waitFor('the older definition to be served', () => cluster.request('GET', policies('v1alpha1')).then(() => true));
  const spec = {
    repository: 'library/openjdk',
    tagPolicy: { strategy: 'SemVer' },
    updateTarget: { kind: 'Deployment', name: 'a', namespace: 'default' },
  };
  const object = { apiVersion: 'operator.technomad.dev/v1alpha1', kind: 'ImagePolicy' };
  // A server that still takes down the handlers of the definition of before refuses with 503.
  const first = { ...object, metadata: { name: 'usual' }, spec };
  await waitFor('a policy to be accepted', () => cluster.request('POST', policies('v1alpha1'), first).then(() => true));
  await cluster.request('POST', policies('v1alpha1'), { ...object, metadata: { name: 'without-spec' } });
  const crd = await read();
  assert.ok(crd);
  return crd;
}

test('crd apply creates the definitions in a new cluster once the endpoint answers, and changes nothing when repeated', async () => {
  const first = await apply(...withUrl());
  const created = allNames.map((name) => `customresourcedefinition ${name} created\n`).join('');
  assert.deepEqual([first.code, first.out], [0, created], first.err);
  assert.equal(await describe(), 'v1 stored, v1alpha1; Webhook; v1');
  for (const args of [withUrl(), []]) {
    const again = await apply('-o', 'json', ...args);
    const unchanged = allNames.map((name) => ({ name, action: 'unchanged' }));
    assert.deepEqual([again.code, JSON.parse(again.out), again.err], [0, unchanged, '']);
  }
});

test('the definition of BaseImagePolicy is updated, keeps labels of others, and serves policies of bases', async () => {
  assert.equal((await apply('--v1-only')).code, 0);
  const older = { metadata: { labels: { team: 'platform' } }, spec: { versions: [olderBase] } };
  await cluster.request('PATCH', `${crds}/${baseCrdName}`, older);
  const { code, out, err } = await apply();
  assert.deepEqual([code, out.split('\n')[1]], [0, `customresourcedefinition ${baseCrdName} updated`], err);
  const updated = await read(baseCrdName);
  assert.deepEqual(updated?.metadata.labels, { team: 'platform' });
  assert.deepEqual(
    updated.spec.versions.map(({ name }) => name),
    ['v1'],
  );
  const policy = parse(readFileSync(new URL('../../../crd/samples/base-java.yaml', import.meta.url), 'utf8')) as object;
  const path = '/apis/operator.technomad.dev/v1/namespaces/default/baseimagepolicies?fieldValidation=Strict';
  const stored = await waitFor('a policy to be accepted', () =>
    cluster
      .request('POST', path, { ...policy, metadata: { name: 'java' } })
      .catch((error: { status: number }) => assert.equal(error.status, 404)),
  );
  assert.ok(stored);
});

test('a failure of the definition of BaseImagePolicy is reported, and that of ImagePolicy is applied', async () => {
  const rules = [{ apiGroups: ['apiextensions.k8s.io'], resources: ['customresourcedefinitions'], verbs: ['get', 'update'] }];
  const kubeconfig = await kubeconfigWithRules(cluster, 'default', 'without-create', rules);
  assert.equal((await apply('--v1-only')).code, 0);
  await cluster.request('DELETE', `${crds}/${baseCrdName}`);
  await waitFor('the definition to be gone', async () => (await read(baseCrdName)) === undefined);
  const { code, err } = await runCrd(kubeconfig, 'apply');
  assert.equal(code, 1);
  assert.match(err, new RegExp(`applying ${baseCrdName} failed: .*403`));
});

test('crd apply writes nothing when the endpoint does not answer or answers nonsense', async () => {
  await endpoint.stop();
  try {
    const { code, err } = await apply(...withUrl());
    assert.equal(code, 1);
    assert.match(err, /conversion endpoint \(https:.*does not answer: .*ECONNREFUSED.*role convert/);
    assert.deepEqual([await describe(), await read(baseCrdName)], ['nothing', undefined]);
    await installOld();
    assert.equal((await apply(...withUrl())).code, 1);
    assert.equal(await describe(), 'v1alpha1 stored; None; v1alpha1');
  } finally {
    await endpoint.start();
  }
  const nonsense = await apply('--conversion-url', strange.url, '--ca-file', strange.caFile);
  assert.match(nonsense.err, /does not convert: its response is not a ConversionReview/);
  const distrusted = await apply('--conversion-url', endpoint.url, '--ca-file', strange.caFile);
  assert.match(distrusted.err, /does not answer: .*certificate/);
  assert.deepEqual([nonsense.code, distrusted.code, await describe()], [1, 1, 'v1alpha1 stored; None; v1alpha1']);
});

test('crd apply writes nothing for a Service whose Secret is missing or which does not answer', async () => {
  const missing = await apply('--conversion-service', 'default/convert');
  assert.equal(missing.code, 1);
  assert.match(missing.err, /Secret default\/image-watcher-conversion does not exist: start the service with the role convert first/);
  const byDefault = await apply();
  assert.match(byDefault.err, /Secret image-watcher\/image-watcher-conversion/);
  const data = { 'ca.crt': Buffer.from(endpoint.caPem).toString('base64') };
  await cluster.request('POST', '/api/v1/namespaces/default/secrets', { metadata: { name: 'image-watcher-conversion' }, data });
  const silent = await apply('--conversion-service', 'default/convert');
  assert.equal(silent.code, 1);
  assert.match(silent.err, /\(Service default\/convert\) does not answer: .*--skip-probe/);
  assert.equal(await describe(), 'nothing');
  const trusted = await apply('--conversion-service', 'default/convert:8443', '--skip-probe');
  assert.equal(trusted.code, 0, trusted.err);
  const service = { namespace: 'default', name: 'convert', port: 8443, path: '/convert' };
  assert.deepEqual((await read())?.spec.conversion.webhook?.clientConfig, { service, caBundle: data['ca.crt'] });
});

test('crd apply switches the older definition to two versions, and all policies are served in both', async () => {
  await installOld();
  const { code, err } = await apply(...withUrl());
  assert.equal(code, 0, err);
  assert.match(err, /service older than v1 must have stopped[^]*converts all 2 objects/);
  assert.equal(await describe(), 'v1 stored, v1alpha1; Webhook; v1alpha1, v1');
  for (const version of ['v1', 'v1alpha1']) {
    // An API server under load may not be ready to list what it serves: 429, "storage is (re)initializing".
    const list = () => cluster.request<{ items: { metadata: { name: string } }[] }>('GET', policies(version));
    const { items } = await waitFor(`the policies in ${version}`, list);
    assert.deepEqual(
      items.map(({ metadata }) => metadata.name),
      ['usual', 'without-spec'],
      version,
    );
  }
});

test('crd apply restores the older definition when the API server cannot use the endpoint', async () => {
  const old = await installOld();
  const { code, err } = await apply('--conversion-url', endpoint.url, '--ca-file', strange.caFile, '--skip-probe', '--timeout', '0s');
  assert.equal(code, 1);
  assert.match(err, /: restored[^]*API server cannot convert: .*certificate/);
  const crd = await read();
  assert.deepEqual([crd?.spec, crd?.status.storedVersions], [old.spec, ['v1alpha1']]);
});

test('several crd apply commands that run simultaneously all succeed', async () => {
  await installOld();
  const all = await Promise.all(Array.from({ length: 4 }, () => apply(...withUrl())));
  for (const { code, err } of all) assert.equal(code, 0, err);
  assert.equal(await describe(), 'v1 stored, v1alpha1; Webhook; v1alpha1, v1');
});

test('crd apply completes what an interrupted crd apply has begun', async () => {
  await installOld();
  await apply(...withUrl(), '--storage', 'v1alpha1');
  assert.equal(await describe(), 'v1, v1alpha1 stored; Webhook; v1alpha1');
  const { code } = await apply();
  assert.deepEqual([code, await describe()], [0, 'v1 stored, v1alpha1; Webhook; v1alpha1, v1']);
});

test('crd apply --inject-ca-from annotates the definition for cert-manager, and leaves its caBundle unchanged', async () => {
  const args = ['--conversion-service', 'ops/convert', '--inject-ca-from', 'ops/convert', '--skip-probe'];
  assert.equal((await apply(...args)).code, 0);
  const caBundle = Buffer.from(endpoint.caPem).toString('base64');
  await cluster.request('PATCH', `${crds}/${crdName}`, { spec: { conversion: { webhook: { clientConfig: { caBundle } } } } });
  const again = await apply(...args);
  assert.match(again.out, /unchanged/);
  const crd = await read();
  assert.equal(crd?.metadata.annotations?.['cert-manager.io/inject-ca-from'], 'ops/convert');
  assert.deepEqual(crd.spec.conversion.webhook?.clientConfig, {
    service: { namespace: 'ops', name: 'convert', port: 443, path: '/convert' },
    caBundle,
  });
});

test('crd apply --v1-only needs no webhook, and is refused while v1alpha1 is stored or served', async () => {
  assert.equal((await apply('--v1-only')).code, 0);
  const policy = {
    apiVersion: 'operator.technomad.dev/v1',
    kind: 'ImagePolicy',
    metadata: { name: 'new' },
    spec: { image: 'library/nginx', select: { semver: {} }, targets: [{ kind: 'Deployment', name: 'web' }] },
  };
  await waitFor('a policy to be accepted', () => cluster.request('POST', policies('v1'), policy).then(() => true));
  const again = await apply();
  assert.deepEqual([again.code, await describe()], [0, 'v1 stored; None; v1'], again.err);
  const both = await apply(...withUrl());
  assert.deepEqual([both.code, await describe()], [0, 'v1 stored, v1alpha1; Webhook; v1'], both.err);
  const served = await apply('--v1-only');
  assert.deepEqual([served.code, await describe()], [1, 'v1 stored, v1alpha1; Webhook; v1']);
  assert.match(served.err, /v1alpha1 is still served/);
});

test('crd apply reports a broken kubeconfig', async () => {
  const file = join(tempFolder('kubeconfig'), 'config');
  writeFileSync(file, 'nonsense');
  const { code, err } = await runCommand('crd', ['apply', '--kubeconfig', file]);
  assert.deepEqual([code, /applying .* failed: /.test(err)], [1, true], err);
});
