import type { BaseImagePolicy } from '../core/model/base-policy.ts';
import { policyKey } from '../core/model/image-policy.ts';
import type { Metrics } from '../service/telemetry/metrics.ts';

const maxMeasured = 200;

/** Sets the metrics of BaseImagePolicies. If there are many, those come first whose images are behind for longest, and then those with unknown images. */
export function measureBases(
  policies: Iterable<BaseImagePolicy>,
  { baseImages, baseBehindSince, baseRebuildsOverdue }: Pick<Metrics, 'baseImages' | 'baseBehindSince' | 'baseRebuildsOverdue'>,
): void {
  baseImages.reset();
  baseBehindSince.reset();
  baseRebuildsOverdue.reset();
  for (const { namespace, name, status } of [...policies].toSorted(byUrgency).slice(0, maxMeasured)) {
    const { images, behindSince } = status;
    if (images === undefined) continue;
    const { current, behind, otherLine = 0, unknown, unrelated, overdue = 0 } = images;
    for (const [state, count] of Object.entries({ current, behind, other_line: otherLine, unknown, unrelated }))
      baseImages.set({ namespace, name, state }, count);
    baseRebuildsOverdue.set({ namespace, name }, overdue);
    if (behindSince !== undefined) baseBehindSince.set({ namespace, name }, Date.parse(behindSince) / 1000);
  }
}

function byUrgency(a: BaseImagePolicy, b: BaseImagePolicy): number {
  return rank(a) < rank(b) ? -1 : 1;
}

/** The sort key of a policy as a text. A year sorts before "never", and that before "unconcerned". */
function rank(policy: BaseImagePolicy): string {
  const { behindSince, images } = policy.status;
  const isUnsure = (images?.unknown ?? 0) > 0;
  return `${behindSince ?? (isUnsure ? 'never' : 'unconcerned')} ${policyKey(policy)}`;
}
