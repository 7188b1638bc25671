/** The records of pushes in memory: what `src/service/queue/event-log.ts` and its scripts write to Redis, as a reader sees it. `event-log-model.test.ts` compares both. */
import { formatRepository } from '../../src/core/model/image-reference.ts';
import type { GivenUpNotice } from '../../src/core/model/notice.ts';
import type { PushEvent } from '../../src/core/model/push-event.ts';
import type { AppliedChange } from '../../src/core/plan/plan-update.ts';
import type { EventLog, PolicyResult } from '../../src/service/queue/event-log.ts';
import { maxGivenUp, type PushRecord } from '../../src/service/queue/event-record.ts';
import { finalRank, foundRank, isFinal, maxChanges, resultRanks, stageRanks } from '../../src/service/queue/record-result.ts';

/** The log of one Redis, which several replicas write. */
export interface EventLogModel {
  /** `send`: as for the queues; runs a command at once unless given. */
  connect(send?: <T>(command: () => T) => Promise<T>): EventLog;
  /** What a reader would get; undefined for a push without a record. */
  read(id: string): PushRecord | undefined;
  /** Redis has lost its data. */
  wipe(): void;
}

interface Stored {
  event?: PushEvent;
  state: 'matched' | 'unwatched';
  policies: readonly string[];
  readonly results: Map<string, PolicyResult>;
  readonly verified: Map<string, number>;
  readonly read: Map<string, string>;
  readonly other: Map<string, string>;
  readonly givenUp: Map<string, GivenUpNotice[]>;
}

/** Records do not expire here, and no number of them is too large. */
export function createEventLogModel(): EventLogModel {
  const records = new Map<string, Stored>();
  const recordOf = (id: string): Stored => {
    const known = records.get(id);
    if (known !== undefined) return known;
    const record: Stored = {
      state: 'matched',
      policies: [],
      results: new Map(),
      verified: new Map(),
      read: new Map(),
      other: new Map(),
      givenUp: new Map(),
    };
    records.set(id, record);
    return record;
  };
  const matched = (event: PushEvent, policies: readonly string[]) =>
    void Object.assign(recordOf(event.id), {
      event,
      policies: [...new Set([...recordOf(event.id).policies, ...policies])],
      state: 'matched',
    });
  const record = (
    { results, verified, read, other }: Stored,
    policy: string,
    { verifiedMs, hasRead, otherDigest, ...result }: PolicyResult,
  ): void => {
    if (otherDigest !== undefined) other.set(policy, otherDigest);
    if (hasRead !== undefined) read.set(policy, hasRead);
    if (verifiedMs !== undefined && !verified.has(policy)) verified.set(policy, verifiedMs);
    results.set(policy, higher(results.get(policy), result));
  };
  return {
    connect: (send = async (command) => command()) => ({
      unwatched: (event) =>
        send(() => {
          const { event: known, state } = recordOf(event.id);
          if (known === undefined || state !== 'matched') Object.assign(recordOf(event.id), { event, state: 'unwatched' });
        }),
      matched: (event, policies) => send(() => matched(event, policies)),
      recordResult: (id, policy, result, push) =>
        send(() => {
          if (push !== undefined) matched(push, [policy]);
          record(recordOf(id), policy, result);
        }),
      unfinished: (id) =>
        send(() => {
          const { policies, results } = recordOf(id);
          return policies.filter((policy) => {
            const result = results.get(policy);
            return result === undefined || !isFinal(result);
          });
        }),
      recordGivenUp: (id, policy, notice) =>
        send(() => {
          const { givenUp } = recordOf(id);
          const known = givenUp.get(policy) ?? [];
          const others = known.filter(({ kind, target }) => kind !== notice.kind || target !== notice.target);
          if (others.length < maxGivenUp) givenUp.set(policy, [...others, notice]);
        }),
    }),
    read(id) {
      const found = records.get(id);
      if (found?.event === undefined) return undefined;
      const { event, state, policies, results, verified, read, other, givenUp } = found;
      const resultOf = (policy: string): PolicyResult | undefined => {
        const { stage: _, ...result } = results.get(policy) ?? { kind: undefined };
        const verifiedMs = verified.get(policy);
        if (result.kind === undefined) return undefined;
        const afterMs = result.afterMs ?? Date.parse(result.at) - Date.parse(event.receivedAt);
        const otherDigest = other.get(policy);
        return { ...result, afterMs, ...(verifiedMs !== undefined && { verifiedMs }), ...(otherDigest !== undefined && { otherDigest }) };
      };
      const told = policies.flatMap((policy): [string, GivenUpNotice[]][] => {
        const notices = givenUp.get(policy) ?? [];
        return notices.length === 0 ? [] : [[policy, notices.toSorted((a, b) => (a.at < b.at ? -1 : 1))]];
      });
      return {
        event,
        state,
        results: new Map(policies.map((policy) => [policy, resultOf(policy)])),
        readers: new Set(policies.filter((policy) => read.get(policy) === formatRepository(event.repository))),
        ...(told.length > 0 && { givenUp: new Map(told) }),
      };
    },
    wipe: () => records.clear(),
  };
}

/** Which of two results stands, with the changes of both, as the script decides it. */
function higher(old: PolicyResult | undefined, { changes: given, isFound, ...others }: PolicyResult): PolicyResult {
  const result = { ...others, ...(given !== undefined && { changes: given.slice(0, maxChanges) }) };
  const [oldChanges, newChanges] = [old?.changes ?? [], result.changes ?? []];
  const [before, own] = [old, result].map((one) =>
    one === undefined ? -1 : one.stage === undefined ? resultRanks[one.kind] : stageRanks[one.stage],
  );
  const after = isFound === true ? foundRank : own;
  const changes = union(oldChanges, newChanges);
  if (old === undefined || before === undefined || after === undefined) return withChanges(result, changes);
  const isLate = after < before || (after === before && after >= finalRank && after < stageRanks.rollout);
  const isMore = before === after && after === resultRanks.updated && newChanges.length > oldChanges.length;
  if (!isLate) return withChanges(result, changes);
  if (changes.length === oldChanges.length) return old;
  const { afterMs: _, ...later } = result;
  const { at, afterMs } = old;
  return joined(isMore ? { ...later, at, ...(afterMs !== undefined && { afterMs }) } : old, changes);
}

function union(...lists: readonly (readonly AppliedChange[])[]): AppliedChange[] {
  const nameOf = ({ workload: { kind, namespace, name }, container, to, became = to }: AppliedChange) =>
    [kind, namespace, name, container, became].join(' ');
  const named = new Map(
    lists
      .flat()
      .toReversed()
      .map((change) => [nameOf(change), change]),
  );
  return [...new Set(lists.flat().map(nameOf))].slice(0, maxChanges).flatMap((name) => named.get(name) ?? []);
}

function withChanges(result: PolicyResult, changes: readonly AppliedChange[]): PolicyResult {
  const isComplete = changes.length <= (result.changes?.length ?? 0) && result.kind !== 'unchanged';
  return changes.length === 0 || isComplete ? result : joined(result, changes);
}

/** With the changes in the order in which they were recorded. */
function joined(result: PolicyResult, changes: readonly AppliedChange[]): PolicyResult {
  if (result.kind !== 'unchanged') return { ...result, changes };
  const { stage: _, ...others } = result;
  return { ...others, kind: 'updated', reason: 'Updated', changes };
}
