/** The scenario `base` of the demo: a patched base reaches every application on its line, one through the framework in between, and a bad base is stopped at the canary. */
import type { BaseStatus } from '../../src/core/model/base-status.ts';
import type { Repetition } from '../../src/core/async/repeat.ts';
import { waitFor } from '../harness/wait-for.ts';
import type { World } from '../end-to-end/world.ts';
import { type Foundation, framework, java, pushApplication, pushFramework, pushJava, variableOf } from './base-images.ts';
import { readConfig, runPods } from './kubelet.ts';
import type { Steps } from './steps.ts';

/** The applications on Java itself; `web` is the canary. */
const applications = ['web', 'api', 'report'];
const canary = 'web';
/** Built on the framework, which is built on Java. */
const onFramework = 'portal';
/** Built on another line of the versions of Java. */
const onAlpine = 'mail';
/** Has nothing to do with Java. */
const unrelated = 'proxy';

/** What each of them is built on, and how that is told. */
const foundations: readonly (readonly [name: string, foundation: Foundation, told: string])[] = [
  ...applications.map((name) => [name, 'java', `built on ${java}:21.0.1`] as const),
  [onAlpine, 'alpine', `built on ${java}:21.0.1-alpine, another line`],
  [onFramework, 'framework', `built on ${framework}:3.1.0, which is built on ${java}:21.0.1`],
  [unrelated, 'other', 'built on something else'],
];

/** What crashes with this Java. */
const badVersion = '21.0.3';

const policiesOf = ({ namespace }: World) => `/apis/operator.technomad.dev/v1/namespaces/${namespace}/baseimagepolicies`;

function createPolicy(world: World, name: string, spec: object): Promise<unknown> {
  const { host } = world.registry;
  const images = [`${host}/shop/*`, `${host}/${framework}`];
  return world.cluster.request('POST', policiesOf(world), {
    apiVersion: 'operator.technomad.dev/v1',
    kind: 'BaseImagePolicy',
    metadata: { name },
    spec: { workloads: [{}], onNewBase: [{ rebase: { images, pushSecret: { name: 'rebaser' } } }, { report: {} }], ...spec },
  });
}

async function deploy({ cluster, namespace, registry: { host } }: World, name: string): Promise<void> {
  const labels = { app: name };
  const spec = {
    selector: { matchLabels: labels },
    template: { metadata: { labels }, spec: { containers: [{ name: 'app', image: `${host}/shop/${name}:1.0.0` }] } },
  };
  const metadata = { name, labels: { ...labels, ...(name === canary && { canary: 'true' }) } };
  await cluster.request('POST', `/apis/apps/v1/namespaces/${namespace}/deployments`, {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata,
    spec,
  });
}

async function createSecret({ cluster, namespace, registry: { host } }: World): Promise<void> {
  const config = JSON.stringify({ auths: { [host]: { username: 'rebaser', password: 'demo' } } });
  await cluster.request('POST', `/api/v1/namespaces/${namespace}/secrets`, {
    metadata: { name: 'rebaser' },
    type: 'kubernetes.io/dockerconfigjson',
    stringData: { '.dockerconfigjson': config },
  });
}

/** Runs the pods of a namespace, where there are no nodes: a Java of the bad version crashes. */
export function runJavaPods({ cluster }: World, namespace: string): Repetition {
  const crashes = async (image: string) => (await readConfig(image)).config?.Env?.includes(variableOf(badVersion)) === true;
  return runPods(cluster, namespace, { crashes });
}

/** Tells the story; rejects if it does not go as told. */
export async function tellBaseStory(world: World, steps: Steps): Promise<void> {
  const { host } = world.registry;
  const before = await tellWhoIsBuiltOnIt(world, steps);
  await tellPatch(world, steps);

  steps.heading('A bad base is pushed');
  const patched = await tagsOf(world);
  await steps.step(
    `push ${java}:${badVersion}, with which Java crashes`,
    () => pushJava(host, badVersion),
    ({ digest }) => digest,
  );
  const rejected = await steps.step(
    'the canary crashes, and the base is rejected',
    () => waitForStatus(world, 'java', 'the base to be rejected', (status) => (status.rejected ?? []).length > 0),
    (status) => `${status.rejected?.[0]?.tag}`,
  );
  await steps.step(
    'the canary runs its former image again',
    () => waitFor(`${canary} to be rolled back`, async () => (await tagOf(world, canary)) === patched[canary]),
    () => `Deployment ${canary}: ${patched[canary]}`,
  );
  expectSame(await tagsOf(world), patched, [...applications, onFramework]);
  expectSame(patched, before, [onAlpine, unrelated]);
  steps.note(
    `the others were never changed: ${[...applications, onFramework, onAlpine].map((name) => `${name} ${patched[name]}`).join(', ')}`,
  );
  steps.note(rejected.rejected?.[0]?.message ?? '');
}

