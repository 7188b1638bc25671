import type { Spec } from '../../../service/resources/v1.ts';
import type { Repository } from '../../../core/model/image-reference.ts';

/** A target that Flux updates by a policy. */
export interface FoundTarget {
  /** The policy of Flux: `flux-system/web`. */
  readonly policyKey: string;
  /** The object that Flux updates: `Deployment shop/web`. */
  readonly object: string;
  readonly namespace: string;
  readonly target: Spec['targets'][number];
  /** Whether Flux can write a digest into the target. */
  readonly takesDigest: boolean;
  /** The current repository of the target; undefined if the field does not contain one. */
  readonly runs: Repository | undefined;
  readonly notes: readonly string[];
}
