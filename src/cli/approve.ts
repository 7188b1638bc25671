import { readStatus } from '../model/policy-status.ts';
import { actionAnnotations } from '../model/policy-actions.ts';
import type { Command } from './command.ts';
import { parsePolicyCommand, policyHelp, statusOf, tell, withPolicy } from './policy-client.ts';

/** `image-watcher approve NS/NAME [TAG]`. */
export const approve: Command = {
  name: 'approve',
  summary: 'approve the update that waits for it',
  help: `Usage: image-watcher approve NAMESPACE/NAME [TAG] [--output text|json]

Approves what status.pendingApproval says now, tag and digest: what is pushed later needs an approval of its own. With a
TAG, only if that is what is pending. Writes the annotation ${actionAnnotations.approve}.

${policyHelp}`,
  run(args, terminal) {
    const { values, output, namespace, name, others } = parsePolicyCommand(args, 1);
    const [wanted] = others;
    return withPolicy({ namespace, name }, values, terminal, async (policy) => {
      const { pendingApproval } = readStatus(statusOf(await policy.read()));
      if (pendingApproval === undefined || (wanted !== undefined && wanted !== pendingApproval.tag)) {
        const pending = pendingApproval === undefined ? 'nothing' : `${pendingApproval.tag}@${pendingApproval.digest}`;
        terminal.err(`nothing was approved: ${pending} waits for approval by ${namespace}/${name}\n`);
        return 1;
      }
      const image = `${pendingApproval.tag}@${pendingApproval.digest}`;
      await policy.patch({ metadata: { annotations: { [actionAnnotations.approve]: image } } });
      tell(terminal, output, `approved ${image} for ${namespace}/${name}`, { namespace, name, approved: image });
      return 0;
    });
  },
};
