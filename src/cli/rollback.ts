import { actionAnnotations, parseRollback } from '../model/policy-actions.ts';
import { UsageError, type Command } from './command.ts';
import { parseOptions, parseOutput } from './options.ts';
import { policyHelp, policyNameOf, policyOptions, withPolicy } from './policy-client.ts';
import { describeStatus, waitForAnswer } from './wait-for-answer.ts';
import { parseDuration } from '../model/text.ts';

const options = { ...policyOptions, to: { type: 'string' }, timeout: { type: 'string' } } as const;

/** `image-watcher rollback NS/NAME [--to TAG]`. */
export const rollback: Command = {
  name: 'rollback',
  summary: 'go back to the image before, or to a tag',
  help: `Usage: image-watcher rollback NAMESPACE/NAME [--to TAG] [--timeout 60s] [--output text|json]

Goes back to the image that ran before, also outside of windows and without approval. What is left is remembered, and
nothing that is not newer is applied until "release". Writes the annotation ${actionAnnotations.rollbackTo}.

  --to          this tag instead
  --timeout     how long to wait for it (default 60s)
${policyHelp}`,
  run(args, terminal) {
    const { values, positionals } = parseOptions(args, options);
    const output = parseOutput(values.output);
    const { to = 'previous', timeout = '60s' } = values;
    if (parseRollback(to) !== to) throw new UsageError(`--to is a tag, not "${to}"`);
    const timeoutMs = parseDuration(timeout);
    if (timeoutMs === undefined) throw new UsageError(`--timeout is a duration such as 30s or 5m, not "${timeout}"`);
    return withPolicy(policyNameOf(positionals), values, terminal, async (policy) => {
      // The time makes it new, also when the same was asked for before.
      const asked = `${to} ${new Date().toISOString()}`;
      await policy.patch({ metadata: { annotations: { [actionAnnotations.rollbackTo]: asked } } });
      const status = await waitForAnswer(policy, ({ lastHandledRollback }) => lastHandledRollback === asked, timeoutMs, terminal);
      if (status === undefined) {
        terminal.err(`no answer in ${timeout}: see "kubectl describe imagepolicy", and whether image-watcher runs\n`);
        return 1;
      }
      const [newest] = status.history ?? [];
      const isDone = newest?.trigger === 'Rollback' && (to === 'previous' || newest.tag === to);
      if (!isDone) terminal.err('nothing was changed: see the Events of the policy\n');
      terminal.out(output === 'json' ? `${JSON.stringify(status, undefined, 2)}\n` : `${describeStatus(status).join('\n')}\n`);
      return isDone ? 0 : 1;
    });
  },
};
