/** The commands that act on one policy, by writing an annotation or a field of it with the caller's own rights. */
import { readStatus, type PolicyStatus } from '../model/policy-status.ts';
import { actionAnnotations, parseRollback } from '../model/policy-actions.ts';
import { parseDuration } from '../model/text.ts';
import { parseOptions, parseOutput, UsageError, type Command } from './command.ts';
import {
  describeStatus,
  isReady,
  parsePolicyCommand,
  policyHelp,
  policyNameOf,
  policyOptions,
  printResult,
  statusOf,
  waitForAnswer,
  withPolicy,
} from './policy-client.ts';

/** `image-watcher approve NS/NAME [TAG]`. */
export const approve: Command = {
  name: 'approve',
  summary: 'approve the pending update of a policy',
  help: `Usage: image-watcher approve NAMESPACE/NAME [TAG] [--output text|json]

Approves the tag and digest in status.pendingApproval; what is pushed later needs another approval. With a TAG, only if
that tag is pending. Writes the annotation ${actionAnnotations.approve}.

${policyHelp}`,
  run(args, terminal) {
    const { values, output, namespace, name, others } = parsePolicyCommand(args, 1);
    const [wanted] = others;
    return withPolicy({ namespace, name }, values, terminal, async (policy) => {
      const { pendingApproval } = readStatus(statusOf(await policy.read()));
      if (pendingApproval === undefined || (wanted !== undefined && wanted !== pendingApproval.tag)) {
        const pending = pendingApproval === undefined ? 'no image is' : `${pendingApproval.tag}@${pendingApproval.digest} is`;
        terminal.err(`nothing was approved: ${pending} pending for ${namespace}/${name}\n`);
        return 1;
      }
      const image = `${pendingApproval.tag}@${pendingApproval.digest}`;
      await policy.patch({ metadata: { annotations: { [actionAnnotations.approve]: image } } });
      printResult(terminal, output, `approved ${image} for ${namespace}/${name}`, { namespace, name, approved: image });
      return 0;
    });
  },
};

const waitOptions = { ...policyOptions, timeout: { type: 'string' } } as const;

/** `image-watcher check NS/NAME`. */
export const check: Command = {
  name: 'check',
  summary: 'reconcile a policy now, and print the result',
  help: `Usage: image-watcher check NAMESPACE/NAME [--timeout 60s] [--output text|json]

Writes the annotation ${actionAnnotations.requestedAt}, waits until status.lastHandledRequest has its value, and
prints the status of the policy. Exits with 1 when the policy is not Ready, or when there is no answer in time.

  --timeout     how long to wait (default 60s)
${policyHelp}`,
  run(args, terminal) {
    const { values, positionals } = parseOptions(args, waitOptions);
    const output = parseOutput(values.output);
    const { timeout = '60s' } = values;
    const timeoutMs = readTimeout(timeout);
    return withPolicy(policyNameOf(positionals), values, terminal, async (policy) => {
      const request = new Date().toISOString();
      await policy.patch({ metadata: { annotations: { [actionAnnotations.requestedAt]: request } } });
      const status = await waitForAnswer(policy, ({ lastHandledRequest }) => lastHandledRequest === request, timeoutMs, terminal);
      if (status === undefined) {
        terminal.err(noAnswer(timeout));
        return 1;
      }
      terminal.out(formatStatus(status, output));
      return isReady(status) ? 0 : 1;
    });
  },
};

/** `image-watcher rollback NS/NAME [--to TAG]`. */
export const rollback: Command = {
  name: 'rollback',
  summary: 'roll back to the previous image, or to a tag',
  help: `Usage: image-watcher rollback NAMESPACE/NAME [--to TAG] [--timeout 60s] [--output text|json]

Rolls back to the previous image, also outside of windows and without approval. The policy rejects the image that it
leaves, and applies only newer ones until "release". Writes the annotation ${actionAnnotations.rollbackTo}.

  --to          this tag instead
  --timeout     how long to wait for it (default 60s)
${policyHelp}`,
  run(args, terminal) {
    const { values, positionals } = parseOptions(args, { ...waitOptions, to: { type: 'string' } } as const);
    const output = parseOutput(values.output);
    const { to = 'previous', timeout = '60s' } = values;
    if (parseRollback(to) !== to) throw new UsageError(`--to is a tag, not "${to}"`);
    const timeoutMs = readTimeout(timeout);
    return withPolicy(policyNameOf(positionals), values, terminal, async (policy) => {
      // The time makes it a new request, also when the same rollback was requested before.
      const request = `${to} ${new Date().toISOString()}`;
      await policy.patch({ metadata: { annotations: { [actionAnnotations.rollbackTo]: request } } });
      const status = await waitForAnswer(policy, ({ lastHandledRollback }) => lastHandledRollback === request, timeoutMs, terminal);
      if (status === undefined) {
        terminal.err(noAnswer(timeout));
        return 1;
      }
      const [newest] = status.history ?? [];
      const isDone = newest?.trigger === 'Rollback' && (to === 'previous' || newest.tag === to);
      if (!isDone) terminal.err('nothing was changed: see the Events of the policy\n');
      terminal.out(formatStatus(status, output));
      return isDone ? 0 : 1;
    });
  },
};

