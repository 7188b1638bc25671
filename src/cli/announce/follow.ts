/** Shows what becomes of a delivery, until it is over. */
import { setTimeout as delay } from 'node:timers/promises';
import { defined } from '../../core/model/defined.ts';
import type { Terminal } from '../../service/command-line/command.ts';
import { print } from '../../service/command-line/output.ts';
import { printable } from '../../service/command-line/printable.ts';
import { AnnounceError, type Report } from './sender.ts';

/** How long to wait, and for what. */
export interface Following {
  readonly until: 'rolledOut' | 'changed';
  readonly timeoutMs: number;
  readonly output: 'text' | 'json' | 'yaml' | undefined;
  readonly terminal: Terminal;
}

const firstPauseMs = 500;
const maxPauseMs = 5_000;

/** Asks until the delivery is over; returns the exit code. Throws AnnounceError where the receiver refuses to answer. */
export async function follow(ask: () => Promise<Report>, { until, timeoutMs, output, terminal }: Following): Promise<number> {
  const end = performance.now() + timeoutMs;
  const told = new Map<string, string>();
  let last: Report | undefined;
  let problem: string | undefined;
  /** Says once why there is no answer, and goes on where another question may be answered. */
  const unlessTemporary = (error: unknown): undefined => {
    if (!(error instanceof AnnounceError) || !error.isTemporary) throw error;
    if (problem !== error.message) terminal.err(`${printable(`${error.message}; asked again until the time is over`)}\n`);
    problem = error.message;
  };
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(maxPauseMs, pauseMs * 1.5)) {
    last = (await ask().catch(unlessTemporary)) ?? last;
    if (last !== undefined && output !== 'json' && output !== 'yaml') tellNews(last, told, terminal);
    if (last !== undefined && isOver(last, until)) break;
    if (performance.now() >= end) break;
    await delay(Math.min(pauseMs, Math.max(0, end - performance.now())), undefined, defined({ signal: terminal.signal }));
  }
  if (last === undefined) throw new AnnounceError('the receiver did not say in time what became of the push', false);
  const runs = last.policies.length > 0 && last.policies.every(({ state }) => reached(state, until));
  const summary = runs ? 'it runs' : summaryOf(last, until);
  print(terminal, output, { ...last, runs }, () => `${printable(`${last?.image ?? ''}: ${summary}`)}\n`);
  return runs ? 0 : 1;
}

function reached(state: string, until: Following['until']): boolean {
  return state === 'rolledOut' || (until === 'changed' && state === 'changed');
}

/** Whether the answer is known. One policy that has failed is enough: nothing that the others do makes the image run under all. */
function isOver({ isOver: over, policies }: Report, until: Following['until']): boolean {
  if (over || policies.some(({ isOver: ends, state }) => ends && state === 'failed')) return true;
  return policies.length > 0 && policies.every((one) => one.isOver || reached(one.state, until));
}

function summaryOf(report: Report, until: Following['until']): string {
  if (report.state === 'unwatched') return 'no policy watches it';
  if (!isOver(report, until)) return 'it does not run yet: the time is over';
  if (report.policies.some(({ reason }) => reason === 'Retagged')) return 'its tag runs already, and is not known to have this content';
  const isUnseen = report.policies.length > 0 && report.policies.every(({ state }) => state === 'rolledOut' || state === 'changed');
  return isUnseen ? 'workloads are changed, and whether it runs is not watched: --until changed waits for no more' : 'it does not run';
}

function tellNews({ image, state, message, policies }: Report, told: Map<string, string>, terminal: Terminal): void {
  const lines =
    policies.length === 0
      ? [[image, `${state}${message === undefined ? '' : `: ${message}`}`] as const]
      : policies.map(({ policy, state: own, reason, message: why, page }) => {
          const details = [reason, why, page].filter((part) => part !== undefined && part !== '');
          return [policy, [own, ...details].join(': ')] as const;
        });
  for (const [subject, text] of lines) {
    if (told.get(subject) === text) continue;
    told.set(subject, text);
    terminal.out(`${printable(`${subject}: ${text}`)}\n`);
  }
}
