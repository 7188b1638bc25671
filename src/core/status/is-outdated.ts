/** Whether an outcome describes a former state. Reports are written late when the API server fails, a replica is paused, or other work is more urgent. */
import { isDeepStrictEqual } from 'node:util';
import type { ImagePolicy } from '../model/image-policy.ts';
import { lastUpdateOf } from '../model/last-update.ts';
import type { WorkloadView } from '../model/resolve-target.ts';
import { cut } from '../model/text.ts';
import type { HistoryEntry, PolicyStatus } from '../model/policy-status.ts';
import { maxLengths } from '../model/status-fields.ts';
import { findContainer, isNewer, isSameObject, workloadKey, type Workload, type WorkloadIdentity } from '../model/workload.ts';
import type { Basis, Outcome } from '../plan/outcome.ts';
import { isSameChange } from '../plan/past.ts';
import { findRejection } from '../plan/rejections.ts';

/** A container of the outcome, and the image that it runs according to it. */
interface Described extends WorkloadIdentity {
  readonly container?: string;
  readonly image?: string;
}

/**
 * Whether the status or the workloads of `view` are newer than the outcome: they have another selection, a rejection or a change that the outcome does not know,
 * or an image that somebody set since. They are compared with the basis of the outcome, so a wrong clock can at most cause another reconcile.
 */
export function isOutdated({ status }: Pick<ImagePolicy, 'status'>, outcome: Outcome, view?: Pick<WorkloadView, 'findWorkload'>): boolean {
  const { basis } = outcome;
  if (basis === undefined) return false;
  if (isOtherSelected(status, outcome) || isRejectedSince(status, outcome, basis) || isSelectedSince(status, outcome, basis)) return true;
  const workloads = new Map(basis.workloads.map((workload) => [workloadKey(workload), workload]));
  const unseen = (status.history ?? []).filter((entry) => !basis.status.history?.some((one) => isSameChange(one, entry)));
  return describedBy(outcome).some((described) => {
    const workload = workloads.get(workloadKey(described));
    if (workload === undefined || described.container === undefined) return false;
    return isSetSince(described, workload, view) || unseen.some((entry) => isLaterChange(entry, described, workload));
  });
}

/** Whether the status has a later selection that the outcome did not know. */
export function isOtherSelected({ latest }: PolicyStatus, { selection, basis }: Outcome): boolean {
  if (selection === undefined || latest === undefined || basis === undefined) return false;
  const { candidate } = selection;
  const isSame = latest.tag === candidate.tag && (candidate.digest === undefined || latest.digest === candidate.digest);
  const known = basis.status.latest;
  const isKnown = known?.tag === latest.tag && known.digest === latest.digest && known.selectedAt === latest.selectedAt;
  return !isSame && !isKnown && Date.parse(latest.selectedAt) > basis.selectedAt;
}

/** Whether the selected image was rejected, and the outcome did not know that. */
function isRejectedSince({ rejected = [] }: PolicyStatus, { selection }: Outcome, basis: Basis): boolean {
  const image = selection?.candidate;
  return image !== undefined && findRejection({ rejected }, image) !== undefined && findRejection(basis.status, image) === undefined;
}

/** Whether an image was compared with what runs, because the outcome knew of no selection, and the status has one. Compared with that, it may be selected. */
function isSelectedSince({ latest }: PolicyStatus, { selection, seen }: Outcome, basis: Basis): boolean {
  return selection === undefined && seen !== undefined && basis.status.latest === undefined && latest !== undefined;
}

function describedBy({ selection, changes = [], ours = [] }: Outcome): readonly Described[] {
  const changed = [...changes.map((change) => ({ ...change, image: change.became ?? change.to })), ...ours];
  return selection?.containers ?? changed.map(({ workload, container, image }) => ({ ...workload, container, image }));
}

/** Whether the workload was changed after the outcome was made, and runs another image. */
function isSetSince({ container = '', image }: Described, workload: Workload, view?: Pick<WorkloadView, 'findWorkload'>): boolean {
  const now = view?.findWorkload(workload);
  if (now === undefined || !isNewer(now.resourceVersion, workload.resourceVersion)) return false;
  const runs = findContainer(now, container)?.image;
  return runs === undefined ? !isDeepStrictEqual(valuesOf(now), valuesOf(workload)) : runs !== image;
}

/** The fields of a custom resource that make its images. */
function valuesOf({ fields = {} }: Workload): unknown {
  return Object.entries(fields).map(([path, field]) => [path, 'value' in field ? field.value : field.unusable]);
}

/** Whether another replica, or a later reconcile, has changed the container after the change that the outcome knows. */
function isLaterChange(entry: HistoryEntry, { container = '', image = '' }: Described, workload: Workload): boolean {
  if (entry.container !== container || !isSameObject(entry, workload) || entry.to === cut(image, maxLengths.image)) return false;
  const seenAt = Date.parse(lastUpdateOf(workload, container)?.at ?? '');
  return Number.isNaN(seenAt) || Date.parse(entry.at) > seenAt;
}