function readTimeout(timeout: string): number {
  const milliseconds = parseDuration(timeout);
  if (milliseconds === undefined) throw new UsageError(`--timeout is a duration such as 30s or 5m, not "${timeout}"`);
  return milliseconds;
}

function noAnswer(timeout: string): string {
  return `no answer in ${timeout}: see "kubectl describe imagepolicy", and check that image-watcher is running\n`;
}

function formatStatus(status: PolicyStatus, output: 'text' | 'json'): string {
  return output === 'json' ? `${JSON.stringify(status, undefined, 2)}\n` : `${describeStatus(status).join('\n')}\n`;
}

/** `image-watcher release NS/NAME`. */
export const release: Command = {
  name: 'release',
  summary: 'release holds: after a manual change, a rollback, a rejected image, a conflict with a GitOps tool',
  help: `Usage: image-watcher release NAMESPACE/NAME [--output text|json]

Writes the annotation ${actionAnnotations.release} with the current time: every hold that began before then
is released, and the selected image is applied. For another time, write the annotation yourself.

${policyHelp}`,
  run(args, terminal) {
    const { values, output, namespace, name } = parsePolicyCommand(args);
    return withPolicy({ namespace, name }, values, terminal, async (policy) => {
      const status = readStatus(statusOf(await policy.read()));
      const held = status.conditions?.find(({ type, status: value }) => type === 'Held' && value === 'True');
      const time = latestTime(status, new Date());
      await policy.patch({ metadata: { annotations: { [actionAnnotations.release]: time } } });
      const what = held === undefined ? 'nothing is held at present' : held.message;
      printResult(terminal, output, `${namespace}/${name} is released: ${what}`, { namespace, name, release: time, held: held?.message });
      return 0;
    });
  },
};

/** Never before the holds that are to be released, even if the clock of this machine is behind. */
function latestTime({ conditions = [], rejected = [], reverted = [] }: PolicyStatus, now: Date): string {
  const held = [...conditions.map(({ lastTransitionTime }) => lastTransitionTime), ...[...rejected, ...reverted].map(({ at }) => at)];
  const times = held.map((time) => Date.parse(time)).filter((time) => !Number.isNaN(time));
  return new Date(Math.max(now.getTime(), ...times)).toISOString();
}

/** `image-watcher suspend NS/NAME`. */
export const suspend = suspendCommand('suspend', true, {
  summary: 'suspend a policy: it is not reconciled, and its workloads are not changed',
  text: 'Writes spec.suspend: true. Pushes that come meanwhile are handled after "resume".',
});

/** `image-watcher resume NS/NAME`. */
export const resume = suspendCommand('resume', false, {
  summary: 'resume a suspended policy',
  text: 'Writes spec.suspend: false. The registry is asked at once, so that pushes of the meantime are not missed.',
});

function suspendCommand(verb: 'suspend' | 'resume', suspended: boolean, { summary, text }: { summary: string; text: string }): Command {
  return {
    name: verb,
    summary,
    help: `Usage: image-watcher ${verb} NAMESPACE/NAME [--output text|json]

${text}

${policyHelp}`,
    run(args, terminal) {
      const { values, output, namespace, name } = parsePolicyCommand(args);
      return withPolicy({ namespace, name }, values, terminal, async (policy) => {
        await policy.patch({ spec: { suspend: suspended } });
        printResult(terminal, output, `${namespace}/${name} is ${suspended ? 'suspended' : 'resumed'}`, { namespace, name, suspended });
        return 0;
      });
    },
  };
}
