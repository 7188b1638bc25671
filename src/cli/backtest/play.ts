/** Plays the past of an image: each push at its time, and each wait of the policy at its end. */
import type { ImagePolicy, PolicySpec } from '../../core/model/image-policy.ts';
import { firstImages, firstTag } from './first-images.ts';
import type { PastImage } from './past-image.ts';
import { createPastWorld, type Decision } from './past-world.ts';

/** The period, and what runs when it begins. */
export interface Period {
  /** The start of the period, in ms since 1970; so is its end. */
  readonly from: number;
  readonly to: number;
  /** The tag that runs at the beginning; unless given, the one that the policy selects then, or the first that it can select. */
  readonly runs?: string | undefined;
  /** Whether the policy is asked once more at the end, about all images. */
  readonly asksAtEnd?: boolean;
  /** How often an image may come back within an hour, as in the configuration (`guards`). */
  readonly repeatsPerHour: number;
}

/** What happened. */
export interface Played {
  /** The image that ran at the beginning: the tag. */
  readonly first: string;
  /** All decisions, in order. */
  readonly decisions: readonly Decision[];
  /** The image that runs at the end, as the workload names it. */
  readonly last: string;
  /** The pushes within the period. */
  readonly pushes: readonly PastImage[];
}

/** More than a year of a busy repository. Each takes about a millisecond. */
const maxDecisions = 100_000;
const maxAgain = 5;

/** Plays the pushes, which are in the order of their times. Throws PermanentError where no image could run at the beginning. */
export async function play(
  policy: ImagePolicy & { readonly spec: PolicySpec },
  pushes: readonly PastImage[],
  { from, to, runs, asksAtEnd = false, repeatsPerHour }: Period,
  signal: AbortSignal,
): Promise<Played> {
  const [before, during] = [
    pushes.filter(({ pushedAt }) => pushedAt < from),
    pushes.filter(({ pushedAt }) => pushedAt >= from && pushedAt <= to),
  ];
  const first = runs ?? firstTag(policy.spec, pushes, from);
  const images = firstImages(policy.spec, pushes, first, from);
  const world = createPastWorld(policy, images, repeatsPerHour);
  for (const push of before) world.add(push);
  const decisions: Decision[] = [];
  const decide = async (at: number, push?: PastImage) => {
    if (decisions.length >= maxDecisions) throw new Error(`more than ${maxDecisions} decisions: choose a shorter period`);
    const decision = await world.decide(at, signal, push);
    decisions.push(decision);
    return decision;
  };
  /** Decides, and then again as long as the service would add another job at once. */
  const decideAll = async (at: number, push?: PastImage) => {
    let decision = await decide(at, push);
    for (let again = 0; decision.isUnfinished && again < maxAgain; again++) decision = await decide(at);
  };
  const awaitUntil = async (time: number) => {
    for (;;) {
      const last = decisions.at(-1);
      if (last?.next === undefined || last.next > time) return;
      await decideAll(Math.max(last.next, last.at + 1_000));
    }
  };
  if (before.length > 0) await decideAll(from);
  for (const push of during) {
    await awaitUntil(push.pushedAt - 1);
    world.add(push);
    await decideAll(push.pushedAt, push);
  }
  await awaitUntil(to);
  if (asksAtEnd) await decideAll(to);
  return { first, decisions, last: world.running(), pushes: during };
}
