/** BaseImagePolicies with all parts real: fifty applications on one base, and who is behind when it is pushed again. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { inParallel } from '../../src/core/async/in-parallel.ts';
import type { BaseStatus } from '../../src/core/model/base-status.ts';
import { basePath, pushApplications, type Pushed } from '../bases/recognize/applications.ts';
import type { EventView } from '../../src/service/api/event-view.ts';
import { runCommand } from '../cli/run-command.ts';
import { buildImage } from '../bases/recognize/build-image.ts';
import { createAccount, tokenOf } from '../harness/service-account.ts';
import { waitFor } from '../harness/wait-for.ts';
import { announce, startWorld, type Service, type World } from './world.ts';

let world: World;
let service: Service;
let pushed: Pushed;

const policyPath = (name: string) => `/apis/operator.technomad.dev/v1/namespaces/${world.namespace}/baseimagepolicies/${name}`;

before(async () => {
  world = await startWorld();
  pushed = await pushApplications(world.registry.host);
  service = await world.start();
  await announce(world.registry, service);
});
after(() => world.stop());

async function createBasePolicy(name: string, spec: object): Promise<void> {
  const image = `${world.registry.host}/${basePath}`;
  await world.cluster.request('POST', `/apis/operator.technomad.dev/v1/namespaces/${world.namespace}/baseimagepolicies`, {
    apiVersion: 'operator.technomad.dev/v1',
    kind: 'BaseImagePolicy',
    metadata: { name },
    spec: { image, select: { digest: { tag: '21' } }, workloads: [{}], onNewBase: [{ report: {} }], poll: { interval: '8h' }, ...spec },
  });
}

async function readStatus(name: string): Promise<BaseStatus> {
  const { status = {} } = (await world.cluster.request('GET', policyPath(name))) as { status?: BaseStatus };
  return status;
}

const waitForStatus = (name: string, what: string, isReached: (status: BaseStatus) => boolean) =>
  waitFor(`${name}: ${what}`, async () => {
    const status = await readStatus(name);
    return isReached(status) && status;
  });

test('fifty applications on a base are recognized, and no others, and all are behind after a push of the base', async () => {
  const deploy = ({ name, path }: Pushed['applications'][number]) => world.createDeployment(name, `${world.registry.host}/${path}:1`);
  for (const result of await inParallel(pushed.applications, 8, deploy)) if (result.status === 'rejected') throw result.reason;
  await createBasePolicy('java', { workloads: [{ selector: { matchExpressions: [{ key: 'app', operator: 'Exists' }] } }] });
  await createBasePolicy('all', {});
  const count = (state: string) => pushed.applications.filter(({ expected }) => expected.split(' ')[0] === state).length;
  const total = pushed.applications.length;
  const counts = {
    total,
    current: count('Current'),
    behind: count('Behind'),
    otherLine: 0,
    unknown: count('Unknown'),
    unrelated: count('unrelated'),
    reported: count('Behind'),
  };
  const first = await waitForStatus('all', 'all images are counted', ({ images }) => images?.total === total);
  assert.deepEqual(first.images, counts);
  assert.deepEqual([first.latest?.tag, first.latest?.digest], ['21', pushed.versions.new.digest]);
  const ready = first.conditions?.find(({ type }) => type === 'Ready');
  assert.deepEqual([ready?.status, ready?.reason], ['True', 'ImagesBehind']);
  assert.match(ready?.message ?? '', new RegExp(`${counts.behind} of ${total} images are behind 21`));
  assert.equal(first.dependents?.length, 20);
  assert.ok(
    first.dependents.every(({ state, behindSince, action }) => state === 'Behind' && behindSince !== undefined && action === 'report'),
  );
  const target = { host: world.registry.host, repository: basePath, tag: '21' };
  const { digest } = await buildImage(target, { layers: 'os java3' });
  const second = await waitForStatus('all', 'the new base is selected', ({ latest }) => latest?.digest === digest);
  const after = await waitForStatus('all', 'nothing is current', ({ images }) => images?.current === 0);
  const behind = counts.current + counts.behind;
  assert.deepEqual(after.images, { ...counts, current: 0, behind, reported: behind });
  assert.equal(after.behindSince, first.behindSince, 'the images that were behind before are behind for longer');
  assert.ok((second.latest?.selectedAt ?? '') >= (first.latest?.selectedAt ?? ''));
  assert.deepEqual(
    after.history?.map((entry) => entry.digest),
    [digest, pushed.versions.new.digest],
  );
  const selected = await waitForStatus('java', 'no workload matches', ({ images }) => images !== undefined);
  assert.equal(selected.images?.total, 0, 'the Deployments have no labels of their own');
  const [event] = await world.waitForEvents('BaseImagePolicy', 'all');
  assert.match(event?.message ?? '', /^21@sha256:[0-9a-f]{64} is the base now: \d+ of 61 images are behind 21/);
});

test('the push of a base is recorded with what each policy found', async () => {
  await createBasePolicy('recorded', {});
  await createBasePolicy('suspended', { suspend: true });
  await waitForStatus('recorded', 'the base is selected', ({ latest }) => latest !== undefined);
  await waitForStatus('suspended', 'it is suspended', ({ conditions = [] }) => conditions.some(({ reason }) => reason === 'Suspended'));
  const { cluster, namespace } = world;
  // A finalizer keeps it.
  await createBasePolicy('deleted', {});
  await waitForStatus('deleted', 'the base is selected', ({ latest }) => latest !== undefined);
  const setFinalizers = (finalizers: string[]) =>
    cluster.request('PATCH', policyPath('deleted'), { metadata: { finalizers } }, 'application/merge-patch+json');
  await setFinalizers(['example.com/hold']);
  await cluster.request('DELETE', policyPath('deleted'));
  await buildImage({ host: world.registry.host, repository: basePath, tag: '21' }, { layers: 'os java4' });
  const rules = [{ apiGroups: ['operator.technomad.dev'], resources: ['imagepolicies'], verbs: ['get', 'list'] }];
  await createAccount(cluster, { name: 'reader', namespace }, [{ namespace, rules }]);
  const headers = { Authorization: `Bearer ${await tokenOf(cluster, { name: 'reader', namespace })}` };
  const results = await waitFor('the result of the push', async () => {
    const answer = await fetch(
      `${service.operationsUrl}/api/v1/events?repository=${encodeURIComponent(`${world.registry.host}/${basePath}`)}`,
      { headers },
    );
    const { events = [] } = (await answer.json()) as { events?: EventView[] };
    const { policies = [] } = events[0] ?? {};
    const outcomes = ['bipol:recorded', 'bipol:all'].map((of) => policies.find(({ name }) => name === of)?.outcome);
    return outcomes.every((outcome) => outcome === 'unchanged') && policies;
  });
  // A record may say that it is gone, if the push came before the cache knew.
  const idle = results.filter(({ name }) => name === 'bipol:suspended' || name === 'bipol:deleted');
  assert.ok(
    idle.every(({ outcome }) => outcome === 'ignored'),
    JSON.stringify(idle),
  );
  await setFinalizers([]);
  const all = results.find(({ name }) => name === 'bipol:all');
  assert.equal(all?.reason, 'ImagesBehind');
});

test('images of other namespaces count only with the consent of their owners', async () => {
  const other = await world.cluster.namespace('apps');
  const labels = { tier: `apps-${other}` };
  await world.cluster.request('PATCH', `/api/v1/namespaces/${other}`, { metadata: { labels } }, 'application/merge-patch+json');
  const spec = {
    selector: { matchLabels: { app: 'a' } },
    template: {
      metadata: { labels: { app: 'a' } },
      spec: { containers: [{ name: 'c', image: `${world.registry.host}/shop/${pushed.applications[0]?.name}:1` }] },
    },
  };
  await world.cluster.request('POST', `/apis/apps/v1/namespaces/${other}/deployments`, {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web' },
    spec,
  });
  await createBasePolicy('apps', { workloads: [{ namespaceSelector: { matchLabels: labels } }] });
  const before = await waitForStatus('apps', 'images are counted', ({ images }) => images !== undefined);
  assert.equal(before.images?.total, 0);
  const annotations = { 'operator.technomad.dev/allow-policies-from': world.namespace };
  await world.annotate(`/api/v1/namespaces/${other}`, annotations);
  await waitForStatus('apps', 'the image is counted', ({ images }) => images?.total === 1);
  await world.cluster.request(
    'PATCH',
    `/api/v1/namespaces/${other}`,
    { metadata: { labels: { [Object.keys(labels)[0] ?? '']: null } } },
    'application/merge-patch+json',
  );
  await waitForStatus('apps', 'it is not counted any more', ({ images }) => images?.total === 0);
});

test('the commands approve, check, suspend and resume act on a BaseImagePolicy', async () => {
  const { namespace, cluster } = world;
  const trigger = { images: ['*'], webhook: { url: 'https://ci.example.com/hook', secretRef: { name: 'ci', key: 'key' } } };
  await createBasePolicy('approved', { mode: 'Approval', onNewBase: [{ trigger }], waves: { maxParallel: 100 } });
  const pending = await waitForStatus('approved', 'an approval is pending', ({ pendingApproval }) => pendingApproval !== undefined);
  const on = (...args: string[]) => ['bipol/approved', '-n', namespace, '--kubeconfig', cluster.kubeconfigPath, ...args];
  const approved = await runCommand('approve', on('21', '-o', 'name'));
  assert.deepEqual([approved.code, approved.out], [0, 'baseimagepolicy.operator.technomad.dev/approved\n']);
  const requested = await waitForStatus('approved', 'the rebuilds are requested', ({ requests = [] }) => requests.length > 0);
  assert.equal(requested.pendingApproval, undefined);
  assert.equal(requested.requests?.[0]?.base, pending.pendingApproval?.digest);
  const checked = await runCommand('check', on());
  assert.match(checked.out, /^selected: 21@sha256:[0-9a-f]{64}\nReady: True, ImagesBehind: /);
  await runCommand('suspend', on());
  await waitForStatus('approved', 'it is suspended', ({ conditions = [] }) => conditions.some(({ reason }) => reason === 'Suspended'));
  await runCommand('resume', on());
  await waitForStatus('approved', 'it is active', ({ conditions = [] }) => conditions.some(({ reason }) => reason === 'ImagesBehind'));
  const explained = await runCommand('explain', on());
  assert.equal(explained.code, 0, 'a rebuild is requested of each image');
  assert.match(
    explained.out,
    /^\S+\/approved: ImagesBehind: \d+ of 61 images are behind 21.*\nbase: 21@sha256:[0-9a-f]{64}, selected \S+\n(?:· .*\n){3}✓ \S+\/shop\//,
  );
  assert.match(explained.out, /\n✓ .*: Requested, on .*, behind for \d+s \(Deployment .*\)\n {4}trigger: RebuildPending/);
  assert.match(explained.out, /… and \d+ more images/);
  const reported = await runCommand('explain', ['bipol/all', '-n', namespace, '--kubeconfig', cluster.kubeconfigPath]);
  assert.deepEqual([reported.code, /\n✗ .*: Behind, on /.test(reported.out)], [1, true], 'nothing is done about them');
  const json = JSON.parse((await runCommand('explain', on('-o', 'json'))).out) as { allowed: boolean; dependents: object[] };
  assert.deepEqual([json.allowed, json.dependents.length], [true, 20]);
  await assert.rejects(async () => runCommand('explain', on('--push', 'harbor.example.com/a:1')), /--push is for ImagePolicies/);
  const missing = await runCommand('check', ['bipol/nobody', '-n', namespace, '--kubeconfig', cluster.kubeconfigPath]);
  assert.deepEqual([missing.code, missing.err], [1, `there is no BaseImagePolicy ${namespace}/nobody\n`]);
});
