/** The scenario `base` of the demo: a patched base reaches every application, and a bad one is stopped at the canary. */
import type { BaseStatus } from '../../src/core/model/base-policy.ts';
import type { Repetition } from '../../src/core/async/repeat.ts';
import { waitFor } from '../harness/wait-for.ts';
import type { World } from '../end-to-end/world.ts';
import { pushReal } from '../bases/rebase/build.ts';
import { readConfig, runPods } from './kubelet.ts';
import type { Steps } from './steps.ts';

const base = 'library/base-java';
const applications = ['web', 'api', 'report'];
const canary = 'web';
/** An application that has nothing to do with the base. */
const unrelated = 'proxy';
/** What crashes with this base. */
const badVersion = '21.0.3';

const system = { 'etc/os-release': 'Debian 13', 'usr/lib/libc.so': 'libc' };
const step = (by: string) => ({ created: '2026-01-01T00:00:00Z', created_by: by });

/** The base of a version: the system and the Java of that version. */
const baseLayers = (version: string) => [system, { 'opt/java/bin/java': `java ${version}` }];
const configOf = (version: string) => ({ Env: ['PATH=/opt/java/bin:/usr/bin', `JAVA_VERSION=${version}`], User: 'app' });

async function pushBase({ registry: { host } }: World, version: string) {
  return pushReal(
    { host, repository: base, tag: version },
    {
      platforms: ['linux/amd64'],
      layers: baseLayers(version),
      created: '2026-01-01T00:00:00Z',
      history: [step('ADD debian'), step(`ADD java ${version}`)],
      config: configOf(version),
    },
  );
}

async function pushApplication({ registry: { host } }: World, name: string) {
  const own = { [`app/${name}.jar`]: `the application ${name}` };
  const layers = name === unrelated ? [{ 'usr/bin/proxy': 'proxy' }, own] : [...baseLayers('21.0.1'), own];
  return pushReal(
    { host, repository: `shop/${name}`, tag: '1.0.0' },
    {
      platforms: ['linux/amd64'],
      layers,
      created: '2026-02-01T00:00:00Z',
      history: layers.map((_, index) => step(`ADD layer ${index}`)),
      config: { ...configOf('21.0.1'), Cmd: ['java', '-jar', `/app/${name}.jar`] },
    },
  );
}

const policy = ({ registry: { host } }: World) => ({
  apiVersion: 'operator.technomad.dev/v1',
  kind: 'BaseImagePolicy',
  metadata: { name: 'java' },
  spec: {
    image: `${host}/${base}`,
    select: { semver: { range: '21.x' } },
    workloads: [{}],
    onNewBase: [{ rebase: { images: [`${host}/shop/*`], pushSecret: { name: 'rebaser' } } }, { report: {} }],
    waves: { maxParallel: 1, canaries: { matchLabels: { canary: 'true' } }, pause: '2s', maxFailures: 1 },
  },
});

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

/** Runs the pods of the world, where there are no nodes: a Java of the bad version crashes. */
export function runJavaPods({ cluster, namespace }: World): Repetition {
  const crashes = async (image: string) => (await readConfig(image)).config?.Env?.includes(`JAVA_VERSION=${badVersion}`) === true;
  return runPods(cluster, namespace, { crashes });
}

