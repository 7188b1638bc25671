/** A base is pushed, and the images of workloads are rebased onto it in a real registry, and rolled out. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { BaseStatus } from '../../src/model/base-policy.ts';
import { ecSigner, pemOf, signSimple } from '../verify/cosign.ts';
import { pushSimple } from '../verify/push-signature.ts';
import { pushReal } from '../rebase/build.ts';
import { newBase, type Pushed, pushJava } from '../rebase/java-images.ts';
import { shippedRules } from '../harness/shipped-permissions.ts';
import { waitFor } from '../harness/wait-for.ts';
import { announce, startWorld, type World } from './world.ts';

let world: World;
let pushed: Pushed;

before(async () => {
  world = await startWorld({ extraRules: shippedRules('work-rebase') });
  const { host } = world.registry;
  pushed = await pushJava({ registry: host, proxy: host });
  await announce(world.registry, await world.start());
});
after(() => world.stop());

const base64 = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64');
const policies = (name = '') =>
  `/apis/operator.technomad.dev/v1/namespaces/${world.namespace}/baseimagepolicies/${name}`.replace(/\/$/, '');

const waitForImage = (what: string, isReached: (one: NonNullable<BaseStatus['dependents']>[number]) => boolean) =>
  waitFor(what, async () => {
    const { status = {} } = (await world.cluster.request('GET', policies('java'))) as { status?: BaseStatus };
    const [found] = status.dependents ?? [];
    return found !== undefined && isReached(found) && found;
  });

test('the image is rebased with the push Secret, and its workload runs it', async () => {
  const { host } = world.registry;
  const base = pushed.order.newBase.source.path;
  await world.createDeployment('web', `${pushed.app}:1.2.3`);
  await world.cluster.request('POST', policies(), {
    apiVersion: 'operator.technomad.dev/v1',
    kind: 'BaseImagePolicy',
    metadata: { name: 'java' },
    spec: {
      image: `${host}/${base}`,
      select: { semver: { range: '21.x' } },
      workloads: [{}],
      onNewBase: [{ rebase: { images: [`${host}/*`], pushSecret: { name: 'rebaser' } } }, { report: {} }],
    },
  });
  const refused = await waitForImage('it is refused without the Secret', ({ state }) => state === 'Refused');
  assert.equal(refused.reason, 'PushSecretUnusable');
  assert.match(refused.message ?? '', new RegExp(`^Secret ${world.namespace}/rebaser does not exist`));

  await world.cluster.request('POST', `/api/v1/namespaces/${world.namespace}/secrets`, {
    metadata: { name: 'rebaser' },
    type: 'kubernetes.io/dockerconfigjson',
    data: { '.dockerconfigjson': base64({ auths: { [host]: { username: 'rebaser', password: 'x' } } }) },
  });
  // The next push of the base starts it.
  await pushReal({ host, repository: base, tag: '21.0.3' }, newBase);
  const rebased = await waitForImage('it is rebased', (one) => one.rebased !== undefined);
  assert.match(rebased.rebased ?? '', /^1\.2\.3-base\.\d{8}$/);
  await world.waitForImage('web', `${pushed.app}:${rebased.rebased}`);
});

test('a rebased image waits for the signature that the own policy of its workload demands', async () => {
  const { host } = world.registry;
  const { app, order } = await pushJava({ registry: host, proxy: host });
  const ours = ecSigner();
  await world.cluster.request('POST', `/api/v1/namespaces/${world.namespace}/secrets`, {
    metadata: { name: 'cosign' },
    stringData: { 'cosign.pub': pemOf(ours) },
  });
  await world.createDeployment('signed', `${app}:1.2.3`);
  const verify = { cosign: { keys: [{ secretRef: { name: 'cosign', key: 'cosign.pub' } }] } };
  await world.createPolicy('signed', app, { strategy: 'SemVer' }, { verify });
  await world.waitForCondition('signed', 'Ready', 'NotSigned');
  await world.cluster.request('POST', policies(), {
    apiVersion: 'operator.technomad.dev/v1',
    kind: 'BaseImagePolicy',
    metadata: { name: 'signed' },
    spec: {
      image: `${host}/${order.newBase.source.path}`,
      select: { semver: { range: '21.x' } },
      workloads: [{}],
      onNewBase: [{ rebase: { images: [app], pushSecret: { name: 'rebaser' } } }, { report: {} }],
    },
  });
  const child = await waitFor('the child to wait for a signature', async () => {
    const found = (await world.listPolicies()).find(({ metadata }) => metadata.name.startsWith('signed-'));
    return found?.status?.conditions?.some(({ reason }) => reason === 'NotSigned') && found.status;
  });
  const why = child.conditions?.find(({ type }) => type === 'Ready')?.message ?? '';
  assert.match(why, new RegExp(`ImagePolicy ${world.namespace}/signed has the same target and demands signatures: `));
  const { spec } = await world.readDeployment('signed');
  assert.equal(spec.template.spec.containers[0]?.image, `${app}:1.2.3`);
  const [, tag = '', digest = ''] = /:(1\.2\.3-base\.\d{8}(?:\.\d+)?) \((sha256:[0-9a-f]{64})\)/.exec(why) ?? assert.fail(why);
  await pushSimple({ host, repository: app.slice(host.length + 1) }, digest, [signSimple(digest, ours)]);
  await world.waitForImage('signed', `${app}:${tag}`);
});