/** Returns the tags that the applications run. */
async function tellWhoIsBuiltOnIt(world: World, steps: Steps): Promise<Tags> {
  const { host } = world.registry;
  steps.heading('Applications on one base');
  for (const version of ['21.0.1', '21.0.1-alpine'])
    await steps.step(
      `push ${java}:${version}`,
      () => pushJava(host, version),
      ({ digest }) => digest,
    );
  await steps.step(
    `push ${framework}:3.1.0`,
    () => pushFramework(host),
    () => `built on ${java}:21.0.1`,
  );
  for (const [name, foundation, told] of foundations)
    await steps.step(
      `push shop/${name}:1.0.0, and deploy it`,
      () => pushApplication(host, name, foundation).then(() => deploy(world, name)),
      () => told,
    );
  await createSecret(world);
  await steps.step(
    'create the BaseImagePolicy "java"',
    () =>
      createPolicy(world, 'java', {
        image: `${host}/${java}`,
        select: { semver: { range: '21.x' } },
        waves: { maxParallel: 1, canaries: { matchLabels: { canary: 'true' } }, pause: '2s', maxFailures: 1 },
      }),
    () => 'range 21.x, action rebase, canary first',
  );
  await steps.step(
    'create the BaseImagePolicy "framework"',
    () => createPolicy(world, 'framework', { image: `${host}/${framework}`, select: { semver: {} } }),
    () => 'highest version, action rebase',
  );
  const status = await steps.step('who is built on it?', () =>
    waitForStatus(world, 'java', 'the images to be recognized', ({ images }) => images?.current === applications.length + 1),
  );
  show(status, steps);
  return tagsOf(world);
}

async function tellPatch(world: World, steps: Steps): Promise<void> {
  const { host } = world.registry;
  steps.heading('A patched base is pushed');
  const { layerBytes } = await steps.step(
    `push ${java}:21.0.2`,
    () => pushJava(host, '21.0.2'),
    ({ digest }) => digest,
  );
  await steps.step(
    'the canary runs the patched base',
    () => untilRebased(world, [canary]),
    ([tag]) => `Deployment ${canary}: 1.0.0 → ${tag}`,
  );
  await steps.step(
    'the framework on Java is rebased',
    () =>
      waitForStatus(world, 'framework', 'the rebased framework to be selected', ({ latest }) => latest?.tag.includes('-base.') === true),
    ({ latest }) => `${framework}: 3.1.0 → ${latest?.tag}`,
  );
  const [tag = ''] = await steps.step(
    'and then the application on the framework',
    () => untilRebased(world, [onFramework]),
    ([rebased]) => `Deployment ${onFramework}: 1.0.0 → ${rebased}`,
  );
  await steps.step(
    'and the others, one at a time',
    () => untilRebased(world, applications),
    (tags) => [...new Set(tags)].join(', '),
  );
  const { config } = await readConfig(`${host}/shop/${onFramework}:${tag}`);
  if (config?.Env?.includes(variableOf('21.0.2')) !== true) throw new Error(`${onFramework} is not on Java 21.0.2: ${config?.Env?.join()}`);
  const status = await steps.step('nothing is behind', () =>
    waitForStatus(
      world,
      'java',
      'nothing to be behind',
      ({ images }) => images?.behind === 0 && images.current === applications.length + 1,
    ),
  );
  show(status, steps);
  const other = status.dependents?.find(({ state }) => state === 'OtherLine');
  steps.note(`${onAlpine} is not moved: it is built on ${tagIn(other?.base)}, a version of another line than ${status.latest?.tag}`);
  steps.note(
    `nobody has built anything: the registry was asked for manifests and configurations, and mounted layers (${layerBytes} bytes) itself`,
  );
}

type Tags = Readonly<Record<string, string>>;

async function tagOf(world: World, name: string): Promise<string> {
  return (await world.readDeployment(name)).spec.template.spec.containers[0]?.image.split(':').at(-1) ?? '';
}

async function tagsOf(world: World): Promise<Tags> {
  return Object.fromEntries(await Promise.all(foundations.map(async ([name]) => [name, await tagOf(world, name)] as const)));
}

function expectSame(tags: Tags, expected: Tags, names: readonly string[]): void {
  for (const name of names)
    if (tags[name] !== expected[name]) throw new Error(`${name} was changed: it runs ${tags[name]} and not ${expected[name]}`);
}

function untilRebased(world: World, names: readonly string[]): Promise<string[]> {
  return waitFor(`${names.join(', ')} to run a rebased image`, async () => {
    const tags = await Promise.all(names.map((name) => tagOf(world, name)));
    return tags.every((tag) => tag.includes('-base.')) && tags;
  });
}

function waitForStatus(world: World, name: string, what: string, isReached: (status: BaseStatus) => boolean): Promise<BaseStatus> {
  return waitFor(what, async () => {
    const { status = {} } = await world.cluster.request<{ status?: BaseStatus }>('GET', `${policiesOf(world)}/${name}`);
    return isReached(status) && status;
  });
}

const tagIn = (base: string | undefined) => base?.split('@')[0] ?? '?';

function show({ dependents = [], images }: BaseStatus, steps: Steps): void {
  for (const { image, state, base, recognizedBy, rebased, message } of dependents) {
    const name = image.split('/').slice(1).join('/');
    const how = rebased ?? recognizedBy ?? '';
    // Without digests, which no reader compares.
    const line = [
      name.padEnd(32),
      state.padEnd(9),
      `on ${tagIn(base)}`.padEnd(16),
      how,
      message?.replaceAll(/ \(sha256:\w+\)/g, '').slice(0, 100) ?? '',
    ];
    steps.note(line.join('  ').trimEnd());
  }
  if (images === undefined) return;
  const { total, current, behind, otherLine = 0, unrelated: others } = images;
  steps.note(`${total} images: ${current} current, ${behind} behind, ${otherLine} on another line, ${others} built on something else`);
}
