/** Floor and product as two sides that do the same: a push goes in, a changed Deployment comes out. */
import { setTimeout as delay } from 'node:timers/promises';
import { Agent, request } from 'undici';
import { harborBody } from '../../test/end-to-end/world.ts';
import { waitFor } from '../../test/harness/wait-for.ts';
import type { FloorPolicies, FloorTargets } from '../floor/floor.ts';
import { startFloor } from '../floor/start-floor.ts';
import { createApplications, deploymentsIn, each, policiesIn, policy, tagAgain, type Application } from './applications.ts';
import { readCpuMs } from './counters.ts';
import { watchObjects, type ObjectWatch, type Watched } from './object-watch.ts';
import { secret, type BenchWorld, type Product } from './world.ts';

export interface Side {
  readonly name: 'floor' | 'product';
  readonly namespace: string;
  readonly applications: readonly Application[];
  /** Puts the next version of some applications into the registry: what then is pushed is there. */
  prepare(applications?: readonly Application[]): Promise<void>;
  /** Announces the prepared version; milliseconds until the changed image was seen. */
  push(application: Application): Promise<number>;
  /** Announces it for a whole fleet that shares the repository; milliseconds until all images were seen. */
  pushForAll(): Promise<number>;
  /** Whether it writes statuses. */
  readonly tells: boolean;
  /** Resolves when the prepared version of an application is in the policy's status. */
  reported(application: Application): Promise<number>;
  /** Resolves when all of the last round is done, Events too: what is measured next must not pay for it. */
  untilQuiet(): Promise<void>;
  /** Milliseconds of a core that its process has used so far. */
  cpuMs(): number;
  /** How many milliseconds the last answers to webhooks took. */
  readonly answers: number[];
}

export interface SideOptions {
  /** One repository for all: `policies` of them, or (one) with a selector. */
  readonly shared?: 'policies' | 'selector';
  readonly count: number;
  readonly pollInterval?: string;
  /** Of the product: the receivers that pushes are sent to in turns; by default the product itself. */
  readonly receivers?: readonly Product[];
  /** Of the floor: to write a status too, the smallest that says what was applied. */
  readonly tells?: boolean;
}

const maxTries = 50;
const pauseMs = 100;
/** Longer than the service lets Events wait for a lull. */
const quietMs = 1_000;
const maxQuietLooks = 30;
const connections = new Agent({ connections: 256, keepAliveTimeout: 60_000 });

/** A side with its applications, ready to be pushed to; a product is started unless there is one. */
export async function startSide(world: BenchWorld, name: Side['name'], options: SideOptions, started?: Product): Promise<Side> {
  const { cluster } = world;
  const namespace = await cluster.namespace(name);
  const applications = await createApplications(world, namespace, { count: options.count, shared: options.shared !== undefined });
  const images = world.keep(await watchObjects(cluster, deploymentsIn(namespace), imageOf));
  const statuses = world.keep(await watchObjects(cluster, policiesIn(namespace), ({ status }) => status?.lastAppliedTag));
  const product = name === 'product' ? (started ?? (await world.startProduct())) : undefined;
  const { send, pid } =
    product === undefined
      ? await openFloor(world, namespace, applications, options.tells === true)
      : { send: await openProduct(world, namespace, applications, options, product), pid: product.pid };
  const untilQuiet = () => (product === undefined ? Promise.resolve() : untilProcessIsQuiet(product.pid));
  const tells = name === 'product' || options.tells === true;
  return createSide(world, { name, namespace, applications, images, statuses, tells, send, untilQuiet, cpuMs: () => readCpuMs(pid) });
}

interface SideParts {
  readonly name: Side['name'];
  readonly namespace: string;
  readonly applications: readonly Application[];
  readonly images: ObjectWatch;
  readonly statuses: ObjectWatch;
  readonly tells: boolean;
  readonly send: (application: Application, tag: string, digest: string) => Promise<void>;
  readonly untilQuiet: () => Promise<void>;
  readonly cpuMs: () => number;
}

