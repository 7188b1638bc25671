/** The commands that act on one policy. They write an annotation or a field of it with the caller's own rights. */
import { type ApiTarget, serviceOptions, callApi } from '../service/command-line/api-client.ts';
import { ApiError } from '../service/command-line/api-error.ts';
import type { NamespaceAnswer } from '../service/api/namespaces-api.ts';
import type { PolicyStatus } from '../core/model/policy-status.ts';
import { actionAnnotations, parseRollback } from '../core/model/policy-actions.ts';
import { parseDuration } from '../core/model/text.ts';
import { defineCommand, type Terminal, UsageError } from '../service/command-line/command.ts';
import { describeStatus, policyStatusOf, trueCondition, waitForStatus, whySuspended } from './describe-status.ts';
import { fit, outputOption, print } from '../service/command-line/output.ts';
import { printable } from '../service/command-line/printable.ts';
import { writtenApprovals } from './approval-commands.ts';
import { actOptions, printDone, reasonOption } from './print-done.ts';
import { reasonLinks } from './reason-links.ts';
import {
  anyPolicyArgument,
  policyArgument,
  policyOptions,
  withAnyPolicy,
  withPolicy,
  type PolicyClient,
} from '../service/command-line/policy-client.ts';
import { summaries } from './summaries.ts';

const waitOptions = {
  ...policyOptions,
  timeout: { value: 'DURATION', about: 'how long to wait for it (default 60s)' },
  ...outputOption,
} as const;
/** The default timeout of the commands. It is longer than that of a rollout. */
const rolloutTimeout = '15m';

export const check = defineCommand({
  name: 'check',
  summary: summaries.check,
  about: `Writes the annotation ${actionAnnotations.requestedAt}, waits until image-watcher has handled the request (status.lastHandledRequest has its value), and prints the status of the policy.

With --server, the service is asked first whether the namespace is selected; if not, the command ends at once.

Exit codes: 0 the policy is Ready, or an update is rolling out (with --wait: it is Ready; with --no-wait: the request is written), 1 it is neither, its namespace is not selected, or the time is over, 2 wrong usage.`,
  arguments: [anyPolicyArgument],
  options: {
    ...waitOptions,
    timeout: { ...waitOptions.timeout, about: `how long to wait (default 60s; with --wait ${rolloutTimeout})` },
    wait: { about: 'also wait until the policy is Ready or Stalled' },
    'no-wait': { about: 'only write the request; of both, the last counts' },
    server: {
      ...serviceOptions.server,
      about: 'the address of the operations listener, to ask whether the namespace is selected: https, or http with --insecure',
    },
    insecure: serviceOptions.insecure,
    'token-file': serviceOptions['token-file'],
  },
  examples: [
    ['check web', 'ask the registry now, and wait for the result'],
    ['check web --wait --timeout 5m', 'wait until the rollout is over as well'],
  ],
  run({ output, wait, 'no-wait': noWait, timeout = wait ? rolloutTimeout : '60s', ...values }, [text], terminal) {
    const timeoutMs = readTimeout(timeout);
    return withAnyPolicy(text, values, terminal, async (policy) => {
      const { namespace, name } = policy;
      if (values.server !== undefined && (await isLeftAlone(namespace, values, terminal))) return 1;
      const request = new Date().toISOString();
      const before = policyStatusOf(await policy.request('check', request));
      if (noWait) {
        print(terminal, output, { namespace, name, requested: request }, () => `requested a check of ${namespace}/${name}\n`);
        return 0;
      }
      const end = performance.now() + timeoutMs;
      const { status: handled } = await waitForStatus(policy, ({ lastHandledRequest }) => lastHandledRequest === request, {
        timeoutMs,
        terminal,
      });
      if (handled === undefined) return reportNoAnswer(policy, timeout, terminal);
      if (!wait || isOver(handled)) {
        printStatus(terminal, output, handled, describeRollout(before, handled));
        return trueCondition(handled, 'Ready') === undefined && !isRollingOut(handled) ? 1 : 0;
      }
      const rest = { timeoutMs: end - performance.now(), terminal, what: 'waiting until the policy is Ready …' };
      const { status, last } = await waitForStatus(policy, isOver, rest);
      if (status === undefined) terminal.err(`${namespace}/${name} is neither Ready nor Stalled after ${timeout}; see also --timeout\n`);
      printStatus(terminal, output, status ?? last);
      return status === undefined || trueCondition(status, 'Ready') === undefined ? 1 : 0;
    });
  },
});

function isOver(status: PolicyStatus): boolean {
  return ['Ready', 'Stalled'].some((type) => trueCondition(status, type) !== undefined);
}

function isRollingOut(status: PolicyStatus): boolean {
  return trueCondition(status, 'Reconciling')?.reason === 'Progressing' && trueCondition(status, 'Stalled') === undefined;
}

/** Describes the result of a check whose rollout is still in progress. */
function describeRollout(before: PolicyStatus, status: PolicyStatus): string | undefined {
  if (!isRollingOut(status)) return undefined;
  const [newest] = status.history ?? [];
  const isNew = newest !== undefined && newest.at !== before.history?.[0]?.at;
  const wait = 'check --wait waits until it is over';
  return isNew ? `changed from ${newest.from} to ${newest.to}, the rollout is in progress: ${wait}` : `a rollout is in progress: ${wait}`;
}

/** Whether the service ignores the namespace; the reason is printed. If the service cannot be reached, the policy may still be reconciled. */
async function isLeftAlone(namespace: string, target: ApiTarget, terminal: Terminal): Promise<boolean> {
  try {
    const answer = await callApi<NamespaceAnswer>(target, 'GET', `/api/v1/namespaces/${encodeURIComponent(namespace)}`);
    if (answer.isSelected) return false;
    terminal.err(`${[printable(`${answer.reason}: ${answer.message}`), ...reasonLinks([answer.reason])].join('\n')}\n`);
    return true;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    terminal.err(`whether the namespace is selected is not known: ${error.message}\n`);
    return false;
  }
}

