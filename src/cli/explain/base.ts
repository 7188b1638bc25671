/** What `explain` shows of a BaseImagePolicy: by its status, because whose images are behind is only known from registries. */
import { maxDependents, readBaseStatus, type BaseStatus, type Dependent } from '../../core/model/base-policy.ts';
import { notReconciledYet } from '../../core/model/decisive-condition.ts';
import type { Terminal } from '../../service/command-line/command.ts';
import { fit, formatAge, print } from '../../service/command-line/output.ts';
import { printable } from '../../service/command-line/printable.ts';
import { statusOf, type PolicyClient } from '../../service/command-line/policy-client.ts';
import { reasonLinks } from '../reason-links.ts';

/** States that somebody has to do something about, or that nothing is done about. */
const open: ReadonlySet<Dependent['state']> = new Set(['Failed', 'RebuildOverdue', 'Refused', 'Behind', 'Unknown']);

/** Prints what is known, and returns 1 if something is in the way of an image. */
export async function explainBase(
  { namespace, name, read }: PolicyClient,
  output: 'text' | 'json' | 'yaml' | undefined,
  terminal: Terminal,
): Promise<number> {
  const status = readBaseStatus(statusOf(await read()));
  const { latest, images, dependents = [], waves, requests = [], rejected = [], waiting, conditions = [] } = status;
  const ready = conditions.find(({ type }) => type === 'Ready');
  const allowed = ready?.status === 'True' && !dependents.some(({ state }) => open.has(state));
  const summary = ready === undefined ? notReconciledYet : `${namespace}/${name}: ${ready.reason}: ${ready.message}`;
  const report = { allowed, summary, latest, images, dependents, waves, requests, rejected, waiting };
  print(terminal, output, report, () => {
    const shown = dependents.map(({ reason }) => reason);
    const text = [summary, ...describeRollOut(status), ...describeImages(status, new Date())].map((line) => printable(line)).join('\n');
    return fit([text, ...reasonLinks([ready?.reason, ...shown])].join('\n') + '\n', terminal);
  });
  return allowed ? 0 : 1;
}

function describeRollOut({ latest, waves }: BaseStatus): string[] {
  const base = latest === undefined ? [] : [`base: ${latest.tag}@${latest.digest}, selected ${latest.selectedAt}`];
  if (waves === undefined || waves.base !== latest?.digest) return base;
  const { pending, progressing, done, failed, stopped } = waves;
  const counts = `waves: ${done} done, ${progressing} rolling out, ${pending} pending, ${failed} failed`;
  return [...base, stopped === undefined ? counts : `${counts}; stopped: ${stopped}`];
}

function describeImages({ dependents = [], images }: BaseStatus, now: Date): string[] {
  const lines = dependents.flatMap(({ image, state, base, behindSince, action, reason, message, rebased, workloads, example }) => {
    const since = behindSince === undefined ? '' : `, behind for ${formatAge(new Date(behindSince), now)}`;
    const built = base === undefined ? '' : `, on ${base.split('@')[0]}`;
    const runs = workloads === 1 ? (example ?? '1 workload') : `${workloads} workloads`;
    const what = [action, rebased === undefined ? undefined : `as ${rebased}`, reason, message]
      .filter((part) => part !== undefined)
      .join(': ');
    return [`${open.has(state) ? '✗' : '✓'} ${image}: ${state}${built}${since} (${runs})`, ...(what === '' ? [] : [`    ${what}`])];
  });
  const listed = (images?.total ?? 0) - (images?.unrelated ?? 0);
  return listed > maxDependents ? [...lines, `… and ${listed - maxDependents} more images`] : lines;
}
