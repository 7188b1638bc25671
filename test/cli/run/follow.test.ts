/** `image-watcher run --once` and `lint --cluster` with policies that follow others: what these run, and since when, is what the service has recorded. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { pushImage } from '../../harness/push-image.ts';
import { kubeconfigWithGrants, type Rule } from '../../harness/service-account.ts';
import { tempFolder } from '../../harness/temp-folder.ts';
import { policiesPath } from '../../service/resources/install-crd.ts';
import { type CliWorld, startCliWorld, withNamespace } from '../cluster-world.ts';
import { resultsIn, type RunWorld, startRunWorld } from './run-world.ts';

let cli: CliWorld;
let world: RunWorld;
let elsewhere: string;
/** The digest of 1.1.0. Followed policies run it, followers run 1.0.0. */
let digest: string;
before(async () => {
  cli = await startCliWorld();
  world = await startRunWorld(cli.cluster, cli.namespace, cli.kubeconfig);
  await world.push('shop/web', '1.0.0', '1.2.0');
  ({ digest } = await pushImage({ host: world.registry.host, repository: 'shop/web', tag: '1.1.0', content: 'shop/web:1.1.0' }));
  elsewhere = await cli.cluster.namespace('elsewhere');
});
after(() => Promise.all([world.stop(), cli.stop()]));

const staging = { update: { pin: 'Digest' }, rollout: {} };
const followerOf = (...policies: object[]) => ({ select: { proven: { policies } }, rollout: {} });
interface Found {
  readonly policy: string;
  readonly reason?: string;
}
/** Creates a policy and its Deployment, which runs an image of shop/web. */
async function create(name: string, image: string, spec: object, namespace = cli.namespace): Promise<void> {
  await cli.cluster.request('POST', policiesPath(namespace, 'v1'), policyText(name, spec));
  await deploy(name, image, namespace);
}
function policyText(name: string, spec: object): object {
  const own = { image: world.image('shop/web'), select: { semver: {} }, targets: [{ kind: 'Deployment', name }], ...spec };
  return { apiVersion: 'operator.technomad.dev/v1', kind: 'ImagePolicy', metadata: { name }, spec: own };
}
const deploymentsOf = (namespace: string) => `/apis/apps/v1/namespaces/${namespace}/deployments`;
/** Creates a Deployment that is complete and available, as its controller would say it. */
async function deploy(name: string, of: string, namespace = cli.namespace): Promise<void> {
  const [path, labels] = [deploymentsOf(namespace), { app: name }];
  const template = { metadata: { labels }, spec: { containers: [{ name: 'c0', image: world.image(of) }] } };
  const spec = { selector: { matchLabels: labels }, template };
  const { metadata } = await cli.cluster.request<{ metadata: { generation: number } }>('POST', path, { metadata: { name }, spec });
  const counts = { replicas: 1, updatedReplicas: 1, readyReplicas: 1, availableReplicas: 1 };
  await cli.cluster.request('PATCH', `${path}/${name}/status`, { status: { observedGeneration: metadata.generation, ...counts } });
}
/** Writes what the service would have recorded of a policy that runs 1.1.0. */
async function record(name: string, since = '2026-03-01T12:00:00Z', namespace = cli.namespace): Promise<void> {
  const path = `${policiesPath(namespace, 'v1')}/${name}`;
  const { metadata } = await cli.cluster.request<{ metadata: { generation: number } }>('GET', path);
  const healthy = { tag: '1.1.0', digest, since };
  await cli.cluster.request('PATCH', `${path}/status`, { status: { observedGeneration: metadata.generation, healthy } });
}
const proven = () => `shop/web:1.1.0@${digest}`;
/** The result of a run for one policy. */
async function runOf(name: string, ...args: string[]) {
  const ran = await world.run(name, '-o', 'json', ...args);
  return { code: ran.code, left: [] as readonly string[], message: '', ...resultsIn(ran)[name] };
}

test('run changes a follower by what the service has recorded, and blocks it with NotProven without a record', async () => {
  await create('staging', proven(), staging);
  await create('production', 'shop/web:1.0.0', followerOf({ name: 'staging' }));
  const blind = await runOf('production');
  assert.deepEqual([blind.code, blind.result, blind.reason], [1, 'blocked', 'NotProven']);
  assert.match(blind.message, /\/staging: it has changed and has not been evaluated since/);
  assert.deepEqual(blind.left, ['left to the service, which alone records what followed policies run']);
  await record('staging');
  const dry = await runOf('production', '--dry-run');
  assert.deepEqual([dry.code, dry.result], [0, 'changed']);
  assert.equal(await world.imageOf('production'), world.image('shop/web:1.0.0'));
  const done = await runOf('production');
  assert.deepEqual([done.code, done.result], [0, 'changed']);
  assert.equal(await world.imageOf('production'), world.image(proven()));
});

