import type { Candidate } from '../../core/model/image-reference.ts';
import { asSeenBy } from '../../core/plan/consent.ts';
import { rollbackImage } from '../../core/plan/rollback.ts';
import type { ClusterView } from '../reconcile/ports.ts';
import { usableSpec } from '../reconcile/selection.ts';
import type { Considered } from './plan-now.ts';

/** The image that a rollback to `previous` would bring back now; undefined if the history holds none, or the policy changes nothing. */
export function previousImage({ policy, why }: Considered, cluster: ClusterView): Candidate | undefined {
  const spec = usableSpec(policy);
  if (why !== undefined || 'kind' in spec) return undefined;
  const { uid, namespace, status } = policy;
  const { findWorkload, listWorkloads, aliases } = asSeenBy(policy, cluster);
  return rollbackImage({ spec, uid, namespace, status, findWorkload, listWorkloads, aliases }, 'previous');
}
