/** Formats the status of a policy for people. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Condition, PolicyStatus } from '../core/model/policy-status.ts';
import { fieldsOf } from '../core/model/untyped.ts';
import { readStatus } from '../core/model/stored-status.ts';
import type { Terminal } from '../service/command-line/command.ts';
import { nameOf } from '../service/explain/conclude.ts';
import { printable } from '../service/command-line/printable.ts';
import { statusOf, type PolicyClient } from '../service/command-line/policy-client.ts';
import { startProgress } from '../service/command-line/progress.ts';
import { reasonLinks } from './reason-links.ts';

/** Reads the status of an ImagePolicy from the object of the API server. */
export function policyStatusOf(raw: unknown): PolicyStatus {
  return readStatus(statusOf(raw));
}

/** Why a suspended policy does nothing that it is asked for; undefined if it is not suspended. A status of before says nothing about what was changed since. */
export function whySuspended(raw: unknown): string | undefined {
  const { conditions = [], observedGeneration } = policyStatusOf(raw);
  const { metadata, spec } = fieldsOf(raw);
  const isCurrent = observedGeneration === fieldsOf(metadata)['generation'];
  if (fieldsOf(spec)['suspend'] === true) return 'it is suspended, and has to be resumed first';
  return isCurrent ? conditions.find(({ reason }) => reason === 'Suspended')?.message : undefined;
}

/** The status of a policy, in a few lines. */
export function describeStatus({ latest, pendingApproval, conditions = [], targets = [] }: PolicyStatus): string[] {
  const selected = latest === undefined ? 'nothing is selected yet' : `selected: ${nameOf(latest)}`;
  const pending = (pendingApproval?.images ?? []).map((image) => `waits for approval: ${image}`);
  const states = conditions
    .filter(({ status }) => status !== 'Unknown')
    .map(({ type, status, reason, message }) => `${type}: ${status}, ${reason}: ${message}`);
  const running = targets.map(({ kind, namespace, name, container, image, state, message }) => {
    const what = [container, image].filter((part) => part !== undefined).join(' runs ');
    return `${kind} ${namespace}/${name}: ${[what, state, message].filter((part) => part !== undefined && part !== '').join(', ')}`;
  });
  return [
    ...[selected, ...pending, ...states, ...running].map((line) => printable(line)),
    ...reasonLinks(conditions.map(({ reason }) => reason)),
  ];
}

/** The condition of a type, if its status is True. */
export function trueCondition({ conditions = [] }: PolicyStatus, type: string): Condition | undefined {
  return conditions.find((condition) => condition.type === type && condition.status === 'True');
}

const pauseMs = 250;

interface Waiting {
  readonly timeoutMs: number;
  readonly terminal: Terminal;
  /** What the command waits for until the Ready condition changes. */
  readonly what?: string;
}

/** Waits for a status, and shows changes of the Ready condition in the meantime. The result has no `status` if the time ran out. */
export async function waitForStatus(
  policy: PolicyClient,
  isWanted: (status: PolicyStatus) => boolean,
  { timeoutMs, terminal, what = 'waiting for image-watcher …' }: Waiting,
): Promise<{ readonly status?: PolicyStatus; readonly last: PolicyStatus }> {
  const started = performance.now();
  const line = startProgress(terminal, '');
  let printed = what;
  if (!terminal.interactive) terminal.err(`${printed}\n`);
  let before: string | undefined;
  try {
    for (;;) {
      const status = policyStatusOf(await policy.read());
      if (isWanted(status)) return { status, last: status };
      const ready = status.conditions?.find(({ type }) => type === 'Ready');
      const state = printable(ready === undefined ? 'not reconciled yet' : `${ready.reason}: ${ready.message}`);
      if (before !== undefined && state !== before) {
        printed = state;
        if (!terminal.interactive) terminal.err(`${printed}\n`);
      }
      before = state;
      line.update(`${printed} (${Math.round((performance.now() - started) / 1000)} s)`);
      if (performance.now() - started >= timeoutMs) return { last: status };
      await delay(pauseMs);
    }
  } finally {
    line.stop();
  }
}
