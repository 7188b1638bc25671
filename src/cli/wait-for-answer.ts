import { setTimeout as delay } from 'node:timers/promises';
import { readStatus, type PolicyStatus } from '../model/policy-status.ts';
import type { Terminal } from './command.ts';
import { statusOf, type PolicyClient } from './policy-client.ts';

const pauseMs = 250;

/** Waits until the service has answered, telling meanwhile what it says; undefined where it does not in time. */
export async function waitForAnswer(
  policy: PolicyClient,
  isAnswered: (status: PolicyStatus) => boolean,
  timeoutMs: number,
  terminal: Terminal,
): Promise<PolicyStatus | undefined> {
  const deadline = performance.now() + timeoutMs;
  let told = '';
  for (;;) {
    const status = readStatus(statusOf(await policy.read()));
    if (isAnswered(status)) return status;
    const ready = status.conditions?.find(({ type }) => type === 'Ready');
    const progress = ready === undefined ? 'not looked at yet' : `${ready.reason}: ${ready.message}`;
    if (told !== '' && progress !== told) terminal.err(`${progress}\n`);
    if (told === '') terminal.err('waiting for image-watcher …\n');
    told = progress;
    if (performance.now() >= deadline) return undefined;
    await delay(pauseMs);
  }
}

/** What the policy stands at, in some lines. */
export function describeStatus({ latest, conditions = [], targets = [] }: PolicyStatus): string[] {
  const selected =
    latest === undefined ? 'nothing is selected yet' : `selected: ${latest.tag}${latest.digest === undefined ? '' : `@${latest.digest}`}`;
  const states = conditions
    .filter(({ status }) => status !== 'Unknown')
    .map(({ type, status, reason, message }) => `${type}: ${status}, ${reason}: ${message}`);
  const running = targets.map(({ kind, namespace, name, container, image, state, message }) => {
    const what = [container, image].filter((part) => part !== undefined).join(' runs ');
    return `${kind} ${namespace}/${name}: ${[what, state, message].filter((part) => part !== undefined && part !== '').join(', ')}`;
  });
  return [selected, ...states, ...running];
}

/** Whether nobody has to do or wait for anything. */
export function isReady({ conditions = [] }: PolicyStatus): boolean {
  return conditions.some(({ type, status }) => type === 'Ready' && status === 'True');
}
