/** Remembers what became of rebases: each step of a roll-out asks again for every image that is behind, and a repeated rebase costs about ten requests. */
import { BoundedMap } from '../../core/async/bounded-map.ts';
import { formatRepository } from '../../core/model/image-reference.ts';
import { accessKey } from '../../core/model/image-source.ts';
import type { RebaseOrder, RebasePorts, RebaseResult } from './roll-out-rebased.ts';

type Rebase = RebasePorts['rebase'];

const maxRemembered = 10_000;
/** The tag of a rebased image may be deleted; what an image is refused for may be mended in its registry or in a Secret. */
const lifeMs = { rebased: 3_600_000, refused: 60_000 };

/** The same function, which calls the other one once for each rebase within an hour; a request of a user (`requested-at`) and a changed policy call it again. */
export function rememberRebases(rebase: Rebase, now: () => number): Rebase {
  const known = new BoundedMap<string, { readonly result: RebaseResult; readonly until: number }>(maxRemembered);
  return async (order, permit) => {
    const key = keyOf(order);
    const found = known.get(key);
    if (found !== undefined && now() < found.until) return found.result;
    const result = await rebase(order, permit);
    known.set(key, { result, until: now() + ('refused' in result ? lifeMs.refused : lifeMs.rebased) });
    return result;
  };
}

/** The generation of the policy stands for its spec, and so for the action. */
function keyOf({ policy: { uid, generation, actions }, image, base, action, date }: RebaseOrder): string {
  const { source, tag, digest, base: oldBase } = image;
  const from = [formatRepository(source), accessKey(source), tag, digest, oldBase];
  return JSON.stringify([uid, generation, actions?.requestedAt, action, ...from, base.tag, base.digest, date.getTime()]);
}