test('run does not apply an image that has not run for long enough, or that the followed targets no longer run', async () => {
  await create('slow', proven(), staging);
  await create('waiting', 'shop/web:1.0.0', { select: { proven: { policies: [{ name: 'slow' }], for: '120h' } }, rollout: {} });
  await record('slow', new Date().toISOString().replace(/\.\d+/, ''));
  const waits = await runOf('waiting');
  assert.deepEqual([waits.code, waits.reason, waits.left.length], [1, 'NotProven', 1]);
  assert.match(waits.left.join(), /^left to a run after \d/);
  await create('left', 'shop/web:1.2.0', staging);
  await create('after-left', 'shop/web:1.0.0', {
    update: { after: { policies: [{ name: 'left' }] } },
    select: { semver: { range: '1.1.x' } },
  });
  await record('left');
  const late = await runOf('after-left');
  assert.deepEqual([late.code, late.result], [2, 'failed']);
  assert.match(late.message, /the targets of ImagePolicy \S+\/left do not run what its status says/);
  assert.equal(await world.imageOf('after-left'), world.image('shop/web:1.0.0'));
});

test('lint --cluster decides about a follower as the service does', async () => {
  await create('known', proven(), staging);
  await create('linted', 'shop/web:1.0.0', followerOf({ name: 'known' }));
  const lint = async () => {
    const ran = await world.lint('-o', 'json');
    const {
      problems,
      warnings = [],
      notes = [],
    } = JSON.parse(ran.out) as Readonly<Partial<Record<'warnings' | 'notes', Found[]>> & { problems: Found[] }>;
    const of = (found: readonly Found[]) => found.filter(({ policy }) => policy.endsWith('/linted')).map(({ reason }) => reason);
    return { problems: of(problems), warnings: of(warnings), notes: of(notes) };
  };
  assert.deepEqual(await lint(), { problems: [], warnings: [], notes: ['NotProven'] });
  await record('known');
  assert.deepEqual(await lint(), { problems: [], warnings: [], notes: ['Updated'] });
});

test('run follows a policy of another namespace with consent, and does not reveal whether it exists without consent', async () => {
  await create('far', proven(), staging, elsewhere);
  await record('far', undefined, elsewhere);
  await create('near', 'shop/web:1.0.0', followerOf({ namespace: elsewhere, name: 'far' }));
  await create('nearer', 'shop/web:1.0.0', followerOf({ namespace: elsewhere, name: 'nobody' }));
  const [refused, missing] = [await runOf('near'), await runOf('nearer')];
  assert.match(refused.message, /it either does not exist or its owners have not consented/);
  assert.equal(missing.message.replaceAll('nobody', 'far'), refused.message);
  const annotations = { 'operator.technomad.dev/allow-policies-from': cli.namespace };
  await cli.cluster.request('PATCH', `/api/v1/namespaces/${elsewhere}`, { metadata: { annotations } });
  const done = await runOf('near');
  assert.deepEqual([done.code, done.result], [0, 'changed'], done.message);
  assert.equal(await world.imageOf('near'), world.image(proven()));
});

test('run changes nothing without the permission to read a followed policy or its targets, and names the permission', async () => {
  const where = await cli.cluster.namespace('hidden');
  await cli.cluster.request('PATCH', `/api/v1/namespaces/${where}`, {
    metadata: { annotations: { 'operator.technomad.dev/allow-policies-from': cli.namespace } },
  });
  await create('dark', proven(), staging, where);
  await record('dark', undefined, where);
  await create('limited', 'shop/web:1.0.0', followerOf({ namespace: where, name: 'dark' }));
  const policies: Rule = { apiGroups: ['operator.technomad.dev'], resources: ['imagepolicies'], verbs: ['get', 'list'] };
  const own: Rule[] = [policies, { apiGroups: ['apps'], resources: ['deployments'], verbs: ['get', 'list', 'patch'] }];
  const namespaces: Rule = { apiGroups: [''], resources: ['namespaces'], verbs: ['get'] };
  const as = async (name: string, there: readonly Rule[]) => {
    const grants = [{ namespace: cli.namespace, rules: own }, ...(there.length === 0 ? [] : [{ namespace: where, rules: there }])];
    const kubeconfig = await kubeconfigWithGrants(cli.cluster, { name, namespace: cli.namespace }, [...grants, { rules: [namespaces] }]);
    return runOf('limited', '--kubeconfig', withNamespace(kubeconfig, cli.namespace));
  };
  const blind = await as('blind', []);
  assert.deepEqual([blind.code, blind.result], [2, 'failed']);
  assert.match(blind.message, /^\S+ may not get imagepolicies in the namespace hidden\S*: ask an administrator for this permission$/);
  const half = await as('half', [policies]);
  assert.deepEqual([half.code, half.result], [2, 'failed']);
  assert.match(half.message, /^what ImagePolicy hidden\S*\/dark runs cannot be read: \S+ may not get deployments in the namespace hidden/);
  assert.equal(await world.imageOf('limited'), world.image('shop/web:1.0.0'));
});

test('run blocks a follower with NotProven if both policies are only in files', async () => {
  const file = join(tempFolder('follow'), 'policies.yaml');
  await deploy('first', proven());
  await deploy('second', 'shop/web:1.0.0');
  const texts = [
    policyText('first', { ...staging, select: { semver: { range: '1.1.x' } } }),
    policyText('second', followerOf({ name: 'first' })),
  ];
  writeFileSync(file, texts.map((one) => JSON.stringify(one)).join('\n---\n'));
  const ran = await world.run('-f', file, '-o', 'json');
  const { first, second } = resultsIn(ran);
  assert.deepEqual([ran.code, first?.result, second?.reason], [1, 'unchanged', 'NotProven']);
  assert.match(second?.left.join() ?? '', /^left to the service, which alone records/);
  assert.equal(await world.imageOf('second'), world.image('shop/web:1.0.0'));
});
