import type { Spec } from '../../../service/resources/v1.ts';
import type { Repository } from '../../../core/model/image-reference.ts';

/** A target that Flux updates by a policy. */
export interface FoundTarget {
  /** `flux-system/web`. */
  readonly policyKey: string;
  /** `Deployment shop/web`. */
  readonly object: string;
  readonly namespace: string;
  readonly target: Spec['targets'][number];
  /** Whether Flux can write a digest there. */
  readonly takesDigest: boolean;
  /** The repository that is there now; undefined where the field does not name it. */
  readonly runs: Repository | undefined;
  readonly notes: readonly string[];
}
