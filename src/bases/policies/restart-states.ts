/** The progress of the restarts of workloads, and the resulting states of their images. Pure. */
import { maxLengths } from '../../core/model/status-fields.ts';
import { cut, toSeconds } from '../../core/model/text.ts';
import { formatWorkload, workloadKey, type WorkloadRef } from '../../core/model/workload.ts';
import type { WaveMember } from '../../core/plan/next-wave.ts';
import type { RunningPods } from '../../core/rollout/running-pods.ts';
import type { ImageBehind, ImageState } from './act.ts';

/** A workload whose tag is built on the selected base. */
export interface Candidate {
  readonly image: ImageBehind;
  readonly workload: WorkloadRef;
  readonly containers: readonly string[];
}

/** A candidate, and the progress of its restart. `reason` says why it is not restarted. */
export interface Restart extends Candidate {
  readonly pods: RunningPods;
  readonly state: Exclude<WaveMember['state'], 'Refused' | 'Blocked'> | 'Kept';
  readonly message?: string;
  /** Whether the API server refused the restart in this step. */
  readonly isRefused?: boolean;
}

/** The order in which states take precedence for an image or a workload with several of them. */
export const order = ['Failed', 'Progressing', 'Pending', 'Kept', 'Done'] as const;

function worstOf(restarts: readonly Restart[]): Restart | undefined {
  return restarts.toSorted((a, b) => order.indexOf(a.state) - order.indexOf(b.state))[0];
}

/** The result of one step of the restarts. */
export interface RestartStep {
  /** Keys of the workloads whose restart was started. */
  readonly started: ReadonlySet<string>;
  readonly faults: readonly string[];
  /** When the window opens that pending restarts wait for. */
  readonly opening: Date | undefined;
  /** The canary that others wait for, and why it is not restarted. */
  readonly blocked?: string | undefined;
}

/** The state of an image according to the restarts of its workloads. */
export function stateOf(
  image: ImageBehind,
  restarts: readonly Restart[],
  { started, faults, opening, blocked }: RestartStep,
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
    return [
      [image, { state: 'Failed', action, reason: 'RolloutFailed', ...(worst.message && { message: messageOf(worst, worst.message) }) }],
    ];
  if (worst.state === 'Progressing' || isStarted) return [[image, { state: 'Updating', action }]];
  if (worst.state === 'Done') return [[image, { state: 'Updated', action }]];
  const isAwaited = worst.state === 'Pending' && opening !== undefined;
  const turn = isAwaited ? `the window that opens at ${toSeconds(opening)}` : (blocked ?? 'their wave');
  const why = worst.message ?? `its pods still run the image before, and wait for ${turn}`;
  return [[image, { state: 'Behind', action, ...(isAwaited && { reason: 'Window' }), message: messageOf(worst, why) }]];
}

/** What is said of one workload: an image may be run by others as well. */
function messageOf({ workload }: Restart, why: string): string {
  return cut(`${formatWorkload(workload)}: ${why}`, maxLengths.message);
}
