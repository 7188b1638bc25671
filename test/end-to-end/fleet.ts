/** Many small applications at once, for tests of bursts. */
import assert from 'node:assert/strict';
import { pushImage } from '../harness/push-image.ts';
import { waitFor } from '../harness/wait-for.ts';
import { harborBody, type Deployment, type World } from './world.ts';

export type Fleet = Awaited<ReturnType<typeof createFleet>>;

/** `size` Deployments that run 1.0.0 of a repository each, with a policy each, and 1.0.1 ready at the (silent) registry. */
export async function createFleet(world: World, prefix: string, size: number) {
  const { host } = world.quiet;
  // Benchmarks have thousands.
  const timeoutMs = 300_000 + size * 200;
  const members = Array.from({ length: size }, (_, index) => ({ name: `${prefix}-${index}`, repository: `fleet/${prefix}-${index}` }));
  await eachOf(members, async ({ name, repository }) => {
    await pushImage({ host, repository, tag: '1.0.0', content: 'old' });
    await world.createDeployment(name, `${host}/${repository}:1.0.0`);
    await world.createPolicy(name, `${host}/${repository}`, { strategy: 'SemVer' });
  });
  await waitFor(
    'all policies to be looked at',
    async () => {
      const policies = await world.listPolicies();
      return members.every(({ name }) =>
        policies.some((policy) => policy.metadata.name === name && policy.status?.observedGeneration === 1),
      );
    },
    { timeoutMs, intervalMs: 200 },
  );
  await eachOf(members, ({ repository }) => pushImage({ host, repository, tag: '1.0.1', content: 'new' }).then(() => undefined));
  const images = new Map(members.map(({ name, repository }) => [name, `${host}/${repository}:1.0.1`]));
  return {
    size,
    /** A delivery for each member. */
    deliveries: members.map(({ repository }) => harborBody(host, repository, [{ tag: '1.0.1' }])),
    async countPatched(): Promise<number> {
      return (await world.listDeployments()).filter((deployment) => isPatched(deployment, images)).length;
    },
    /** Waits until every member runs 1.0.1, and checks that none was changed twice. */
    async assertPatchedOnce(): Promise<void> {
      const deployments = await waitFor(
        `all ${size} Deployments to run 1.0.1`,
        async () => {
          const found = (await world.listDeployments()).filter((deployment) => isPatched(deployment, images));
          return found.length === size && found;
        },
        { timeoutMs, intervalMs: 200 },
      );
      const generations = new Set(deployments.map((deployment) => deployment.metadata.generation));
      assert.deepEqual([...generations], [2], 'each Deployment was changed exactly once');
    },
  };
}

function isPatched(deployment: Deployment, images: ReadonlyMap<string, string>): boolean {
  const image = images.get(deployment.metadata.name);
  return image !== undefined && deployment.spec.template.spec.containers[0]?.image === image;
}

/** Sixteen at a time. */
export async function eachOf<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const left = items.values();
  const drain = async () => {
    for (const item of left) await work(item);
  };
  await Promise.all(Array.from({ length: 16 }, drain));
}

/** In an order that `below` (a whole number from 0 to below its argument) decides. */
export function shuffle<T>(items: readonly T[], below: (limit: number) => number): T[] {
  const left = [...items];
  return items.map(() => left.splice(below(left.length), 1)[0] as T);
}
