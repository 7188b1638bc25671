import type { BaseImagePolicy } from '../core/model/base-policy.ts';
import { policyKey } from '../core/model/image-policy.ts';
import type { Metrics } from '../service/telemetry/metrics.ts';

const maxMeasured = 200;

/** Sets the metrics of BaseImagePolicies: of those whose images are behind for longest, if there are many. */
export function measureBases(
  policies: Iterable<BaseImagePolicy>,
  { baseImages, baseBehindSince }: Pick<Metrics, 'baseImages' | 'baseBehindSince'>,
): void {
  baseImages.reset();
  baseBehindSince.reset();
  for (const { namespace, name, status } of [...policies].toSorted(byUrgency).slice(0, maxMeasured)) {
    const { images, behindSince } = status;
    if (images === undefined) continue;
    const { current, behind, unknown, unrelated } = images;
    for (const [state, count] of Object.entries({ current, behind, unknown, unrelated })) baseImages.set({ namespace, name, state }, count);
    if (behindSince !== undefined) baseBehindSince.set({ namespace, name }, Date.parse(behindSince) / 1000);
  }
}

function byUrgency(a: BaseImagePolicy, b: BaseImagePolicy): number {
  return rank(a) < rank(b) ? -1 : 1;
}

/** The order as a text; a year comes before "never". */
function rank(policy: BaseImagePolicy): string {
  return `${policy.status.behindSince ?? 'never'} ${policyKey(policy)}`;
}
