/** Writes statuses of policies: several updates of the same policy become one write, and those of one process do not conflict. */
import { readPolicy } from '../api-versions/read-policy.ts';
import type { ReadContext } from '../api-versions/read-spec.ts';
import { abortable, whenAllAborted } from '../async/deadline.ts';
import { batchWrites } from '../async/serialize.ts';
import type { ClusterCache } from '../cluster/cluster-cache.ts';
import { policyResource } from '../cluster/policy-watches.ts';
import type { KubeClient } from '../kube/client.ts';
import { objectPath } from '../kube/objects.ts';
import { readMetadata } from '../kube/watch-events.ts';
import { patchStatus } from '../kube/patch-status.ts';
import type { ImagePolicy } from '../model/image-policy.ts';
import type { PolicyStatus } from '../model/policy-status.ts';
import { historyFields, readStatus, toStored } from '../model/stored-status.ts';
import type { Policies } from '../reconcile/ports.ts';
import type { NoticeStore } from './notices.ts';

/** What a status is written with. */
export interface StatusWriting {
  readonly client: KubeClient;
  readonly cache: Pick<ClusterCache, 'policies' | 'written'>;
  readonly notices: Pick<NoticeStore, 'onPolicyStatus'>;
  readonly readContext: ReadContext;
}

interface Update {
  readonly policy: ImagePolicy;
  readonly update: (status: PolicyStatus) => PolicyStatus | undefined;
  readonly signal: AbortSignal;
  readonly eventId: string | undefined;
}

/** What one update makes of the status, on top of those before it. */
interface Step {
  readonly before: PolicyStatus;
  readonly after: PolicyStatus;
  readonly eventId: string | undefined;
}

/** The writer of one process. An update waits while an earlier one of the same policy is written, and is then written with all others that wait. */
export function createStatusWriter({ client, cache, notices, readContext }: StatusWriting): Policies['writeStatus'] {
  const write = async (updates: readonly Update[]): Promise<void> => {
    const [first] = updates;
    if (first === undefined) return;
    const { policy } = first;
    const cached = cache.policies.get(policy.namespace, policy.name);
    // A policy that was deleted and created again under the same name is another policy.
    const newest = cached?.uid === policy.uid ? cached : policy;
    const { signal, end } = whenAllAborted(updates.map((one) => one.signal));
    const stored = toStored(newest.status);
    let steps: readonly Step[] = [];
    try {
      const written = await patchStatus({
        client,
        path: objectPath(policyResource, policy.namespace, policy.name),
        current: { ...newest, status: stored },
        update(status, generation) {
          steps = stepsOf(status === stored ? newest.status : readStatus(status, generation), updates);
          const last = steps.at(-1);
          return last && toStored(last.after);
        },
        together: historyFields,
        // Each update reports what it does: what the next one hides has happened all the same.
        beforeWrite: async () => {
          await Promise.all(steps.map(({ before, after, eventId }) => notices.onPolicyStatus(policy, before, after, eventId)));
        },
        signal,
      });
      if (written === undefined) return;
      const known = cache.written.get(policy.namespace, policy.name);
      // The watch may be faster than the response.
      if (known?.resourceVersion !== readMetadata(written).resourceVersion) cache.written.observe(readPolicy(written, readContext, known));
    } finally {
      end();
    }
  };
  const writers = new Map<string, { readonly add: (update: Update) => Promise<void>; open: number }>();
  return async (policy, update, signal, eventId) => {
    const writer = writers.get(policy.uid) ?? { add: batchWrites(write), open: 0 };
    writers.set(policy.uid, writer);
    writer.open++;
    try {
      await abortable(writer.add({ policy, update, signal, eventId }), signal);
    } finally {
      if (--writer.open === 0) writers.delete(policy.uid);
    }
  };
}

/** What the updates make of a status, one after the other; empty if none changes it. */
function stepsOf(status: PolicyStatus, updates: readonly Update[]): Step[] {
  const steps: Step[] = [];
  for (const { update, eventId } of updates) {
    const before = steps.at(-1)?.after ?? status;
    const after = update(before);
    if (after !== undefined) steps.push({ before, after, eventId });
  }
  return steps;
}
