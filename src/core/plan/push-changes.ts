/** Finds the changes that a push caused, as the workloads record them. A worker may have died, or stopped, after the change and before its report. */
import { isUsable, type ImagePolicy } from '../model/image-policy.ts';
import { pastChanges, type LastUpdate } from '../model/last-update.ts';
import { resolveTargets, type WorkloadView } from '../model/resolve-target.ts';
import { identityOf, imagesOf, workloadKey, type ImagePosition, type Workload } from '../model/workload.ts';
import type { AppliedChange } from './plan-update.ts';

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
