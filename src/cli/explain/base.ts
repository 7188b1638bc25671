/** The output of `explain` for a BaseImagePolicy. It is based on the status, because only registries show which images are behind. */
import { maxDependents, readBaseStatus, type BaseStatus, type Dependent } from '../../core/model/base-status.ts';
import { baseSteps, nextStepOf } from '../../core/model/base-next-step.ts';
import { defined } from '../../core/model/defined.ts';
import { notReconciledYet } from '../../core/model/decisive-condition.ts';
import type { Terminal } from '../../service/command-line/command.ts';
import { fit, formatAge, print } from '../../service/command-line/output.ts';
import { printable } from '../../service/command-line/printable.ts';
import { statusOf, type PolicyClient } from '../../service/command-line/policy-client.ts';
import type { Config } from '../../service/config/settings.ts';
import { reasonLinks } from '../reason-links.ts';
import { readBaseSettings } from './base-settings.ts';
import { lineOf } from './step-line.ts';

/** States of images that require an action of a user, or that no action of the policy covers. */
const open: ReadonlySet<Dependent['state']> = new Set(['Failed', 'RebuildOverdue', 'Refused', 'Behind', 'Unknown']);
/** Reasons for which an image waits, and nobody has to do anything. */
const waits: ReadonlySet<string | undefined> = new Set(['Window', 'WavePending']);

function isOpen({ state, reason }: Pick<Dependent, 'state' | 'reason'>): boolean {
  return open.has(state) && !waits.has(reason);
}

/** Prints the status and the settings. Returns 1 if something blocks an image. */
export async function explainBase(
  { client, namespace, name, read }: PolicyClient,
  { output, config }: { readonly output: 'text' | 'json' | 'yaml' | undefined; readonly config: Config },
  terminal: Terminal,
): Promise<number> {
  const raw = await read();
  const status = readBaseStatus(statusOf(raw));
  const { rows = [], settings, doubt } = (await readBaseSettings(client, namespace, raw, config)) ?? {};
  if (doubt !== undefined) terminal.err(`${doubt}\n`);
  const { latest, images, dependents = [], waves, requests = [], rejected = [], waiting, conditions = [] } = status;
  const ready = conditions.find(({ type }) => type === 'Ready');
  const allowed = ready?.status === 'True' && !dependents.some(isOpen);
  const summary = ready === undefined ? notReconciledYet : `${namespace}/${name}: ${ready.reason}: ${ready.message}`;
  const withSteps = dependents.map((one) => {
    const step = nextStepOf(one, latest?.digest);
    return step === undefined ? one : { ...one, nextStep: { id: step, text: baseSteps[step] } };
  });
  const report = { allowed, summary, latest, images, dependents: withSteps, waves, requests, rejected, waiting, ...defined({ settings }) };
  print(terminal, output, report, () => {
    const shown = dependents.map(({ reason }) => reason);
    const chosen = rows.map(({ name: id, value, from }) => lineOf({ id, result: 'note', text: value, origin: from }, 0));
    const lines = [summary, ...describeRollOut(status), ...chosen, ...describeImages(status, new Date())];
    const text = lines.map((line) => printable(line)).join('\n');
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

function describeImages({ dependents = [], images, latest }: BaseStatus, now: Date): string[] {
  const lines = dependents.flatMap((dependent) => {
    const { image, state, base, behindSince, action, reason, message, rebased, workloads, example } = dependent;
    const since = behindSince === undefined ? '' : `, behind for ${formatAge(new Date(behindSince), now)}`;
    const built = base === undefined ? '' : `, on ${base.split('@')[0]}`;
    const runs = workloads === 1 ? (example ?? '1 workload') : `${workloads} workloads`;
    const what = [action, rebased === undefined ? undefined : `as ${rebased}`, reason, message]
      .filter((part) => part !== undefined)
      .join(': ');
    const step = nextStepOf(dependent, latest?.digest);
    return [
      `${isOpen(dependent) ? '✗' : '✓'} ${image}: ${state}${built}${since} (${runs})`,
      ...(what === '' ? [] : [`    ${what}`]),
      ...(step === undefined ? [] : [`    next: ${baseSteps[step]}`]),
    ];
  });
  const listed = (images?.total ?? 0) - (images?.unrelated ?? 0);
  return listed > maxDependents ? [...lines, `… and ${listed - maxDependents} more images`] : lines;
}
