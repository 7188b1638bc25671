/** How far the restarts of workloads have come, and what that says of their images. Pure. */
import { formatRepository } from '../../core/model/image-reference.ts';
import { maxLengths } from '../../core/model/policy-status.ts';
import { cut, toSeconds } from '../../core/model/text.ts';
import { formatWorkload, workloadKey, type WorkloadRef } from '../../core/model/workload.ts';
import type { WaveMember } from '../../core/plan/next-wave.ts';
import type { RunningPods } from '../../core/rollout/running-pods.ts';
import type { ImageBehind, ImageState } from './act.ts';

/** A workload whose tag has an image on the selected base. */
export interface Candidate {
  readonly image: ImageBehind;
  readonly workload: WorkloadRef;
  readonly containers: readonly string[];
}

/** A candidate, and how far its restart has come. `reason`: why it is not restarted. */
export interface Restart extends Candidate {
  readonly pods: RunningPods;
  readonly state: Exclude<WaveMember['state'], 'Refused' | 'Blocked'> | 'Kept';
  readonly message?: string;
}

/** The order in which states count for an image, or a workload, that has several. */
export const order = ['Failed', 'Progressing', 'Pending', 'Kept', 'Done'] as const;

function worstOf(restarts: readonly Restart[]): Restart | undefined {
  return restarts.toSorted((a, b) => order.indexOf(a.state) - order.indexOf(b.state))[0];
}

/** What one step of the restarts has come to. */
export interface RestartStep {
  /** Keys of workloads. */
  readonly started: ReadonlySet<string>;
  readonly faults: readonly string[];
  /** When the window opens that pending restarts wait for. */
  readonly opening: Date | undefined;
}

/** What is done about an image, by the restarts of its workloads. */
export function stateOf(
  image: ImageBehind,
  restarts: readonly Restart[],
  { started, faults, opening }: RestartStep,
): [ImageBehind, ImageState][] {
  const own = restarts.filter((one) => one.image === image);
  const worst = worstOf(own);
  const action = 'restart' as const;
  if (worst === undefined)
    return faults.length === 0
      ? []
      : [[image, { state: 'Current', action, reason: 'Retrying', message: cut(faults[0] ?? '', maxLengths.message) }]];
  const isStarted = own.some(({ workload }) => started.has(workloadKey(workload)));
  if (worst.state === 'Failed')
    return [[image, { state: 'Failed', action, reason: 'RolloutFailed', ...(worst.message && { message: worst.message }) }]];
  if (worst.state === 'Progressing' || isStarted) return [[image, { state: 'Updating', action }]];
  if (worst.state === 'Done') return [[image, { state: 'Updated', action }]];
  const isAwaited = worst.state === 'Pending' && opening !== undefined;
  const turn = isAwaited ? `the window that opens at ${toSeconds(opening)}` : 'their wave';
  const why = worst.message ?? `pods of ${formatWorkload(worst.workload)} still run the image before, and wait for ${turn}`;
  const message = `${formatRepository(image.source)}:${image.tag}: ${why}`;
  return [[image, { state: 'Behind', action, ...(isAwaited && { reason: 'Window' }), message }]];
}