/** Tells the story; rejects if it does not go as told. */
export async function tellBaseStory(world: World, steps: Steps): Promise<void> {
  const { cluster, namespace } = world;
  const policies = `/apis/operator.technomad.dev/v1/namespaces/${namespace}/baseimagepolicies`;
  const readStatus = async () => ((await cluster.request('GET', `${policies}/java`)) as { status?: BaseStatus }).status ?? {};
  const until = (what: string, isReached: (status: BaseStatus) => boolean) =>
    waitFor(what, async () => {
      const status = await readStatus();
      return isReached(status) && status;
    });
  const tagOf = async (name: string) => (await world.readDeployment(name)).spec.template.spec.containers[0]?.image.split(':').at(-1) ?? '';
  const untilRebased = (names: readonly string[]) =>
    waitFor(`${names.join(', ')} to run a rebased image`, async () => {
      const tags = await Promise.all(names.map(tagOf));
      return tags.every((tag) => tag.includes('-base.')) && tags;
    });
  const show = ({ dependents = [], images }: BaseStatus) => {
    for (const { image, state, base: built, recognizedBy, rebased, message } of dependents)
      steps.note(
        [
          image.split('/').slice(1).join('/').padEnd(32),
          state.padEnd(9),
          `on ${built?.split('@')[0] ?? '?'}`.padEnd(11),
          rebased ?? recognizedBy ?? '',
          message?.slice(0, 60) ?? '',
        ]
          .join('  ')
          .trimEnd(),
      );
    steps.note(
      `${images?.total} images: ${images?.current} current, ${images?.behind} behind, ${images?.unrelated} built on something else`,
    );
  };

  steps.heading('Three applications on one base');
  await steps.step(
    `push ${base}:21.0.1`,
    () => pushBase(world, '21.0.1'),
    ({ digest }) => digest,
  );
  for (const name of [...applications, unrelated]) {
    const what = name === unrelated ? 'built on something else' : `built on ${base}:21.0.1`;
    await steps.step(
      `push shop/${name}:1.0.0, and deploy it`,
      () => pushApplication(world, name).then(() => deploy(world, name)),
      () => what,
    );
  }
  await createSecret(world);
  await steps.step(
    'create the BaseImagePolicy "java"',
    () => cluster.request('POST', policies, policy(world)),
    () => 'range 21.x, action rebase, canary first',
  );
  const first = await steps.step('who is built on it?', () =>
    until('the images to be recognized', ({ images }) => images?.current === applications.length),
  );
  show(first);

  steps.heading('A patched base is pushed');
  const { layerBytes } = await steps.step(
    `push ${base}:21.0.2`,
    () => pushBase(world, '21.0.2'),
    ({ digest }) => digest,
  );
  await steps.step(
    'the canary runs the patched base',
    () => untilRebased([canary]),
    ([tag]) => `Deployment ${canary}: 1.0.0 → ${tag}`,
  );
  await steps.step(
    'and then the others, one at a time',
    () => untilRebased(applications),
    (tags) => [...new Set(tags)].join(', '),
  );
  const second = await steps.step('nothing is behind', () =>
    until('nothing to be behind', ({ images }) => images?.behind === 0 && images.current === applications.length),
  );
  show(second);
  steps.note(
    `nobody has built anything: the registry was asked for manifests and configurations, and mounted layers (${layerBytes} bytes) itself`,
  );
  if ((await tagOf(unrelated)) !== '1.0.0') throw new Error(`${unrelated} was changed, although it is built on something else`);

  steps.heading('A bad base is pushed');
  const before = await Promise.all(applications.map(tagOf));
  await steps.step(
    `push ${base}:${badVersion}, with which Java crashes`,
    () => pushBase(world, badVersion),
    ({ digest }) => digest,
  );
  const rejected = await steps.step(
    'the canary crashes, and the base is rejected',
    () => until('the base to be rejected', (status) => (status.rejected ?? []).length > 0),
    (status) => `${status.rejected?.[0]?.tag}`,
  );
  await steps.step(
    'the canary runs its former image again',
    () => waitFor(`${canary} to be rolled back`, async () => (await tagOf(canary)) === before[0]),
    () => `Deployment ${canary}: ${before[0]}`,
  );
  const after = await Promise.all(applications.map(tagOf));
  if (after.join() !== before.join()) throw new Error(`${applications.join(', ')} run ${after.join(', ')} and not ${before.join(', ')}`);
  steps.note(`the others were never changed: ${applications.map((name, index) => `${name} ${after[index]}`).join(', ')}`);
  steps.note(rejected.rejected?.[0]?.message ?? '');
}
