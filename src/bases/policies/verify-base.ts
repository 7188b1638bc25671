/** Verifies the signatures that a policy demands of its selected base. An unverified base causes no rebase, no restart and no rebuild. */
import type { ImageSource } from '../../core/model/image-source.ts';
import type { BaseJob } from '../../service/queue/jobs.ts';
import { demandSignatures } from '../../service/reconcile/demand-signatures.ts';
import type { Signatures } from '../../service/reconcile/ports.ts';
import { formatTag } from '../../service/reconcile/resolve-tag.ts';
import type { UsableBasePolicy } from './act.ts';
import type { SelectedBase } from './plan-roll-out.ts';

export interface VerifyBasePorts {
  readonly signatures: Signatures;
  readonly cluster: { readonly now: () => number };
}

/** A base, its source, and why it is used now. */
export interface BaseToVerify {
  readonly base: SelectedBase;
  readonly source: ImageSource;
  readonly job: Pick<BaseJob, 'receivedAt'>;
}

/** Resolves if the base has the demanded signatures, if any; otherwise rejects as for an ImagePolicy's image (`reconcile/demand-signatures.ts`). */
export async function verifyBase(
  policy: UsableBasePolicy,
  { base, source, job }: BaseToVerify,
  { signatures, cluster }: VerifyBasePorts,
  signal: AbortSignal,
): Promise<void> {
  const { verification } = policy.spec.base;
  if (verification === undefined) return;
  const { tag, digest } = base;
  const { namespace } = policy;
  const times = { sinceMs: Date.parse(job.receivedAt), nowMs: cluster.now() };
  await demandSignatures({ source, name: formatTag(source, tag), digest, verification, namespace, policy, ...times }, signatures, signal);
}
