/** Runs the stages of the service for a policy up to the change, which is neither made nor validated. */
import { planSelection, type PlannedNow } from '../../service/explain/plan-now.ts';
import { describeError, PermanentError, WaitError } from '../../core/model/errors.ts';
import { asSeenBy } from '../../core/plan/consent.ts';
import type { Outcome } from '../../core/plan/outcome.ts';
import { noProgress, type Attempt } from '../../service/reconcile/attempt.ts';
import { select } from '../../service/reconcile/select.ts';
import { usableSpec, type Selection } from '../../service/reconcile/selection.ts';
import type { Run } from './ports.ts';

/** Decides about one policy of a run. Rejects if the cluster does not answer. A refusal of a registry is a decision. */
export async function decideOnce(key: string, { ports }: Pick<Run, 'ports'>, signal: AbortSignal): Promise<PlannedNow> {
  const known = ports.policies.known(key);
  if (known === undefined) throw new Error(`${key} was not read`);
  const { policy, why } = known;
  if (why !== undefined) return { policy, why, reason: 'NamespaceNotSelected', isSelected: false };
  const spec = usableSpec(policy);
  if ('kind' in spec) return { policy, ...endOf(spec), isSelected: true };
  await ports.workloads.awaitTargets(policy, spec, signal);
  const { namespace, name, uid } = policy;
  const request = { policy: { namespace, name, uid }, announced: false, isPreview: true };
  const selection = await selectNow(
    { policy, spec, request, cluster: asSeenBy(policy, ports.cluster), signal, progress: noProgress },
    ports,
  );
  return 'why' in selection ? { policy, ...selection, isSelected: true } : planSelection(policy, selection, ports.cluster);
}

type NoImage = Pick<Extract<PlannedNow, { why: string }>, 'why' | 'reason'>;

/** The image that the registry has now, with the facts by which a first change is judged. The targets are known already. */
async function selectNow(attempt: Attempt, ports: Run['ports']): Promise<Selection | NoImage> {
  try {
    const found = await select(attempt, { ...ports, workloads: { ...ports.workloads, awaitTargets: async () => {} } });
    if ('kind' in found) return endOf(found);
    if ('selection' in found) return found.selection;
    return found.progress.selected?.selection ?? { why: 'nothing is selected' };
  } catch (error) {
    attempt.signal.throwIfAborted();
    const isKnown = error instanceof PermanentError || error instanceof WaitError;
    return { why: describeError(error), reason: isKnown ? error.reason : 'RegistryUnavailable' };
  }
}

function endOf({ reason, message }: Outcome): NoImage {
  return { why: message, reason };
}
