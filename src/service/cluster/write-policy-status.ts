/** Writes statuses of policies. Several updates of the same policy become one write, so the updates of one process do not conflict. */
import { readPolicy } from '../resources/read-policy.ts';
import type { ReadContext } from '../resources/read-spec.ts';
import { abortable, whenAllAborted } from '../../core/async/deadline.ts';
import { batchWrites } from '../../core/async/serialize.ts';
import type { ClusterCache } from './cluster-cache.ts';
import { policyResource } from '../resources/group.ts';
import type { KubeClient } from '../kube/client.ts';
import { isKubeError } from '../kube/kube-error.ts';
import { objectPath } from '../kube/objects.ts';
import { readMetadata } from '../kube/watch-events.ts';
import { patchStatus } from '../kube/patch-status.ts';
import type { ImagePolicy } from '../../core/model/image-policy.ts';
import type { PolicyStatus } from '../../core/model/policy-status.ts';
import { historyFields, readStatus, toStored, type StoredStatus } from '../../core/model/stored-status.ts';
import { isNewer } from '../../core/model/workload.ts';
import { fieldsOf, isSameJson } from '../../core/model/untyped.ts';
import type { WriteStatus } from '../../core/model/write-status.ts';
import type { NoticeSink } from '../../core/model/notice-sink.ts';

/** The means to write a status. */
export interface StatusWriting {
  readonly client: KubeClient;
  readonly cache: Pick<ClusterCache, 'policies' | 'written'>;
  readonly notices: Pick<NoticeSink, 'onPolicyStatus'>;
  readonly readContext: ReadContext;
}

interface Update {
  readonly policy: ImagePolicy;
  readonly update: (status: PolicyStatus) => PolicyStatus | undefined;
  readonly signal: AbortSignal;
  readonly eventId: string | undefined;
  /** Receives an error that concerns only this update. */
  readonly onError: (error: unknown) => void;
}

/** The result of one update of the status, on top of the previous ones. */
interface Step {
  readonly before: PolicyStatus;
  readonly after: PolicyStatus;
  readonly eventId: string | undefined;
}

/** Creates the writer of one process. An update waits while an earlier one of the same policy is written, and is then written with all others that wait. */
export function createStatusWriter({ client, cache, notices, readContext }: StatusWriting): WriteStatus {
  const writeTogether = async (policy: ImagePolicy, updates: readonly Update[]): Promise<void> => {
    const cached = cache.policies.get(policy.namespace, policy.name);
    // A policy that was deleted and created again under the same name is another policy. One that was read may be newer than the cache.
    const newest = updates.reduce(
      (last, { policy: one }) => (isNewer(one.resourceVersion, last.resourceVersion) ? one : last),
      cached?.uid === policy.uid ? cached : policy,
    );
    const { signal, end } = whenAllAborted(updates.map((one) => one.signal));
    const stored = toStored(newest.status);
    let steps: readonly Step[] = [];
    /** The expected status on top of the known one, and its stored form. */
    let expected: { readonly status: PolicyStatus; readonly stored: StoredStatus } | undefined;
    /** The policy after the write, from what was sent: nothing else can have changed, unless the server has dropped something. */
    const readBack = (written: unknown, known: ImagePolicy | undefined): ImagePolicy => {
      const sent = known?.resourceVersion === newest.resourceVersion ? expected : undefined;
      if (known === undefined || sent === undefined || !isSameJson(fieldsOf(written)['status'], sent.stored))
        return readPolicy(written, readContext, known);
      return { ...known, resourceVersion: readMetadata(written).resourceVersion, status: sent.status };
    };
    try {
      const written = await patchStatus({
        client,
        path: objectPath(policyResource, policy.namespace, policy.name),
        current: { ...newest, status: stored },
        update(status, generation) {
          // The first try gets the status that was passed to the writer, so it need not be read again.
          const isKnown = status === stored;
          steps = stepsOf(isKnown ? newest.status : readStatus(status, generation), updates);
          const after = steps.at(-1)?.after;
          const next = after && { status: after, stored: toStored(after) };
          expected = isKnown ? next : undefined;
          return next?.stored;
        },
        together: historyFields,
        // Each update reports its changes, even if the next update hides them.
        beforeWrite: async () => {
          await Promise.all(steps.map(({ before, after, eventId }) => notices.onPolicyStatus(policy, before, after, eventId)));
        },
        signal,
      });
      if (written === undefined) return;
      const known = cache.written.get(policy.namespace, policy.name);
      // The watch may have delivered the result before the response came.
      if (known?.resourceVersion === readMetadata(written).resourceVersion) return;
      cache.written.observe(readBack(written, known));
    } finally {
      end();
    }
  };
  const write = async (updates: readonly Update[]): Promise<void> => {
    const wanted = updates.filter(({ signal }) => !signal.aborted);
    const [first] = wanted;
    if (first === undefined) return;
    try {
      await writeTogether(first.policy, wanted);
    } catch (error) {
      if (wanted.length === 1 || !isKubeError(error, 422)) throw error;
      // One update is at fault, and the others must not fail with it, so each is written alone.
      for (const one of wanted) await writeTogether(one.policy, [one]).catch(one.onError);
    }
  };
  const writers = new Map<string, { readonly add: (update: Update) => Promise<void>; open: number }>();
  return async (policy, update, signal, eventId) => {
    const writer = writers.get(policy.uid) ?? { add: batchWrites(write), open: 0 };
    writers.set(policy.uid, writer);
    writer.open++;
    let failure: { readonly error: unknown } | undefined;
    const onError = (error: unknown) => (failure ??= { error });
    const written = writer.add({ policy, update, signal, eventId, onError }).finally(() => {
      if (--writer.open === 0) writers.delete(policy.uid);
    });
    await abortable(written, signal);
    if (failure !== undefined) throw failure.error;
  };
}

/** The changes that the updates make of a status, one after the other; empty if none changes it. */
function stepsOf(status: PolicyStatus, updates: readonly Update[]): Step[] {
  const steps: Step[] = [];
  for (const { update, eventId, onError } of updates) {
    const before = steps.at(-1)?.after ?? status;
    try {
      const after = update(before);
      if (after !== undefined) steps.push({ before, after, eventId });
    } catch (error) {
      onError(error);
    }
  }
  return steps;
}
