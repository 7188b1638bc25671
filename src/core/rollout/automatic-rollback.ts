/**
 * Finds the failed changes to roll back. The policy's history and the workloads' own records say what ran before; the policy as it is now decides what may
 * be changed. So an outdated or forged history does no harm.
 */
import { ruleOf, wholeDigest } from '../model/companions.ts';
import { defined } from '../model/defined.ts';
import { isRecorded, newestOf, runs } from './current-rollouts.ts';
import { changesTo } from '../plan/past.ts';
import { planFields } from '../plan/plan-fields.ts';
import type { TargetProblem, UpdatePlan } from '../plan/plan-update.ts';
import { oneMoreFailure } from '../plan/retries.ts';
import { fieldManager, lastUpdateOf, withUpdates } from '../model/last-update.ts';
import { isUsable, type ImagePolicy, type PolicySpec } from '../model/image-policy.ts';
import { formatRepository, sameRepository, tryParseImageReference } from '../model/image-reference.ts';
import type { HistoryEntry } from '../model/policy-status.ts';
import {
  imagesOf,
  isSameObject,
  refOf,
  type CompanionChange,
  type ContainerChange,
  type Workload,
  type WorkloadContainer,
} from '../model/workload.ts';
import { fromLastGood } from './last-good.ts';
import { isWatchedTarget, watchedImages, type ImageView, type WatchedImage } from './watched-images.ts';

/** A failed change that is to be rolled back, or that was rolled back without being recorded in the status. */
export interface Rollback extends WatchedImage {
  /** `from`: the image to which it is rolled back, which may have run before an earlier change that never rolled out. */
  readonly entry: HistoryEntry & { readonly from: string };
  readonly isDone: boolean;
  /** When the rollback was done, as the record of the workload says. */
  readonly at?: string;
}

/** A failed change that must not be rolled back, whatever image the workload runs. */
export interface RefusedRollback {
  readonly entry: HistoryEntry;
  readonly why: string;
}

/**
 * The failed changes of a workload that are to be rolled back; a failed rollback is never rolled back itself. `failed`: failures that were just found and that
 * the history has no room for.
 */
export function rollbacksOf(policy: ImagePolicy, workload: Workload, view: ImageView, failed: readonly HistoryEntry[] = []): Rollback[] {
  const { spec, status } = policy;
  if (!isUsable(spec) || workload.isDeleted === true) return [];
  const mayGoBack = (change: HistoryEntry) =>
    whyNoRollback(change) === undefined && whyRefused(change, spec, { ...view, findWorkload: () => workload }) === undefined;
  return watchedImages(workload, policy, view).flatMap(({ container, ...where }): Rollback[] => {
    const changes = changesTo(policy, workload, container.name);
    const [last, before] = changes;
    // A crash after the patch that rolled back leaves its only record on the workload.
    const back =
      last !== undefined &&
      before !== undefined &&
      !isRecorded(status, last) &&
      isUndoneBy(fromLastGood(before, changes, policy, mayGoBack), last)
        ? last
        : undefined;
    const newest = back === undefined ? last : before;
    const found =
      newest?.result === 'Failed' ? newest : failed.find((one) => one.container === container.name && isSameObject(one, workload));
    if (found === undefined) return [];
    if (!mayGoBack(found)) return [];
    const entry = fromLastGood(found, changes, policy, mayGoBack);
    const { from } = entry;
    if (from === undefined) return [];
    if (isOlderThan(entry, container)) return [];
    const isBack = container.image === from && container.imageOwner === fieldManager;
    const isDone = isBack && (from !== entry.to || companionsBack(entry, workload).length === 0);
    if (isDone ? isUndoneOtherwise(entry, container) : !runs(container, entry)) return [];
    const at = back?.at ?? (isDone ? container.lastUpdate?.at : undefined);
    return [{ entry: { ...entry, from }, container, ...where, isDone, ...defined({ at }) }];
  });
}

/** The plan for the rollbacks of a workload that are not done yet, with the records that the workload gets of them; or the problem of a chart that cannot be written back. */
export function planRollback(
  workload: Workload,
  open: readonly Rollback[],
  policy: ImagePolicy,
  { at, ...view }: ImageView & { readonly at: Date },
): UpdatePlan {
  const tag = open.map(({ entry }) => entry.from).join(', ');
  const changesBack = open.map((rollback) => changeBack(rollback, workload, policy, view));
  const problem = changesBack.flatMap((change) => ('problem' in change ? [change.problem] : []))[0];
  if (problem !== undefined) return { candidate: { tag }, targets: [{ target: workload, workload, changes: [], unchanged: [], problem }] };
  const changes = open.flatMap(({ entry, container }, index) => {
    const change = changesBack[index];
    if (change === undefined || 'problem' in change) return [];
    const digest = tryParseImageReference(change.to)?.digest;
    const { failure } = entry;
    const failed = wholeDigest(entry);
    const isOutside = failure !== undefined && failure.against !== 'image';
    const retry = isOutside ? () => oneMoreFailure(container, policy, failure.message) : undefined;
    return withUpdates(workload, [change], { policy: policy.uid, trigger: 'Rollback', at, digest, failed, retry });
  });
  return { candidate: { tag }, targets: [{ target: workload, workload, changes, unchanged: [] }] };
}

