import { parseDuration } from '../model/text.ts';
import { actionAnnotations } from '../model/policy-actions.ts';
import { UsageError, type Command } from './command.ts';
import { parseOptions, parseOutput } from './options.ts';
import { policyHelp, policyNameOf, policyOptions, withPolicy } from './policy-client.ts';
import { describeStatus, isReady, waitForAnswer } from './wait-for-answer.ts';

const options = { ...policyOptions, timeout: { type: 'string' } } as const;

/** `image-watcher check NS/NAME`. */
export const check: Command = {
  name: 'check',
  summary: 'ask the registry now, and tell what came of it',
  help: `Usage: image-watcher check NAMESPACE/NAME [--timeout 60s] [--output text|json]

Writes the annotation ${actionAnnotations.requestedAt}, waits until status.lastHandledRequest answers it, and
tells what the policy stands at. Ends with 1 when it is not Ready, or when there is no answer in time.

  --timeout     how long to wait (default 60s)
${policyHelp}`,
  run(args, terminal) {
    const { values, positionals } = parseOptions(args, options);
    const output = parseOutput(values.output);
    const { timeout = '60s' } = values;
    const timeoutMs = parseDuration(timeout);
    if (timeoutMs === undefined) throw new UsageError(`--timeout is a duration such as 30s or 5m, not "${timeout}"`);
    return withPolicy(policyNameOf(positionals), values, terminal, async (policy) => {
      const request = new Date().toISOString();
      await policy.patch({ metadata: { annotations: { [actionAnnotations.requestedAt]: request } } });
      const status = await waitForAnswer(policy, ({ lastHandledRequest }) => lastHandledRequest === request, timeoutMs, terminal);
      if (status === undefined) {
        terminal.err(`no answer in ${timeout}: see "kubectl describe imagepolicy", and whether image-watcher runs\n`);
        return 1;
      }
      terminal.out(output === 'json' ? `${JSON.stringify(status, undefined, 2)}\n` : `${describeStatus(status).join('\n')}\n`);
      return isReady(status) ? 0 : 1;
    });
  },
};
