/** Two applications with their environments, on real parts: pushes to them, bad ones among them, and everything that can be killed. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Random } from '../../bench/fuzz/random.ts';
import type { Spec } from '../../src/service/resources/v1.ts';
import { runPods } from '../demo/kubelet.ts';
import { startKubeProxy } from '../harness/kube-proxy.ts';
import { pushImage } from '../harness/push-image.ts';
import { tempFolder } from '../harness/temp-folder.ts';
import { waitFor } from '../harness/wait-for.ts';
import { writeKubeconfig } from '../service/kube/fake-api-server.ts';
import { followEnvironments, type Follower } from './environments-log.ts';
import { shuffle } from './fleet.ts';
import { playKubelet } from './pods.ts';
import { harborBody, secret, startWorld, type Service, type TagPolicy } from './world.ts';

/** An application: where its staging selects images, and who follows that. */
export interface Line {
  readonly name: string;
  readonly selects: TagPolicy;
  /** The tag that is there at the start. */
  readonly tag: string;
  readonly staging: string;
  readonly followers: Readonly<Record<string, Follower & { readonly selectsItself?: true }>>;
}

export const web: Line = {
  name: 'web',
  selects: { strategy: 'SemVer' },
  tag: '1.0.0',
  staging: 'web-staging',
  followers: {
    'web-load': { follows: ['web-staging'], forMs: 1_000, selectsItself: true },
    'web-production': { follows: ['web-staging'], forMs: 3_000 },
    'web-region': { follows: ['web-staging', 'web-load'], forMs: 2_000 },
  },
};

/** Its staging follows a tag that moves. */
export const tip: Line = {
  name: 'tip',
  selects: { strategy: 'Latest' },
  tag: 'latest',
  staging: 'tip-staging',
  followers: { 'tip-production': { follows: ['tip-staging'], forMs: 2_000 } },
};

export const lines = [web, tip] as const;

/** An image that is pushed. */
export interface Push {
  readonly line: Line;
  readonly tag: string;
  /** The same content has the same digest. */
  readonly content: string;
  /** Its pods never become available. */
  readonly isBad: boolean;
}

export type EnvironmentsWorld = Awaited<ReturnType<typeof startEnvironments>>;

