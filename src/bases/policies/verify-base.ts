/** Whether the selected base has the signatures that its policy demands: nothing is rebased onto another one, and no workload is restarted and no rebuild requested for it. */
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

/** A base, where it comes from, and why it is used now. */
export interface BaseToVerify {
  readonly base: SelectedBase;
  readonly source: ImageSource;
  readonly job: Pick<BaseJob, 'receivedAt'>;
}

/** Resolves where it has them, or where none are demanded; otherwise rejects as for an image of an ImagePolicy (`reconcile/demand-signatures.ts`). */
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
