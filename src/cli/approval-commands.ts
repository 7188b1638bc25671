/** The commands with which people decide about an image that waits for approval. */
import { actionAnnotations } from '../core/model/policy-actions.ts';
import { defineCommand, type Terminal } from '../service/command-line/command.ts';
import { anyPolicyArgument, policyArgument, withAnyPolicy, withPolicy, type PolicyClient } from '../service/command-line/policy-client.ts';
import { policyStatusOf } from './describe-status.ts';
import { actOptions, printDone, reasonOption } from './print-done.ts';
import { summaries } from './summaries.ts';

const tagArgument = { name: 'TAG', about: 'the tag that has to be pending' };

export const approve = defineCommand({
  name: 'approve',
  summary: summaries.approve,
  about: `Approves the tag and digest in status.pendingApproval; what is pushed later needs another approval. With a TAG, only if that tag is pending. Writes the annotation ${actionAnnotations.approve}.`,
  arguments: [anyPolicyArgument, tagArgument],
  options: { ...actOptions, ...reasonOption },
  examples: [
    ['approve web', 'approve what is pending for the policy web'],
    ['approve shop/web 1.4.2', 'approve 1.4.2 only'],
    ['approve -n platform bipol/java', 'approve the base that is pending for the BaseImagePolicy java'],
  ],
  run({ output, reason, ...values }, [policy, wanted], terminal) {
    return withAnyPolicy(policy, values, terminal, async (client) => {
      const { namespace, name, resourceName, request } = client;
      const image = await pendingImage(client, wanted, terminal, 'approved');
      if (image === undefined) return 1;
      await request('approve', image, reason);
      printDone(terminal, output, `approved ${image} for ${namespace}/${name}`, { namespace, name, resourceName, approved: image });
      return 0;
    });
  },
});

export const reject = defineCommand({
  name: 'reject',
  summary: summaries.reject,
  about: `Rejects the image in status.pendingApproval until "release". Writes the annotation ${actionAnnotations.reject}.`,
  arguments: [policyArgument, tagArgument],
  options: { ...actOptions, ...reasonOption },
  examples: [['reject web --reason "breaks the login"', 'reject what is pending']],
  run({ output, reason, ...values }, [policy, wanted], terminal) {
    return withPolicy(policy, values, terminal, async (client) => {
      const { namespace, name, resourceName, request } = client;
      const image = await pendingImage(client, wanted, terminal, 'rejected');
      if (image === undefined) return 1;
      // The time makes the value unique, so that the same image can be rejected again after a release.
      await request('reject', `${image} ${new Date().toISOString()}`, reason);
      printDone(terminal, output, `rejected ${image} for ${namespace}/${name}`, { namespace, name, resourceName, rejected: image });
      return 0;
    });
  },
});

/** The image that waits for approval, as `TAG@DIGEST`; undefined if it is not the wanted one, which is then reported. */
async function pendingImage(
  { namespace, name, read }: PolicyClient,
  wanted: string | undefined,
  terminal: Terminal,
  done: string,
): Promise<string | undefined> {
  const { pendingApproval } = policyStatusOf(await read());
  const image = pendingApproval && `${pendingApproval.tag}@${pendingApproval.digest}`;
  if (image !== undefined && (wanted === undefined || wanted === pendingApproval?.tag)) return image;
  terminal.err(`nothing was ${done}: ${image ?? 'no image'} is pending for ${namespace}/${name}\n`);
  return undefined;
}
