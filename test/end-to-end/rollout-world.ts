/** A world with the real controllers, whose Deployments come up when the test says so. */
import assert from 'node:assert/strict';
import type { Spec } from '../../src/service/resources/v1.ts';
import type { PolicyStatus } from '../../src/core/model/policy-status.ts';
import { pushImage } from '../harness/push-image.ts';
import { waitFor } from '../harness/wait-for.ts';
import { playKubelet } from './pods.ts';
import { deliver, harborBody, startWorld, type World } from './world.ts';

export type RolloutWorld = Awaited<ReturnType<typeof startRolloutWorld>>;

/** Starts the world and one service; the registry that is used announces nothing. */
export async function startRolloutWorld(
  options: Parameters<World['start']>[0] = {},
  { extraRules = [] }: Pick<NonNullable<Parameters<typeof startWorld>[0]>, 'extraRules'> = {},
) {
  const world = await startWorld({ controllers: true, extraRules });
  const kubelet = playKubelet(world.cluster, world.namespace);
  const service = await world.start(options);
  const image = (name: string, tag: string) => `${world.quiet.host}/shop/${name}:${tag}`;
  const push = async (name: string, tag: string, content = `${name} ${tag}`) => {
    const { digest } = await pushImage({ host: world.quiet.host, repository: `shop/${name}`, tag, content });
    return digest;
  };
  const announce = async (name: string, tag: string, digest?: string) => {
    const answer = await deliver(service, harborBody(world.quiet.host, `shop/${name}`, [{ tag, ...(digest !== undefined && { digest }) }]));
    assert.equal(answer.status, 202);
  };
  return {
    world,
    service,
    kubelet,
    image,
    push,
    announce,
    /** A Deployment that is out with 1.0.0, and its policy. */
    async create(name: string, rollout: Spec['rollout'] = { onFailure: 'Rollback' }) {
      await push(name, '1.0.0');
      await world.createDeployment(name, image(name, '1.0.0'));
      await kubelet.becomesReady(name, image(name, '1.0.0'));
      await world.createPolicy(name, `${world.quiet.host}/shop/${name}`, { strategy: 'SemVer' }, { ...(rollout && { rollout }) });
      await world.waitForFirstLook(name);
    },
    async update(name: string, tag: string) {
      const digest = await push(name, tag);
      await announce(name, tag);
      await world.waitForImage(name, image(name, tag));
      return digest;
    },
    waitForResults: (name: string, ...expected: string[]) =>
      waitFor(`the history of ${name} to be ${expected.join(', ')}`, async () => {
        const status = await world.readStatus(name);
        assert.equal(resultsOf(status).join(), expected.join());
        return status;
      }),
    waitForReady: (name: string, reason: string) => world.waitForCondition(name, 'Ready', reason),
    stop: () => world.stop(),
  };
}

/** The changes of the history: `1.0.1 Webhook RolledOut`. */
export function resultsOf({ history = [] }: PolicyStatus): string[] {
  return history.map(({ tag, trigger, result }) => `${tag} ${trigger} ${result}`);
}
