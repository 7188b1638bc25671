/** Reports what a run did, or would do, for people and for programs. */
import { formatWorkload } from '../../core/model/workload.ts';
import { paintFor, type Terminal } from '../../service/command-line/command.ts';
import { countOf, fit } from '../../service/command-line/output.ts';
import { printable } from '../../service/command-line/printable.ts';
import { reasonLinks } from '../reason-links.ts';
import type { RunKind, RunResult } from './reconcile.ts';
import type { WatchedRollout } from './watch-rollout.ts';

/** The result of one policy, and of the watched rollouts. */
export interface Reported extends RunResult {
  readonly rollouts?: readonly WatchedRollout[];
}

/** What remains to be done for a policy when this command ends, and by whom. */
export function leftOf({ reason, changes, until, unwritten, unasked = [], rollouts }: Reported, isTrial: boolean): string[] {
  const isUnwatched = !isTrial && changes.length > 0 && rollouts === undefined;
  return [
    ...(isUnwatched ? ['the rollout is left to the service, if it runs: --wait waits for it here'] : []),
    ...(unasked.length === 0 ? [] : [`left to the service, which alone asks checks: ${unasked.join(', ')}`]),
    ...(reason === 'NotProven' && until === undefined ? ['left to the service, which alone records what followed policies run'] : []),
    ...(until === undefined || reason === 'CheckPending' ? [] : [`left to a run after ${until}, or to the service`]),
    ...(unwritten === undefined ? [] : [`the status was not written: ${unwritten}`]),
  ];
}

/** The exit code. 0: done, or nothing to do · 1: something is blocked, or a rollout has failed · 2: a policy could not be evaluated, or changed. */
export function exitCodeOf(results: readonly Reported[]): number {
  if (results.some(({ result }) => result === 'failed')) return 2;
  const isBad = ({ result, rollouts = [] }: Reported) => result === 'blocked' || rollouts.some((one) => one.result === 'failed');
  return results.some(isBad) ? 1 : 0;
}

const colours = { changed: 'green', unchanged: 'dim', skipped: 'dim', blocked: 'yellow', failed: 'red' } as const satisfies Record<
  RunKind,
  string
>;

/** One line for each policy with its changes and what remains to be done below it, and a summary. */
export function formatResults(results: readonly Reported[], isTrial: boolean, terminal: Terminal): string {
  const paint = paintFor(terminal);
  const lines = results.flatMap((one) => {
    const { policy, result, reason, message, changes, rollouts = [] } = one;
    const why = result === 'changed' ? '' : `: ${reason === undefined ? '' : `${reason}: `}${message}`;
    const head = `${printable(policy)}: ${paint(colours[result], wordOf(result, isTrial))}`;
    return [
      `${head}${printable(why)}`,
      ...changes.map(
        ({ target, container, from, to }) => `  ${printable(`${formatWorkload(target)}: ${container} from ${from} to ${to}`)}`,
      ),
      ...rollouts.map((rollout) => `  ${rollout.result === 'failed' ? 'rollout failed: ' : ''}${printable(rollout.message)}`),
      ...leftOf(one, isTrial).map((left) => `  ${printable(left)}`),
    ];
  });
  const counts = (Object.keys(colours) as RunKind[]).flatMap((kind) => {
    const count = results.filter(({ result }) => result === kind).length;
    return count === 0 ? [] : [`${count} ${wordOf(kind, isTrial)}`];
  });
  const summary = `${countOf(results.length, 'policy', 'policies')}: ${counts.join(', ')}`;
  const links = reasonLinks(results.filter(({ result }) => result === 'blocked').map(({ reason }) => reason));
  return fit(`${[...lines, summary, ...links].join('\n')}\n`, terminal);
}

function wordOf(kind: RunKind, isTrial: boolean): string {
  return isTrial && kind === 'changed' ? 'would be changed' : kind;
}

/** The results of a run as data for programs. */
export function describeForPrograms(results: readonly Reported[], isTrial: boolean): object {
  return { dryRun: isTrial, policies: results.map((one) => ({ ...one, left: leftOf(one, isTrial) })) };
}
