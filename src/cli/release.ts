import { actionAnnotations } from '../model/policy-actions.ts';
import { readStatus, type PolicyStatus } from '../model/policy-status.ts';
import type { Command } from './command.ts';
import { parsePolicyCommand, policyHelp, statusOf, tell, withPolicy } from './policy-client.ts';

/** `image-watcher release NS/NAME`. */
export const release: Command = {
  name: 'release',
  summary: 'let go what is held: a change by hand, a rollback, a rejected image, a fight with a GitOps tool',
  help: `Usage: image-watcher release NAMESPACE/NAME [--output text|json]

Writes the annotation ${actionAnnotations.release} with the time of now: everything that is held since before is
let go, and what the policy selects is applied. For a later time, write the annotation yourself.

${policyHelp}`,
  run(args, terminal) {
    const { values, output, namespace, name } = parsePolicyCommand(args);
    return withPolicy({ namespace, name }, values, terminal, async (policy) => {
      const status = readStatus(statusOf(await policy.read()));
      const held = status.conditions?.find(({ type, status: value }) => type === 'Held' && value === 'True');
      const time = latestTime(status, new Date());
      await policy.patch({ metadata: { annotations: { [actionAnnotations.release]: time } } });
      const what = held === undefined ? 'nothing is held at present' : held.message;
      tell(terminal, output, `${namespace}/${name} is released: ${what}`, { namespace, name, release: time, held: held?.message });
      return 0;
    });
  },
};

/** Not before what is to be released, also where the clock of this machine is behind. */
function latestTime({ conditions = [], rejected = [], reverted = [] }: PolicyStatus, now: Date): string {
  const held = [...conditions.map(({ lastTransitionTime }) => lastTransitionTime), ...[...rejected, ...reverted].map(({ at }) => at)];
  const times = held.map((time) => Date.parse(time)).filter((time) => !Number.isNaN(time));
  return new Date(Math.max(now.getTime(), ...times)).toISOString();
}
