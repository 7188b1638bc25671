/** What comes from the registry: new images, announced once or several times, some of them broken or older than what runs. */
import { hashId, type PushEvent } from '../../src/core/model/push-event.ts';
import type { Artifact } from '../../src/core/model/artifact.ts';
import { tryNormaliseRepository } from '../../src/core/model/image-reference.ts';
import { contentOf, contents, type Content } from './image-content.ts';
import { registryHost, shorten } from './images.ts';
import type { Operation } from './operation.ts';
import type { Random } from './random.ts';
import type { PolicySetup, Setup } from './setup.ts';
import { policyNow, type World } from './world.ts';

/** Draws pushes; the number of a build is its place in the order. */
export function createPushDrawer(random: Random, { policies }: Setup): (at: number) => Operation {
  let builds = 0;
  let last: PolicySetup | undefined;
  let isLastBroken = false;
  const hasCharts = policies.some(({ artifact }) => artifact !== undefined);
  return (at) => {
    // Newer images of one repository often follow within seconds, when an earlier one is still worked on.
    const policy = last !== undefined && random.chance(0.3) ? last : random.pick(policies);
    // What is broken is often mended by something that is broken as well.
    const wasBroken = isLastBroken && policy === last;
    last = policy;
    const build = ++builds;
    const version = random.chance(0.85) ? `1.0.${build}` : `0.9.${build}`;
    const tag = policy.follows ?? version;
    const content = hasCharts ? drawContent(random, policy) : 'image';
    const plan = {
      content,
      isBroken: random.chance(wasBroken ? 0.5 : 0.06),
      lagMs: random.chance(0.7) ? 0 : random.between(5, 4_000),
      announcements: random.pick([1, 1, 1, 1, 3]),
      hasDigest: random.chance(0.7),
      isAnnounced: random.chance(0.97),
      gapMs: random.between(0, 60),
    };
    isLastBroken = plan.isBroken;
    return { at, name: `push ${tag}`, run: (world) => push(world, policy, { tag, build, ...plan }) };
  };
}

/** What is pushed: mostly what the policy selects. */
function drawContent(random: Random, { artifact = 'Image' }: PolicySetup): Content {
  const fitting = { Image: ['image'], Chart: ['chart'], Any: ['image', 'chart', 'bundle'] } as const satisfies Record<
    Artifact,
    readonly Content[]
  >;
  return random.chance(0.75) ? random.pick<Content>(fitting[artifact]) : random.pick(contents);
}

interface Plan {
  readonly content: Content;
  readonly tag: string;
  readonly build: number;
  readonly isBroken: boolean;
  readonly lagMs: number;
  readonly announcements: number;
  readonly hasDigest: boolean;
  readonly isAnnounced: boolean;
  readonly gapMs: number;
}

function push(
  world: World,
  { repository }: PolicySetup,
  { content, tag, build, isBroken, lagMs, announcements, hasDigest, isAnnounced, gapMs }: Plan,
): void {
  const image = contentOf(content, build);
  const { digest } = image;
  if (isBroken) {
    world.hasInterference = true;
    world.controllers.broken.add(digest).add(`${repository}:${tag}`);
  }
  world.story.tell(
    'registry',
    `gets ${content === 'image' ? '' : `the ${content} `}${shorten(`${repository}:${tag}@${digest}`)}${isBroken ? ', which is broken' : ''}${isAnnounced ? '' : ', and announces nothing'}`,
  );
  world.registry.push(repository, tag, image, lagMs);
  if (!isAnnounced) {
    world.mayBeUnknown.add(repository);
    return;
  }
  for (let count = 0; count < announcements; count++)
    world.clock.schedule(undefined, 1 + count * gapMs, () =>
      accept(world, { repository, tag, digest, hasDigest, key: `${build} ${count}` }),
    );
}

/** A push, as the registry announces it. */
export interface Announcement {
  readonly repository: string;
  readonly tag: string;
  readonly digest: string;
  readonly hasDigest: boolean;
  readonly key: string;
}

/** What the receiver does with an announcement: stores it, and from then on it counts. */
function accept(world: World, announced: Announcement): void {
  const { repository, tag, digest } = announced;
  world.pushes.push({ id: announce(world, announced), repository, tag, digest, at: world.clock.now() });
}

/** Stores an announcement; returns its id. */
export function announce(world: World, { repository: text, tag, digest, hasDigest, key }: Announcement): string {
  const repository = tryNormaliseRepository(registryHost, text.slice(registryHost.length + 1), new Map());
  if (repository === undefined) throw new Error(`${text} is no repository`);
  const event: PushEvent = {
    id: hashId([key]),
    receiver: 'hook',
    provider: 'generic',
    repository,
    tag,
    ...(hasDigest && { digest }),
    receivedAt: new Date(world.clock.now()).toISOString(),
  };
  // A suspended policy leaves it, and the registry may not show it yet when the policy is resumed, or created anew.
  const isLeft = world.setup.policies.some((one) => one.repository === text && policyNow(world, one.name)?.spec['suspend'] !== false);
  if (isLeft && world.registry.tags(text).get(tag) !== digest) world.mayBeUnknown.add(text);
  void world.receiver.add([event]);
  world.story.tell(
    'receiver',
    `accepts push ${event.id.slice(0, 6)} of ${shorten(`${text}:${tag}`)}${hasDigest ? shorten(`@${digest}`) : ''}`,
  );
  return event.id;
}
