/** The changes that a plan would make to containers, for people and for programs. */
import { defined } from '../../core/model/defined.ts';
import type { PlannedNow } from '../../service/explain/plan-now.ts';
import { formatWorkload, type WorkloadRef } from '../../core/model/workload.ts';
import { paintFor, type Terminal } from '../../service/command-line/command.ts';
import { fit } from '../../service/command-line/output.ts';
import { printable } from '../../service/command-line/printable.ts';

/** The change that would be made to a container, or (without `from`) why there is none. */
export interface Change {
  readonly policy: string;
  readonly target?: WorkloadRef;
  readonly container?: string;
  readonly from?: string;
  readonly to?: string;
  readonly image?: string;
  readonly reason?: string;
  readonly message?: string;
}

/** The changes of a plan, and the containers that stay for another reason than being up to date. */
export function changesOf(policy: string, planned: PlannedNow | { readonly why: string; readonly reason?: string }): Change[] {
  if ('why' in planned) return [{ policy, message: planned.why, ...defined({ reason: planned.reason }) }];
  return planned.allowed.targets.flatMap(({ target, changes, unchanged, problem }): Change[] => [
    ...changes.map(({ container, from, to }) => ({ policy, target, container, from, to })),
    ...unchanged
      .filter(({ reason }) => reason !== 'UpToDate')
      .map(({ container, image, reason, message }) => ({ policy, target, container, image, reason, message })),
    ...(problem === undefined ? [] : [{ policy, target, reason: problem.reason, message: problem.message }]),
  ]);
}

/** Formats a change as a diff of images. An unchanged image and its reason follow a "#". */
export function formatChange(change: Change, terminal: Terminal): string {
  const { policy, target, container, from, to, image, reason, message = '' } = change;
  const paint = paintFor(terminal);
  const workload = target === undefined ? `policy ${policy}` : formatWorkload(target);
  if (from !== undefined && to !== undefined) {
    const head = [`--- ${workload}`, `+++ ${workload} (policy ${policy})`, `@@ ${container} @@`].map((line) =>
      paint('bold', printable(line)),
    );
    return `${[...head, paint('red', printable(`-${from}`)), paint('green', printable(`+${to}`))].join('\n')}\n`;
  }
  const subject = [workload, container].filter((part) => part !== undefined).join(' ');
  const stays = image === undefined ? '' : ` stays at ${image}`;
  const why = reason === undefined || message.includes(`${reason}: `) ? message : `${reason}: ${message}`;
  return `${paint('dim', fit(printable(`# ${subject}${stays}: ${why}`), terminal, '#   '))}\n`;
}
