/** Finds the changes that a push caused, and the push of a change, as the workloads record them. A worker may have died, or stopped, after the change and before its report. */
import { isUsable, type ImagePolicy } from '../model/image-policy.ts';
import { isInWaves, wavesPush } from '../model/is-triggered.ts';
import { pastChanges, updatedTag, type LastUpdate } from '../model/last-update.ts';
import { resolveTargets, type WorkloadView } from '../model/resolve-target.ts';
import { identityOf, imagesOf, workloadKey, type ImagePosition, type Workload } from '../model/workload.ts';
import type { AppliedChange, UpdatePlan } from './plan-update.ts';

/** The changes of a push to the targets of a policy. `made` are the known ones; found ones follow. `view`: what the policy may see. */
export function pushChanges(
  { uid, spec }: ImagePolicy,
  event: string,
  view: WorkloadView,
  made: readonly AppliedChange[] = [],
): readonly AppliedChange[] {
  if (!isUsable(spec)) return made;
  const known = new Set(made.map(keyOf));
  const found = resolveTargets(spec.targets, view).flatMap((workload) =>
    recordsOf(workload).flatMap(({ container, position, record }) =>
      pastChanges(record)
        .filter((change) => change.policy === uid && change.event === event && isText(change.from) && isText(change.to))
        .toReversed()
        .map(({ from, to, at }): AppliedChange => ({ workload: identityOf(workload), container, ...position, from, to, at })),
    ),
  );
  return [...made, ...found.filter((change) => !known.has(keyOf(change)))];
}

/**
 * The push of an image that waits for its next wave: the one that the workloads of the waves before record, or else that the status knows. Undefined for any other
 * image, or if no push is known.
 */
export function pushOfWaves({ candidate, targets }: UpdatePlan, { uid, status }: ImagePolicy): string | undefined {
  if (!isInWaves(status, candidate)) return undefined;
  const records = targets.flatMap(({ workload }) => (workload === undefined ? [] : recordsOf(workload)));
  const ours = records.find(
    ({ record }) =>
      record.policy === uid && record.event !== undefined && record.digest === candidate.digest && updatedTag(record) === candidate.tag,
  );
  return ours?.record.event ?? wavesPush(status, candidate);
}

interface Recorded {
  readonly container: string;
  readonly position: ImagePosition;
  readonly record: LastUpdate;
}

function recordsOf(workload: Workload): Recorded[] {
  const ofImages = imagesOf(workload).flatMap(({ container: { name, lastUpdate }, position }) =>
    lastUpdate === undefined ? [] : [{ container: name, position, record: lastUpdate }],
  );
  const ofFields = [...(workload.fieldUpdates ?? [])].map(([container, record]) => ({ container, position: { index: 0 }, record }));
  return [...ofImages, ...ofFields];
}

function keyOf({ workload, container, from, to }: AppliedChange): string {
  return JSON.stringify([workloadKey(workload), container, from, to]);
}

/** Whether a text can be shown as an image. Anybody may have written the annotation, and reports are shown on terminals. */
function isText(image: string): boolean {
  return /^[\w.:/@+-]+$/.test(image);
}
