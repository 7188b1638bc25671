/** What becomes of the status when rollouts are found to be done, failed or put back. Pure: called again on the newest status after a conflict. */
import { isOpen, type Rollback, type Rollout } from './current-rollouts.ts';
import { isUsable, type ImagePolicy, type RolloutSettings } from './image-policy.ts';
import { tryParseImageReference } from './image-reference.ts';
import type { RolloutVerdict } from './judge-rollout.ts';
import { nextConditions } from './next-conditions.ts';
import { isWorthWriting } from './next-status.ts';
import type { HistoryEntry, PolicyStatus } from './policy-status.ts';
import { addRejection, findRejection } from './rejections.ts';
import { rolloutClaims } from './rollout-claims.ts';
import { cut, toSeconds } from './status-text.ts';
import { formatWorkload, workloadKey, type Workload, type WorkloadRef } from './workload.ts';

/** What was found of one rollout. */
export interface Finding {
  readonly rollout: Rollout;
  readonly verdict: RolloutVerdict;
  /** What the registry says of tags whose digest the history does not know. */
  readonly digests: ReadonlyMap<string, string>;
}

const maxEntries = 10;
/** Those that other looks write are left to them. */
const ownReasons: ReadonlySet<string> = new Set(['UpToDate', 'Progressing', 'RolloutFailed', 'RejectedDigest']);

/** The status with the results that are known now: failed images are rejected, unless failures are ignored; those that came out after all are not any more. */
export function settleFindings(status: PolicyStatus, findings: readonly Finding[], settings: RolloutSettings, now: Date): PolicyStatus {
  let { history = [], rejected = [] } = status;
  for (const { rollout, verdict, digests } of findings) {
    if (verdict.kind !== 'done' && verdict.kind !== 'failed') continue;
    const result = verdict.kind === 'done' ? 'RolledOut' : 'Failed';
    history = history.map((entry) => {
      if (!isOpen(entry) || entry.result === result || !rollout.entries.some((one) => isSameEntry(one, entry))) return entry;
      const digest = entry.digest ?? digests.get(entry.tag);
      const settled: HistoryEntry = { ...entry, ...(digest !== undefined && { digest }), result };
      if (verdict.kind === 'done') rejected = rejected.filter((image) => image.digest !== digest);
      if (verdict.kind === 'failed' && digest !== undefined && settings.onFailure !== 'Ignore' && entry.trigger !== 'Rollback') {
        const message = cut(verdict.message, 1024);
        rejected = addRejection(rejected, { digest, tag: entry.tag, reason: verdict.reason, message, at: toSeconds(now) });
      }
      return settled;
    });
  }
  return withLists(status, { history, rejected });
}

/** The status after the images before were put back: the failed changes are RolledBack, and what was done is a change of its own. */
export function settleRollbacks(status: PolicyStatus, workload: WorkloadRef, rollbacks: readonly Rollback[], now: Date): PolicyStatus {
  const { history = [] } = status;
  const open = rollbacks.filter(({ entry }) => history.some((one) => isSameEntry(one, entry) && one.result === 'Failed'));
  const added = open.map(({ entry }) => toRollbackEntry(entry, history, now));
  const [newest] = added;
  if (newest === undefined) return status;
  const marked = history.map((one) =>
    open.some(({ entry }) => isSameEntry(one, entry)) ? { ...one, result: 'RolledBack' as const } : one,
  );
  const targets = status.targets?.map((state) => {
    const back = added.find((entry) => workloadKey(state) === workloadKey(workload) && state.container === entry.container);
    return back === undefined
      ? state
      : { ...state, image: back.to, state: 'Kept' as const, message: cut(`put back: ${back.from} failed`, 1024) };
  });
  return {
    ...withLists(status, { history: [...added, ...marked].slice(0, maxEntries) }),
    ...(targets !== undefined && { targets }),
    ...(newest.tag !== '' && { lastAppliedTag: newest.tag }),
    trigger: { source: 'Rollback', handledAt: now.toISOString() },
  };
}

/** The status with the reason why an image was not put back, where it says why it failed. */
export function noteNoRollback(status: PolicyStatus, { digest }: HistoryEntry, why: string): PolicyStatus {
  const rejection = findRejection(status, digest);
  if (rejection === undefined || rejection.message?.includes(why)) return status;
  const message = cut(`${rejection.message ?? 'failed'}; the image before was not put back: ${why}`, 1024);
  return withLists(status, { rejected: (status.rejected ?? []).map((one) => (one === rejection ? { ...one, message } : one)) });
}

/** The status with the conditions that its rollouts ask for; undefined when there is nothing to write. */
export function withRolloutConditions(
  policy: Pick<ImagePolicy, 'generation' | 'namespace' | 'spec' | 'status'>,
  changed: PolicyStatus,
  findWorkload: (ref: WorkloadRef) => Workload | undefined,
  now: Date,
): PolicyStatus | undefined {
  const ready = policy.status.conditions?.find(({ type }) => type === 'Ready');
  const isOurs = isUsable(policy.spec) && policy.status.observedGeneration === policy.generation && ownReasons.has(ready?.reason ?? '');
  if (!isOurs) return isWorthWriting(policy.status, changed, now) ? changed : undefined;
  const claims = rolloutClaims({ spec: policy.spec, status: changed }, findWorkload, now);
  const running = describeRunning(changed, findWorkload);
  const ending = { kind: 'unchanged', reason: 'UpToDate', message: running, running } as const;
  const isLeft = ready?.reason === 'RejectedDigest' && claims.instead === undefined;
  const next = isLeft ? changed : { ...changed, conditions: nextConditions(policy, ending, now, claims) };
  return isWorthWriting(policy.status, next, now) ? next : undefined;
}

/** Whether two entries speak of the same change, whatever became of it. */
export function isSameEntry(a: HistoryEntry, b: HistoryEntry): boolean {
  return workloadKey(a) === workloadKey(b) && a.container === b.container && a.to === b.to && a.at === b.at;
}

function toRollbackEntry(entry: Rollback['entry'], history: readonly HistoryEntry[], now: Date): HistoryEntry {
  const image = tryParseImageReference(entry.from);
  const before = history.find((one) => one.to === entry.from);
  const digest = image?.digest ?? before?.digest;
  const { kind, namespace, name, container } = entry;
  return {
    kind,
    namespace,
    name,
    container,
    from: entry.to,
    to: entry.from,
    tag: image?.tag ?? before?.tag ?? '',
    ...(digest !== undefined && { digest }),
    trigger: 'Rollback',
    at: toSeconds(now),
    result: 'Applied',
  };
}

function describeRunning({ targets = [] }: PolicyStatus, findWorkload: (ref: WorkloadRef) => Workload | undefined): string {
  const runs = targets.flatMap((state) => {
    const container = findWorkload(state)?.containers.find(({ name }) => name === state.container);
    return container === undefined ? [] : [`${formatWorkload(state)} runs ${container.image}`];
  });
  return [...new Set(runs)].join('; ') || 'every workload runs the selected image';
}

/** Lists that are empty and were not there stay away. */
function withLists(status: PolicyStatus, { history, rejected }: Pick<PolicyStatus, 'history' | 'rejected'>): PolicyStatus {
  return {
    ...status,
    ...(history !== undefined && (history.length > 0 || status.history !== undefined) && { history }),
    ...(rejected !== undefined && (rejected.length > 0 || status.rejected !== undefined) && { rejected }),
  };
}
