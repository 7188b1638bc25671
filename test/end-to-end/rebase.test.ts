/** A base is pushed, and the images of workloads are rebased onto it in a real registry, and rolled out. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { BaseStatus } from '../../src/core/model/base-status.ts';
import { ecSigner, pemOf, signSimple } from '../service/verify/cosign.ts';
import { pushSimple } from '../service/verify/push-signature.ts';
import { pushReal } from '../bases/rebase/build.ts';
import { newBase, type Pushed, pushJava } from '../bases/rebase/java-images.ts';
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

test('an image is rebased with the push Secret, and its workload runs the rebased image', async () => {
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

test('no image is rebased onto a base without a signature, and an image rebased onto a signed base is signed', async () => {
  const { host } = world.registry;
  const { app, order, digests } = await pushJava({ registry: host, proxy: host });
  const [publisher, team] = [ecSigner(), ecSigner()];
  const key = (signer: typeof team) => signer.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  for (const [name, stringData] of Object.entries({ base: { 'cosign.pub': pemOf(publisher) }, team: { 'rebase.pem': key(team) } }))
    await world.cluster.request('POST', `/api/v1/namespaces/${world.namespace}/secrets`, { metadata: { name }, stringData });
  const repositoryOf = (name: string) => ({ host, repository: name.slice(host.length + 1) });
  await pushSimple(repositoryOf(app), digests.application, [signSimple(digests.application, team)]);
  await world.createDeployment('verified', `${app}:1.2.3`);
  const rebase = { images: [app], pushSecret: { name: 'rebaser' }, sign: { keyRef: { name: 'team', key: 'rebase.pem' } } };
  const spec = {
    image: `${host}/${order.newBase.source.path}`,
    select: { semver: { range: '21.x' } },
    workloads: [{}],
    onNewBase: [{ rebase }],
  };
  const create = (more: object) =>
    world.cluster.request('POST', policies(), {
      apiVersion: 'operator.technomad.dev/v1',
      kind: 'BaseImagePolicy',
      metadata: { name: 'verified' },
      spec: { ...spec, ...more },
    });
  await assert.rejects(create({}), /rebase\.sign signs images with whatever is pushed as their base: write verify/);
  await create({ verify: { cosign: { keys: [{ secretRef: { name: 'base', key: 'cosign.pub' } }] } } });

  const conditionOf = async () => {
    const { status = {} } = (await world.cluster.request('GET', policies('verified'))) as { status?: BaseStatus };
    return status.conditions?.find(({ type }) => type === 'Ready');
  };
  const base = repositoryOf(spec.image);
  const unsigned = await waitFor('the base to be refused', async () => {
    const found = await conditionOf();
    return found?.reason === 'NotSigned' && found;
  });
  assert.match(
    unsigned.message,
    new RegExp(`base:21\\.0\\.2 \\(${digests.newBase}\\) is not signed: a signature by key cosign\\.pub of Secret`),
  );
  // Somebody who may push the base, but has not its key.
  await pushSimple(base, digests.newBase, [signSimple(digests.newBase, team)]);
  await world.annotate(policies('verified'), { 'operator.technomad.dev/requested-at': 'now' });
  const refused = await waitFor('the signature to be refused', async () => {
    const found = await conditionOf();
    return found?.reason === 'SignatureInvalid' && found;
  });
  assert.match(refused.message, /is not used: a signature was made with another key/);
  assert.equal((await world.readDeployment('verified')).spec.template.spec.containers[0]?.image, `${app}:1.2.3`);
  const tags = (await (await fetch(`http://${host}/v2/${repositoryOf(app).repository}/tags/list`)).json()) as { tags: string[] };
  assert.ok(!tags.tags.some((tag) => tag.includes('-base.')), tags.tags.join());

  await pushSimple(base, digests.oldBase, [signSimple(digests.oldBase, publisher)]);
  await pushSimple(base, digests.newBase, [signSimple(digests.newBase, publisher)]);
  await world.annotate(policies('verified'), { 'operator.technomad.dev/requested-at': 'again' });
  const image = await waitFor('the workload to run the rebased image', async () => {
    const { containers } = (await world.readDeployment('verified')).spec.template.spec;
    return containers[0]?.image.includes('-base.') && containers[0].image;
  });
  const accept = 'application/vnd.oci.image.index.v1+json, application/vnd.oci.image.manifest.v1+json';
  const [, tag = ''] = /:([^:]+)$/.exec(image) ?? [];
  const repository = `http://${host}/v2/${repositoryOf(app).repository}/manifests`;
  const digest = (await fetch(`${repository}/${tag}`, { method: 'HEAD', headers: { accept } })).headers.get('docker-content-digest') ?? '';
  assert.equal((await fetch(`${repository}/${digest.replace(':', '-')}.sig`, { headers: { accept } })).status, 200);
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