function createSide(world: BenchWorld, { images, statuses, send, ...rest }: SideParts): Side {
  const prepared = new Map<string, { version: number; digest: string }>();
  const tagOf = ({ repository }: Application) => `1.0.${prepared.get(repository)?.version ?? 0}`;
  const answers: number[] = [];
  const announce = async (application: Application) => {
    const start = performance.now();
    await send(application, tagOf(application), prepared.get(application.repository)?.digest ?? '');
    answers.push(performance.now() - start);
  };
  const seen = (application: Application) => images.seen(application.name, `${application.image}:${tagOf(application)}`);
  return {
    ...rest,
    answers,
    async prepare(applications = rest.applications) {
      await each([...new Map(applications.map((one) => [one.repository, one])).values()], async ({ repository }) => {
        const version = (prepared.get(repository)?.version ?? 0) + 1;
        prepared.set(repository, { version, digest: await tagAgain(world, repository, `1.0.${version}`) });
      });
    },
    async push(application) {
      const start = performance.now();
      const [at] = await Promise.all([seen(application), announce(application)]);
      return at - start;
    },
    async pushForAll() {
      const [first] = rest.applications;
      if (first === undefined) return 0;
      const start = performance.now();
      const [times] = await Promise.all([Promise.all(rest.applications.map(seen)), announce(first)]);
      return Math.max(...times) - start;
    },
    reported: (application) => statuses.seen(application.name, tagOf(application)),
  };
}

async function openFloor(
  world: BenchWorld,
  namespace: string,
  applications: readonly Application[],
  tells: boolean,
): Promise<{ readonly send: SideParts['send']; readonly pid: number }> {
  const { url, pid } = await startFloor(world);
  const paths = Map.groupBy(applications, ({ repository }) => repository);
  const targets: FloorTargets = Object.fromEntries(
    [...paths].map(([repository, ones]) => [repository, ones.map(({ name }) => `${deploymentsIn(namespace)}/${name}`)]),
  );
  await post(`${url}/targets`, {}, JSON.stringify(targets));
  if (tells) {
    await each(applications, ({ name, image }) => world.cluster.request('POST', policiesIn(namespace), policy(name, image)));
    const policies: FloorPolicies = Object.fromEntries(
      applications.map(({ repository, name }) => [repository, `${policiesIn(namespace)}/${name}`]),
    );
    await post(`${url}/policies`, {}, JSON.stringify(policies));
  }
  return { send: ({ repository }, tag) => post(url, {}, JSON.stringify({ repository, tag })), pid };
}

async function openProduct(
  world: BenchWorld,
  namespace: string,
  applications: readonly Application[],
  { shared, pollInterval, receivers }: SideOptions,
  product: Product,
): Promise<SideParts['send']> {
  const wholeFleet = shared === 'selector';
  const ofPolicies = wholeFleet ? applications.slice(0, 1) : applications;
  await each(ofPolicies, ({ name, image }) =>
    world.cluster.request(
      'POST',
      policiesIn(namespace),
      policy(name, image, { wholeFleet, ...(pollInterval !== undefined && { pollInterval }) }),
    ),
  );
  await waitFor(
    'all policies to be looked at',
    async () => {
      const { items } = await world.cluster.request<{ items: Watched[] }>('GET', policiesIn(namespace));
      return items.length === ofPolicies.length && items.every(({ status }) => status?.observedGeneration === 1);
    },
    { timeoutMs: 120_000, intervalMs: 200 },
  );
  const { host } = world.registry;
  const headers = { authorization: secret };
  const urls = (receivers ?? [product]).map(({ publicUrl }) => `${publicUrl}/webhooks/harbor`);
  let sent = 0;
  return ({ repository }, tag, digest) => post(urls[sent++ % urls.length] ?? '', headers, harborBody(host, repository, [{ tag, digest }]));
}

/** A twentieth of a core is what it spends on waiting. */
async function untilProcessIsQuiet(pid: number): Promise<void> {
  for (let looks = 0, before = readCpuMs(pid); looks < maxQuietLooks; looks++) {
    await delay(quietMs);
    const spent = readCpuMs(pid) - before;
    if (spent <= quietMs / 20) return;
    before += spent;
  }
}

/** A sender that is told to try again does so. */
async function post(url: string, headers: Record<string, string>, body: string): Promise<void> {
  for (let tries = 1; ; tries++) {
    const all = { 'content-type': 'application/json', ...headers };
    const answer = await request(url, { method: 'POST', headers: all, body, dispatcher: connections });
    const text = await answer.body.text();
    if (answer.statusCode === 202) return;
    if (answer.statusCode !== 503 || tries === maxTries) throw new Error(`POST ${url}: ${answer.statusCode} ${text}`);
    await delay(pauseMs);
  }
}

function imageOf({ spec }: Watched): string | undefined {
  return spec?.template?.spec.containers[0]?.image;
}
