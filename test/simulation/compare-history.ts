/** Compares the history of a policy with the changes that were made, as far as the policy could learn of them. */
import { limits } from '../../src/core/model/last-update.ts';
import type { HistoryEntry } from '../../src/core/model/policy-status.ts';
import { readStatus } from '../../src/core/model/stored-status.ts';
import { consentAnnotation } from '../../src/core/model/consent-annotation.ts';
import { sourceNamespaceOf } from './chart-kinds.ts';
import { shorten } from './images.ts';
import { hasNamedRepository } from './invariants-of-charts.ts';
import type { ImagePatch } from './patch-log.ts';
import { otherNamespace, policyNamespace } from './setup.ts';
import { policies, type World } from './world.ts';

const maxHistory = 10;
/** After this time at the latest, faults or not, a status shows what runs in a namespace whose owners have consented. */
const toldWithinMs = 10_000;

/** All changes by a policy, the last one first: by their times, which are those of the replicas' clocks. */
export function changesBy(uid: string, { patches }: World): ImagePatch[] {
  const made = patches.all.filter(({ isOurs, isCompanion, record }) => isOurs && !isCompanion && record.policy === uid).toReversed();
  return made.toSorted((a, b) => Date.parse(b.record.at) - Date.parse(a.record.at));
}

/** How many changes of ours followed on the container: its record keeps only some of those before the last one. */
export function changesAfter({ resource, container, at, after: { metadata } }: ImagePatch, { patches }: World, until = Infinity): number {
  const isSame = (one: ImagePatch) =>
    one.resource === resource && one.container === container && one.after.metadata.uid === metadata.uid && one.isOurs;
  return patches.all.filter((one) => isSame(one) && one.at > at && one.at < until).length;
}

/** Whether more changes followed than the workload records, before the history of the policy was written again. */
export function isDisplaced(patch: ImagePatch, policy: string, world: World): boolean {
  const [namespace = '', name = ''] = policy.split('/');
  const states = world.history.statesOf(policies, namespace, name);
  const timesIn = ({ object }: (typeof states)[number]) =>
    object &&
    readStatus(object.status)
      .history?.map(({ at }) => at)
      .join();
  const before = states.findLast(({ since }) => since <= patch.at);
  const written = states.find((state) => state.since > patch.at && (before === undefined || timesIn(state) !== timesIn(before)));
  return changesAfter(patch, world, written?.since) > limits.maxBefore;
}

/**
 * Whether the policy may see the workload ever since, and has done so for a while: what its owners have withdrawn, or deleted, before the change was told is told
 * by nobody, and what ran when they consented may be in no status yet.
 */
export function staysVisible({ resource, after, at }: ImagePatch, world: World): boolean {
  const { history, clock, versions } = world;
  const { namespace = '', name, uid, labels } = after.metadata;
  if ([namespace, sourceNamespaceOf(after)].includes(otherNamespace) && versions.size > 0) return false;
  const states = history.statesWithin(resource, namespace, name, at, clock.now());
  const consents = namespace === otherNamespace ? history.statesWithin('v1/namespaces', '', namespace, at - toldWithinMs, clock.now()) : [];
  return (
    hasNamedRepository(after, at - toldWithinMs, world) &&
    states.every((one) => one?.metadata.uid === uid && one.metadata.labels?.['uses'] === labels?.['uses']) &&
    consents.every((one) => one?.metadata.annotations?.[consentAnnotation] === policyNamespace)
  );
}

function lineOfPatch({ record, after, container, to }: ImagePatch): string {
  return `${record.at} ${after.metadata.name} ${container} ${shorten(to)} ${record.trigger}`;
}

function lineOfEntry({ at, name, container, to, trigger }: HistoryEntry): string {
  return `${at} ${name} ${container} ${shorten(to)} ${trigger}`;
}

/** What a history lacks, has too many, or in another order than the changes were made. Changes of the same second may be in any order. */
export function compareHistory(
  changes: readonly ImagePatch[],
  history: readonly HistoryEntry[],
  isHidden: (change: ImagePatch) => boolean,
): string[] {
  const [made, found] = [changes.map(lineOfPatch), history.map(lineOfEntry)];
  const hidden = new Set(changes.filter(isHidden).map(lineOfPatch));
  const all = made.filter((one) => !hidden.has(one) || found.includes(one));
  // Failures stay longer, and take the places of others.
  const longer = found.filter((one) => !all.slice(0, maxHistory).includes(one));
  const last = all.slice(0, maxHistory - longer.length);
  const oldest = secondOf(last.at(-1) ?? '');
  const absent = last.filter((one) => !found.includes(one) && secondOf(one) > oldest);
  // Of the older half, others than failures make room for failures.
  const placeOf = (one: string) => all.findLastIndex((other) => secondOf(other) === secondOf(one));
  const spared = new Set(absent.filter((one) => placeOf(one) >= maxHistory / 2).slice(0, longer.length));
  const missing = absent.filter((one) => !spared.has(one));
  const surplus = found.filter((one, index) => !made.includes(one) || found.indexOf(one) !== index);
  const isShort = found.length < last.length + longer.length - spared.size;
  const ordered = found.map((one) => made.findIndex((other) => secondOf(other) === secondOf(one)));
  const isOrdered = ordered.every((place, index) => index === 0 || place >= (ordered[index - 1] ?? 0));
  return [
    ...(missing.length > 0 || isShort
      ? [`missing ${(missing.length > 0 ? missing : last.filter((one) => !found.includes(one))).join(', ')}`]
      : []),
    ...(surplus.length > 0 ? [`too many ${surplus.join(', ')}`] : []),
    ...(isOrdered ? [] : [`in another order: ${found.join(', ')}`]),
  ];
}

function secondOf(line: string): string {
  return line.slice(0, 19);
}