/** Starts all of it: a receiver, two workers behind a bad network, and nodes that run what is not bad. */
export async function startEnvironments() {
  const world = await startWorld({ controllers: true });
  const { cluster, namespace, quiet } = world;
  const proxy = await startKubeProxy(cluster, world.kubeconfig);
  const tokenFile = join(tempFolder('token'), 'token');
  writeFileSync(tokenFile, 'first');
  proxy.tokens.add('first');
  const kubeconfig = writeKubeconfig(proxy.server, { tokenFile });
  const receiver = await world.start({ roles: 'receive' });
  const workers: Service[] = [await world.start({ roles: 'work', kubeconfig }), await world.start({ roles: 'work', kubeconfig })];
  const bad = new Set<string>();
  const nodes = runPods(cluster, namespace, { crashes: (image) => Promise.resolve(bad.has(image.split('@')[1] ?? '')) });
  const repositoryOf = (line: Line) => `${quiet.host}/shop/${line.name}`;
  /** The digest of each tag that the registry has. */
  const tags = new Map<string, string>();
  const accepted = new Set<string>();
  let pushes = 0;

  const push = async ({ line, tag, content, isBad }: Push): Promise<string> => {
    const { digest } = await pushImage({ host: quiet.host, repository: `shop/${line.name}`, tag, content: `${line.name} ${content}` });
    pushes++;
    if (isBad) bad.add(digest);
    tags.set(`${line.name}:${tag}`, digest);
    return digest;
  };
  const deliverOnce = async (body: string): Promise<boolean> => {
    const headers = { 'content-type': 'application/json', authorization: secret };
    const response = await fetch(`${receiver.publicUrl}/webhooks/harbor`, { method: 'POST', headers, body });
    const answer = (await response.json()) as { accepted?: { id: string }[] };
    for (const { id } of answer.accepted ?? []) accepted.add(id);
    return response.status === 202;
  };
  /** As a sender that tries again until it is answered. */
  const deliver = async ({ line, tag }: Pick<Push, 'line' | 'tag'>, digest?: string): Promise<void> => {
    const body = harborBody(quiet.host, `shop/${line.name}`, [{ tag, ...(digest !== undefined && { digest }) }]);
    await waitFor('the delivery to be accepted', () => deliverOnce(body).catch(() => false), { intervalMs: 50 });
  };
  const create = async (line: Line): Promise<void> => {
    const digest = await push({ line, tag: line.tag, content: line.tag, isBad: false });
    const common = { image: repositoryOf(line), rollout: { onFailure: 'Rollback' } } satisfies Partial<Spec>;
    const image = `${common.image}:${line.tag}@${digest}`;
    await world.createDeployment(line.staging, image);
    await world.createPolicy(line.staging, common.image, line.selects, { ...common, update: { pin: 'Digest' } });
    for (const [name, { follows, forMs, selectsItself }] of Object.entries(line.followers)) {
      const proven = { policies: follows.map((one) => ({ name: one })), for: `${forMs / 1_000}s` };
      const how: Partial<Spec> = selectsItself ? { update: { pin: 'Digest', after: proven } } : { select: { proven } };
      await world.createDeployment(name, image);
      await world.createPolicy(name, common.image, line.selects, { ...common, ...how });
    }
  };
  // From before anything is there: what is said of a Deployment is compared with all that it has been.
  const log = await followEnvironments(world);
  for (const line of lines) await create(line);
  const kubelet = playKubelet(cluster, namespace);
  const waitForState = (what: string, isReached: () => unknown) => waitFor(what, isReached, { intervalMs: 10 });
  for (const { staging } of lines) await waitForState(`${staging} to be watched`, () => log.claimsOf(staging).length > 0);
  return {
    world,
    proxy,
    receiver,
    workers,
    log,
    bad,
    tags,
    accepted,
    countPushes: () => pushes,
    push,
    deliver,
    waitForState,
    waitForHealthy: (name: string, digest: string) =>
      waitForState(`${name} to have rolled out ${digest}`, () => log.now(name)?.digest === digest && log.now(name)?.isHealthy),
    /** The pods of a Deployment are unavailable for a moment; `meanwhile` happens then. */
    async interrupt(name: string, meanwhile: () => Promise<void> = () => Promise.resolve()): Promise<void> {
      const { image = '' } = log.now(name) ?? {};
      await kubelet.runs(name, image);
      await waitForState(`${name} to be unavailable`, () => log.now(name)?.isHealthy === false);
      await meanwhile();
      await kubelet.becomesReady(name, image);
    },
    /** SIGKILL of some processes at the same moment, and a start of all of them. */
    async kill(victims: readonly Service[], meanwhile: () => Promise<void> = () => Promise.resolve()): Promise<void> {
      await Promise.all(victims.map((victim) => victim.kill9()));
      await meanwhile();
      await Promise.all(victims.map((victim) => victim.restart()));
    },
    async stop() {
      log.stop();
      await nodes.stop();
      await world.stop();
      await proxy.stop();
    },
  };
}

/** Drawn pushes of one application, in any order of versions; the last is the highest, and a good one. */
export function drawPushes(line: Line, round: number, count: number, random: Random): Push[] {
  const own = (version: number, isBad: boolean): Push => {
    const content = `${round}.${version}`;
    return { line, tag: line === tip ? tip.tag : `1.${content}`, content, isBad };
  };
  const versions = shuffle(
    Array.from({ length: count - 1 }, (_, index) => index),
    random.below,
  );
  const drawn: Push[] = [];
  for (const version of versions) {
    const next = own(version, random.chance(0.3));
    const earlier = random.chance(0.4) ? random.pick(drawn) : undefined;
    // A tag moves to another image, or back to one that it had.
    if (earlier !== undefined) drawn.push(random.chance(0.6) ? { ...next, tag: earlier.tag } : earlier);
    else drawn.push(next);
  }
  return [...drawn, own(count, false)];
}
