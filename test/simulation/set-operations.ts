/** What happens to sets: each commit brings an image and its sidecar, the one before the other, now and then one of them alone; and people replace a sidecar. */
import { withHeld } from './chart-kinds.ts';
import type { StoredImage } from './image-content.ts';
import { shorten } from './images.ts';
import type { Operation } from './operation.ts';
import { announce } from './pushes.ts';
import type { Random } from './random.ts';
import { ownImage, sidecarImage, type Sets } from './set-setup.ts';
import type { PolicySetup, WorkloadSetup } from './setup.ts';
import { policyNow, type World } from './world.ts';

interface Span {
  readonly firstMs: number;
  readonly lastMs: number;
  readonly withPeople: boolean;
}

/** Draws them. */
export function drawSetOperations(random: Random, { policy, workloads }: Sets, { firstMs, lastMs, withPeople }: Span): Operation[] {
  const hasBroken = random.chance(0.25);
  const commits = Array.from({ length: random.integer(2, 7) }, (_, index) => index + 1);
  const pushes = commits.flatMap((commit): Operation[] => {
    const at = firstMs + ((lastMs - firstMs) * (commit + random.next())) / (commits.length + 2);
    const apartMs = random.pick([0, 50, 1_000, 4_000, 12_000]) * random.next();
    const isOwnFirst = random.chance(0.5);
    const isBroken = random.chance(0.3) && hasBroken;
    const own = drawPush(random, policy, { commit, at: isOwnFirst ? at : at + apartMs, isBroken });
    const [isWithout, isAgain] = [random.chance(0.12), random.chance(0.2)];
    const others = isWithout ? [] : [drawPush(random, policy, { commit, at: isOwnFirst ? at + apartMs : at, build: 0 })];
    const again =
      isWithout || !isAgain ? [] : [drawPush(random, policy, { commit, at: at + apartMs + random.between(500, 8_000), build: 1 })];
    return [own, ...others, ...again];
  });
  const replaced = withPeople
    ? Array.from({ length: random.integer(0, 2) }, () => drawReplacement(random, workloads, { firstMs, lastMs }))
    : [];
  return [...pushes, ...replaced];
}

interface Plan {
  readonly commit: number;
  readonly at: number;
  /** The build of the sidecar; absent for the own image. */
  readonly build?: number;
  readonly isBroken?: boolean;
}

function drawPush(random: Random, policy: PolicySetup, { commit, at, build, isBroken = false }: Plan): Operation {
  const tag = policy.follows ?? `1.0.${commit}`;
  const repository = build === undefined ? policy.repository : (policy.alongside?.repository ?? '');
  const image = build === undefined ? ownImage(commit) : sidecarImage(commit, build);
  const lagMs = random.chance(0.7) ? 0 : random.between(5, 4_000);
  const [isAnnounced, hasDigest] = [random.chance(0.97), random.chance(0.7)];
  const key = `set ${commit} ${build ?? 'own'}`;
  return {
    at,
    name: `push ${shorten(repository)}:${tag}`,
    run(world) {
      if (isBroken) {
        world.hasInterference = true;
        world.controllers.broken.add(image.digest).add(`${repository}:${tag}`);
      }
      world.story.tell('registry', `gets ${shorten(`${repository}:${tag}@${image.digest}`)}${isBroken ? ', which is broken' : ''}`);
      world.registry.push(repository, tag, image, lagMs);
      if (isAnnounced) world.clock.schedule(undefined, 1, () => accept(world, policy, { repository, tag, image, hasDigest, key }));
      else world.mayBeUnknown.add(repository);
    },
  };
}

interface Pushed {
  readonly repository: string;
  readonly tag: string;
  readonly image: StoredImage;
  readonly hasDigest: boolean;
  readonly key: string;
}

function accept(world: World, { name }: PolicySetup, { repository, tag, image: { digest }, hasDigest, key }: Pushed): void {
  // A suspended policy leaves it, also one of its sidecar.
  if (policyNow(world, name)?.spec['suspend'] !== false) world.mayBeUnknown.add(repository);
  const id = announce(world, { repository, tag, digest, hasDigest, key });
  world.pushes.push({ id, repository, tag, digest, at: world.clock.now() });
}

/** A person sets a sidecar to an image that ran before. */
function drawReplacement(
  random: Random,
  workloads: readonly WorkloadSetup[],
  { firstMs, lastMs }: { readonly firstMs: number; readonly lastMs: number },
): Operation {
  const [{ resource, namespace, name, images }, choice] = [random.pick(workloads), random.next()];
  return {
    at: random.between(firstMs, lastMs),
    name: 'replace a sidecar',
    run(world) {
      world.hasInterference = true;
      const ran = world.patches.all.flatMap(({ container, from }) => (container === 'sidecar' ? [from] : []));
      const image = ran[Math.floor(choice * ran.length)] ?? images['sidecar'] ?? '';
      world.server.edit({ resource, namespace, name, by: 'kubectl-set' }, (workload) => withHeld(workload, 'sidecar', image));
    },
  };
}