/** The changes of the companions of a change to what ran before, where they still run what it made of them. */
function companionsBack({ alongside = [] }: HistoryEntry, workload: Workload): CompanionChange[] {
  return alongside.flatMap(({ container: name, from: to, to: written }): CompanionChange[] => {
    const found = imagesOf(workload).find(({ container }) => container.name === name);
    const isOurs = found !== undefined && found.container.image !== to && runs(found.container, { to: written });
    return isOurs ? [{ container: name, ...found.position, from: found.container.image, to }] : [];
  });
}

/** The change of one image, or of the fields of one chart, to what was there before. */
function changeBack(
  { entry, container, position, fields }: Rollback,
  workload: Workload,
  { spec }: ImagePolicy,
  view: ImageView,
): ContainerChange | { readonly problem: TargetProblem } {
  const { from: to } = entry;
  const alongside = companionsBack(entry, workload);
  if (fields === undefined || !isUsable(spec))
    return { container: container.name, ...position, from: container.image, to, ...(alongside.length > 0 && { alongside }) };
  const { tag = '', digest } = tryParseImageReference(to) ?? {};
  const asBefore = { ...spec, pin: digest === undefined ? 'Tag' : 'Digest' } as const;
  const candidate = { tag, ...defined({ digest }) };
  const change = planFields(fields, workload, { ...view, spec: asBefore, candidate, decideImage: () => 'change' });
  if ('problem' in change) return change;
  if (tag !== '' && 'to' in change && change.to === to) return change;
  // A digest cannot be removed from its field, and no version would be any version.
  return { problem: { reason: 'RollbackRefused', message: `"${to}" cannot be written to the fields that the policy names` } };
}

/** The rollback with its time, as the workload records it now. */
export function withRecordedTime(rollback: Rollback, workload: Workload): Rollback {
  const update = lastUpdateOf(workload, rollback.container.name);
  return update?.to === rollback.entry.from ? { ...rollback, at: update.at } : rollback;
}

/** Whether the container is as it was before the change: a cache may not have seen it yet. */
function isOlderThan({ at }: HistoryEntry, { lastUpdate }: WorkloadContainer): boolean {
  return lastUpdate !== undefined && Date.parse(lastUpdate.at) < Date.parse(at);
}

/** Whether the container runs what ran before the change because of something later than its rollback. */
function isUndoneOtherwise({ to, digest }: HistoryEntry, { lastUpdate }: WorkloadContainer): boolean {
  if (lastUpdate === undefined) return false;
  const { trigger, from, failed } = lastUpdate;
  return trigger !== 'Rollback' || (from !== to && (failed === undefined || failed !== digest));
}

function isUndoneBy({ from, to }: HistoryEntry, back: HistoryEntry): boolean {
  return back.trigger === 'Rollback' && back.from === to && back.to === from;
}

/** The failed changes in the history that the current policy does not allow to be rolled back and that have not been reported yet. */
export function refusedRollbacks(policy: ImagePolicy, view: ImageView): RefusedRollback[] {
  const { spec, status } = policy;
  if (!isUsable(spec)) return [];
  return newestOf(status.history ?? []).flatMap((entry) => {
    const workload = view.findWorkload(entry);
    // What has changed it since has no entry yet.
    if (workload !== undefined && isSameObject(entry, workload) && changesTo(policy, workload, entry.container)[0] !== entry) return [];
    if (entry.result !== 'Failed' || entry.rollbackRefused !== undefined || whyNoRollback(entry) !== undefined) return [];
    const why = whyRefused(entry, spec, view);
    return why === undefined ? [] : [{ entry, why }];
  });
}

/** Why the record of a change rules out a rollback, or undefined. */
export function whyNoRollback({ from, to, trigger, alongside = [] }: HistoryEntry): string | undefined {
  // Only companions were changed, and their earlier images are looked at by the policy.
  if (trigger !== 'Rollback' && from === to && alongside.length > 0) return undefined;
  if (trigger === 'Rollback') return 'it is itself a rollback';
  if (from === undefined) return 'it is not known what ran before';
  const [before, after] = [tryParseImageReference(from), tryParseImageReference(to)];
  if (before === undefined) return `what ran before ("${from}") cannot be read`;
  if (before.digest === undefined && (before.tag ?? 'latest') === after?.tag)
    return `what ran before was named by the same tag ("${from}"), which is another image now`;
  return undefined;
}

/** Why the policy does not allow a change to be rolled back; reveals nothing about the workload beyond whether the policy targets it. */
function whyRefused(
  entry: HistoryEntry,
  { repository, targets, alongside }: PolicySpec,
  { findWorkload, aliases }: ImageView,
): string | undefined {
  for (const { container, from, to } of entry.alongside ?? []) {
    const [before, after] = [from, to].map((text) => tryParseImageReference(text, aliases));
    const rule = before && ruleOf(alongside, before.repository);
    const isOne = after !== undefined && rule !== undefined && sameRepository(after.repository, rule.repository);
    if (!isOne || rule.containers?.includes(container) === false) return `"${from}" of ${container} is no companion of the policy`;
  }
  for (const image of [entry.from ?? '', entry.to]) {
    const read = tryParseImageReference(image, aliases);
    if (read === undefined || !sameRepository(read.repository, repository))
      return `"${image}" is no image of ${formatRepository(repository)}, which the policy is for`;
  }
  const near = targets.filter(({ namespace }) => namespace === entry.namespace);
  // A target that is named explicitly counts even if its workload does not exist.
  const { labels, initContainers } = (near.length > 0 && findWorkload(entry)) || {};
  const workload = { ...refOf(entry), ...defined({ labels, initContainers }) };
  return isWatchedTarget(near, workload, entry.container) ? undefined : 'it is no target of the policy';
}
