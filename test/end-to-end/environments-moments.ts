/** The worst moments for environments: what happens while production waits for an image that staging runs. */
import type { EnvironmentsWorld, Line } from './environments-world.ts';

/** Where a moment happens: the digest that staging has just rolled out, and what else can be pushed. */
export interface Scene {
  readonly env: EnvironmentsWorld;
  readonly line: Line;
  /** The follower that the moment is about. */
  readonly production: string;
  readonly digest: string;
  /** Pushes and announces a new image, by a higher version or the tag that moves; returns its digest. */
  readonly pushNext: (isBad?: boolean) => Promise<string>;
  /** Moves the tag of the digest to another image, and tells nobody. */
  readonly moveTag: () => Promise<string>;
}

const statusOf = (name: string) => new RegExp(String.raw`/imagepolicies/${name}/status`);
const deploymentOf = (name: string) => new RegExp(String.raw`/deployments/${name}(?:\?|$)`);

/** Holds up matching requests until `letGo`, also those of processes that are dead by then. */
function hold({ proxy }: EnvironmentsWorld, path: RegExp) {
  const { promise, resolve } = Promise.withResolvers<void>();
  proxy.spoil({ after: promise }, { method: 'PATCH', path, times: 1_000_000 });
  return {
    letGo() {
      resolve();
      proxy.heal();
    },
  };
}

/** Waits until production waits for the digest; returns until when, or undefined where it runs it already. */
async function waitingTime({ env, production, digest }: Scene): Promise<number | undefined> {
  const isThere = () => env.log.now(production)?.digest === digest;
  let until: number | undefined;
  await env.waitForState(`${production} to wait for ${digest}`, async () => {
    const { waiting } = await env.world.readStatus(production);
    if (waiting?.digest === digest && waiting.until !== undefined) until = Date.parse(waiting.until);
    return until !== undefined || isThere();
  });
  return until;
}

async function untilChanged({ env, line, digest }: Scene): Promise<void> {
  await env.waitForState(`${line.staging} to be changed`, () => env.log.now(line.staging)?.digest !== digest);
}

async function waitForRollback({ env, line }: Scene, bad: string): Promise<void> {
  await env.waitForState(`${line.staging} to be rolled back`, () => env.log.now(line.staging)?.digest !== bad);
}

/** By what happens. */
export const moments: Readonly<Record<string, (scene: Scene) => Promise<void>>> = {
  async 'pods of staging are gone for a moment'(scene) {
    await waitingTime(scene);
    await scene.env.interrupt(scene.line.staging);
  },
  async 'nobody is there while pods of staging are gone'(scene) {
    await waitingTime(scene);
    await scene.env.kill(scene.env.workers, () => scene.env.interrupt(scene.line.staging));
  },
  async 'staging changes, and its status is late until the time is over'(scene) {
    const { env, line } = scene;
    const until = await waitingTime(scene);
    const held = hold(env, statusOf(line.staging));
    await scene.pushNext();
    await untilChanged(scene);
    // The API server rounds its time down.
    await env.waitForState('the time to be over', () => Date.now() > (until ?? 0) + 1_500);
    held.letGo();
  },
  async 'pods of staging are gone for a moment, and its status is late until the time is over'(scene) {
    const { env, line } = scene;
    const until = await waitingTime(scene);
    const held = hold(env, statusOf(line.staging));
    await env.interrupt(line.staging);
    await env.waitForState('the time to be over', () => Date.now() > (until ?? 0) + 1_500);
    held.letGo();
  },
  async 'killed between a change of staging and its status'(scene) {
    const { env, line } = scene;
    await waitingTime(scene);
    const held = hold(env, statusOf(line.staging));
    await scene.pushNext();
    await untilChanged(scene);
    await env.kill(env.workers, () => Promise.resolve(held.letGo()));
  },
  async 'killed between the rejection of a bad one and its rollback'(scene) {
    const { env, line } = scene;
    const bad = await scene.pushNext(true);
    await env.waitForState(`${line.staging} to run the bad one`, () => env.log.now(line.staging)?.digest === bad);
    const held = hold(env, deploymentOf(line.staging));
    await env.waitForState('the bad one to be rejected', async () =>
      (await env.world.readStatus(line.staging)).rejected?.some(({ digest }) => digest === bad),
    );
    await env.kill(env.workers, () => Promise.resolve(held.letGo()));
    await waitForRollback(scene, bad);
  },
  async 'killed as production changes, before it hears of it'(scene) {
    const { env, production, digest } = scene;
    env.proxy.spoil({ loseAnswer: true }, { method: 'PATCH', path: deploymentOf(production) });
    await env.waitForState(`${production} to be changed`, () => env.log.now(production)?.digest === digest);
    await env.kill(env.workers);
    env.proxy.heal();
  },
  async 'the tag moves while production waits'(scene) {
    const { env, line, production, digest } = scene;
    await waitingTime(scene);
    const moved = await scene.moveTag();
    // Staging may find it too, by a second look after an earlier push. A follower that selects by tag may have selected what the tag points to now, which is not proven.
    const isOver = async () =>
      env.log.now(production)?.digest === digest ||
      env.log.now(line.staging)?.digest !== digest ||
      (await env.world.readStatus(production)).latest?.digest === moved;
    await env.waitForState(`${production} to be changed, or to wait for what the tag points to now`, isOver);
  },
  async 'a bad one follows while production waits'(scene) {
    await waitingTime(scene);
    const bad = await scene.pushNext(true);
    await scene.env.waitForState('staging to run it', () => scene.env.log.now(scene.line.staging)?.digest === bad);
    await waitForRollback(scene, bad);
  },
  async 'Redis and a worker are killed while production waits'({ env, ...scene }) {
    await waitingTime({ env, ...scene });
    const [worker] = env.workers;
    await env.world.redis.kill9();
    await worker?.kill9();
    await env.world.redis.restart();
    await worker?.restart();
  },
};
