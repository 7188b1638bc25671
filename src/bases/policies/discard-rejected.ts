/** Takes back the images that were rebased on a base that is rejected, so that nobody deploys them later. */
import { inParallel } from '../../core/async/in-parallel.ts';
import type { RebaseAction } from '../../core/model/base-policy.ts';
import type { Discarded } from '../../core/model/discarded-image.ts';
import { describeError } from '../../core/model/errors.ts';
import { formatRepository } from '../../core/model/image-reference.ts';
import { rejectionOf } from '../../core/plan/rejected-base.ts';
import type { Acting, Chosen, ImageBehind } from './act.ts';
import { orderOf, type RebasePort } from './rebase-images.ts';

/** How long after its rejection an image is taken back, in ms. A tag that exists later was kept by its registry, or written by somebody else. */
const lifeMs = 3_600_000;
const parallel = 4;

/** What became of rebased images, as ends of sentences, and whether some are to be tried again. */
export interface DiscardedImages {
  readonly notes: ReadonlyMap<ImageBehind, string>;
  readonly isLeft: boolean;
}

/** Makes no request an hour after the rejection. A tag that something runs is left until that is rolled back. */
export async function discardRejected(
  acting: Acting,
  chosen: readonly Chosen<RebaseAction>[],
  { discard }: Pick<RebasePort, 'discard'>,
): Promise<DiscardedImages> {
  const { policy, base, signal, confirm, now } = acting;
  const rejection = rejectionOf(policy, base, now);
  if (rejection === undefined || now - Date.parse(rejection.at) > lifeMs) return { notes: new Map(), isLeft: false };
  const orders = chosen.flatMap((one) => {
    const order = orderOf(acting, one, false);
    return 'refused' in order ? [] : [{ image: one.image, order }];
  });
  const results = await inParallel(orders, parallel, async ({ order }) => {
    const isInUse = (written: { readonly tag: string; readonly digest: string }) =>
      acting.isInUse({ repository: order.image.source, ...written });
    return discard(order, { message: rejection.message, isInUse }, { signal, confirm });
  });
  signal.throwIfAborted();
  const notes = new Map<ImageBehind, string>();
  let isLeft = false;
  for (const [index, { image }] of orders.entries()) {
    const result = results[index];
    if (result?.status === 'fulfilled') {
      if (result.value !== undefined) notes.set(image, describe(image, result.value));
      isLeft ||= result.value?.result === 'InUse';
    } else {
      notes.set(image, `what was rebased could not be taken back, which is tried again: ${describeError(result?.reason)}`);
      isLeft = true;
    }
  }
  return { notes, isLeft };
}

function describe({ source }: ImageBehind, { tag, result }: Discarded): string {
  const name = `${formatRepository(source)}:${tag}`;
  if (result === 'Deleted') return `${name} was deleted`;
  return result === 'Kept'
    ? `${name} is marked as rejected, and its registry keeps it`
    : `${name} is deleted when nothing runs it any more`;
}