export const rollback = defineCommand({
  name: 'rollback',
  summary: summaries.rollback,
  about: `Rolls back to the previous image, also outside of windows and without approval. The policy rejects the image that it leaves, and applies only newer ones until "release". Writes the annotation ${actionAnnotations.rollbackTo}.

Exit codes: 0 rolled back, or the rollout of that image is in progress; 1 nothing was changed, the policy is Stalled because of it, or there is no answer in time; 2 wrong usage.`,
  arguments: [policyArgument],
  options: { ...waitOptions, to: { value: 'TAG', about: 'this tag instead of the previous image' }, ...reasonOption },
  examples: [
    ['rollback web', 'roll back to the image before the last update'],
    ['rollback shop/web --to 1.3.0 --reason "payments fail"', 'roll back to 1.3.0'],
  ],
  run({ output, to = 'previous', timeout = '60s', reason, ...values }, [text], terminal) {
    if (parseRollback(to) !== to) throw new UsageError(`--to is a tag, not "${to}"`);
    const timeoutMs = readTimeout(timeout);
    return withPolicy(text, values, terminal, async (policy) => {
      const raw = await policy.read();
      const suspension = whySuspended(raw);
      if (suspension !== undefined) {
        terminal.err(`${printable(`nothing was rolled back: ${suspension}`)}\n`);
        return 1;
      }
      const earlier = policyStatusOf(raw);
      const before = trueCondition(earlier, 'Stalled');
      // The time makes the value unique, so that the same rollback can be requested again.
      const request = `${to} ${new Date().toISOString()}`;
      await policy.request('rollback', request, reason);
      const { status } = await waitForStatus(policy, ({ lastHandledRollback }) => lastHandledRollback === request, { timeoutMs, terminal });
      if (status === undefined) return reportNoAnswer(policy, timeout, terminal);
      const [newest] = status.history ?? [];
      const isNew = newest !== undefined && newest.at !== earlier.history?.[0]?.at;
      const isDone = isNew && newest.trigger === 'Rollback' && (to === 'previous' || newest.tag === to);
      const stalled = trueCondition(status, 'Stalled');
      const wasStalled = stalled !== undefined && stalled.reason === before?.reason && stalled.message === before.message;
      const why = stalled === undefined ? '' : printable(`${stalled.reason}: ${stalled.message}`);
      if (!isDone) terminal.err(`${printable(status.lastRollbackProblem ?? 'nothing was changed: see the Events of the policy')}\n`);
      else if (wasStalled) terminal.err(`rolled back to ${newest.tag}; the policy was Stalled before, and still is: ${why}\n`);
      else if (stalled !== undefined) terminal.err(`rolled back to ${newest.tag}, but the policy is Stalled: ${why}\n`);
      printStatus(terminal, output, status, isDone && stalled === undefined ? describeRollback(policy, status, newest.tag) : undefined);
      return isDone && (stalled === undefined || wasStalled) ? 0 : 1;
    });
  },
});

function describeRollback({ namespace, name }: PolicyClient, status: PolicyStatus, tag: string | undefined): string {
  const state = isRollingOut(status) ? `${tag} is rolling out` : `${tag} runs now`;
  return `rolled back: ${state}, and is held until "image-watcher release ${namespace}/${name}" or until something newer is pushed`;
}

function readTimeout(timeout: string): number {
  const milliseconds = parseDuration(timeout);
  if (milliseconds === undefined) throw new UsageError(`--timeout is a duration such as 30s or 5m, not "${timeout}"`);
  return milliseconds;
}

function reportNoAnswer({ namespace, resourceName }: PolicyClient, timeout: string, terminal: Terminal): number {
  terminal.err(
    `no answer in ${timeout}: see "kubectl -n ${namespace} describe ${resourceName}", and check that image-watcher is running\n`,
  );
  return 1;
}

function printStatus(terminal: Terminal, output: 'text' | 'json' | 'yaml' | undefined, status: PolicyStatus, end?: string): void {
  const lines = () => [...describeStatus(status), ...(end === undefined ? [] : [printable(end)])];
  print(terminal, output, status, () => fit(`${lines().join('\n')}\n`, terminal));
}

export const suspend = suspendCommand('suspend', true, {
  summary: summaries.suspend,
  about: 'Writes spec.suspend: true. Pushes are handled after "resume".',
});

export const resume = suspendCommand('resume', false, {
  summary: summaries.resume,
  about: 'Writes spec.suspend: false. The registry is asked at once.',
});

function suspendCommand(verb: 'suspend' | 'resume', suspended: boolean, texts: { summary: string; about: string }) {
  return defineCommand({
    name: verb,
    ...texts,
    arguments: [anyPolicyArgument],
    options: actOptions,
    examples: [[`${verb} shop/web`, `${verb} the policy web of the namespace shop`]],
    run: ({ output, ...values }, [text], terminal) =>
      withAnyPolicy(text, values, terminal, async ({ namespace, name, resourceName, read, patch, editAsAuthor }) => {
        const spec = { suspend: suspended };
        await (writtenApprovals(await read())?.notByAuthor === true ? editAsAuthor(spec) : patch({ spec }));
        printDone(terminal, output, `${namespace}/${name} is ${suspended ? 'suspended' : 'resumed'}`, {
          namespace,
          name,
          resourceName,
          suspended,
        });
        return 0;
      }),
  });
}
