/** Remembers the results of rebases. Each step of a roll-out rebases every image that is behind again, and a repeated rebase costs about ten requests. */
import { BoundedMap } from '../../core/async/bounded-map.ts';
import type { Discarded } from '../../core/model/discarded-image.ts';
import { formatRepository } from '../../core/model/image-reference.ts';
import { accessKey } from '../../core/model/image-source.ts';
import { hashId } from '../../core/model/push-event.ts';
import type { RebaseOrder, RebasePort, RebaseResult } from './rebase-images.ts';

const maxRemembered = 10_000;
/** Results expire, because the tag of a rebased image may be deleted, and the cause of a refusal may be fixed in the registry or a Secret. */
const lifeMs = { rebased: 3_600_000, refused: 60_000 };

/** What does the work: `RebasePort` without the memory. */
export type Rebases = Omit<RebasePort, 'isRebaseKnown'>;

/**
 * Makes a port that asks once for each order within an hour. A request of a user (`requested-at`), a release and a changed policy make other orders. What was taken
 * back is not asked for again either, unless it was in use.
 */
export function rememberRebases(rebases: Rebases, now: () => number): RebasePort {
  const rebased = new Memory<RebaseResult>(now);
  const discarded = new Memory<{ readonly result: Discarded | undefined }>(now);
  return {
    isRebaseKnown: (order) => rebased.find(keyOf(order)) !== undefined,
    async rebase(order, permit) {
      const found = rebased.find(keyOf(order));
      if (found !== undefined) return found;
      const result = await rebases.rebase(order, permit);
      rebased.keep(keyOf(order), result, 'refused' in result ? lifeMs.refused : lifeMs.rebased);
      return result;
    },
    async discard(order, discard, permit) {
      const found = discarded.find(keyOf(order));
      if (found !== undefined) return found.result;
      rebased.forget(keyOf(order));
      const result = await rebases.discard(order, discard, permit);
      if (result?.result !== 'InUse') discarded.keep(keyOf(order), { result }, lifeMs.rebased);
      return result;
    },
  };
}

class Memory<T> {
  readonly #known = new BoundedMap<string, { readonly value: T; readonly until: number }>(maxRemembered);
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  find(key: string): T | undefined {
    const found = this.#known.get(key);
    return found !== undefined && this.#now() < found.until ? found.value : undefined;
  }

  keep(key: string, value: T, lifeMs: number): void {
    this.#known.set(key, { value, until: this.#now() + lifeMs });
  }

  forget(key: string): void {
    this.#known.delete(key);
  }
}

/** The key of an order. The generation of the policy represents its spec, and so the action. */
function keyOf({ policy: { uid, generation, actions }, image, base, action, date, isOnlyPlanned }: RebaseOrder): string {
  const { source, tag, digest, base: oldBase, baseTags: oldTags } = image;
  const from = [formatRepository(source), accessKey(source), tag, digest, oldBase];
  return JSON.stringify([
    uid,
    generation,
    actions?.requestedAt,
    actions?.release,
    action,
    ...from,
    base.tag,
    base.digest,
    // Tags that are learnt later may show another major version.
    hashId([...(oldTags ?? []), '', ...(base.tags ?? [])]),
    date.getTime(),
    isOnlyPlanned,
  ]);
}
