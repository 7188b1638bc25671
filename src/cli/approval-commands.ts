/** The commands with which people decide about an image that waits for approval. */
import { z } from 'zod';
import { defined } from '../core/model/defined.ts';
import { actionAnnotations } from '../core/model/policy-actions.ts';
import { approvalTime, readEditor, whyNoVote } from '../core/model/named-approvals.ts';
import { fieldsOf } from '../core/model/untyped.ts';
import { defineCommand, type Terminal } from '../service/command-line/command.ts';
import { anyPolicyArgument, withAnyPolicy, type PolicyClient } from '../service/command-line/policy-client.ts';
import { policyStatusOf } from './describe-status.ts';
import { actOptions, printDone, reasonOption } from './print-done.ts';
import { summaries } from './summaries.ts';

const tagArgument = { name: 'TAG', about: 'the tag that has to be pending' };

export const approve = defineCommand({
  name: 'approve',
  summary: summaries.approve,
  about: `Approves the tag and digest in status.pendingApproval. With a TAG, only if that tag is pending. Writes the annotation ${actionAnnotations.approve}.`,
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
      const { raw, image, pending } = await pendingImage(client, wanted, terminal, 'approved');
      if (pending === undefined) return 1;
      const many = writtenApprovals(raw);
      const user = many && (await client.knownName());
      if (many !== undefined && user !== undefined) {
        const status = policyStatusOf(raw);
        const why = whyNoVote({ ...many, ...defined({ approvals: status.approvals }) }, pending, user);
        if (why !== undefined) {
          terminal.err(`nothing was approved: ${why}\n`);
          return 1;
        }
        await client.approve({ ...pending, at: approvalTime(status, new Date()), user, ...defined({ reason }) });
      } else await request('approve', image, reason);
      const asked = many === undefined ? '' : ` as ${user}; ${many.count} people have to`;
      printDone(terminal, output, `approved ${image} for ${namespace}/${name}${asked}`, { namespace, name, resourceName, approved: image });
      return 0;
    });
  },
});

export const reject = defineCommand({
  name: 'reject',
  summary: summaries.reject,
  about: `Rejects the image in status.pendingApproval until "release". "rollback" takes back what is applied already. Writes the annotation ${actionAnnotations.reject}.`,
  arguments: [anyPolicyArgument, tagArgument],
  options: { ...actOptions, ...reasonOption },
  examples: [['reject web --reason "breaks the login"', 'reject what is pending']],
  run({ output, reason, ...values }, [policy, wanted], terminal) {
    return withAnyPolicy(policy, values, terminal, async (client) => {
      const { namespace, name, resourceName, request } = client;
      const { image, pending } = await pendingImage(client, wanted, terminal, 'rejected');
      if (pending === undefined) {
        const key = `${namespace}/${name}`;
        if (!client.isBase)
          terminal.err(
            `"image-watcher rollback ${key}" takes back what is applied, also between waves; "image-watcher hold ${key}" keeps what runs\n`,
          );
        return 1;
      }
      // The time makes the value unique, so that the same image can be rejected again after a release.
      await request('reject', `${image} ${new Date().toISOString()}`, reason);
      printDone(terminal, output, `rejected ${image} for ${namespace}/${name}`, { namespace, name, resourceName, rejected: image });
      return 0;
    });
  },
});

/** The image that waits for approval, also as `TAG@DIGEST`; `pending` is undefined if it is not the wanted one, which is then reported. */
async function pendingImage({ namespace, name, read }: PolicyClient, wanted: string | undefined, terminal: Terminal, done: string) {
  const raw = await read();
  const { pendingApproval: pending } = policyStatusOf(raw);
  const image = pending === undefined ? 'no image' : `${pending.tag}@${pending.digest}`;
  if (pending !== undefined && (wanted === undefined || wanted === pending.tag)) return { raw, image, pending };
  terminal.err(`nothing was ${done}: ${image} is pending for ${namespace}/${name}\n`);
  return { raw, image };
}

const approvals = z.object({ count: z.int(), notByAuthor: z.boolean().default(false) });
const [written, writtenOfBase] = [
  z.object({ spec: z.object({ update: z.object({ approvals }) }) }),
  z.object({ spec: z.object({ approvals }) }),
];

/** What a policy of either kind says about the approvals of several people, and who last changed it; undefined if one person approves. */
export function writtenApprovals(
  raw: unknown,
): { readonly count: number; readonly notByAuthor: boolean; readonly editedBy?: string } | undefined {
  const found = written.safeParse(raw).data?.spec.update.approvals ?? writtenOfBase.safeParse(raw).data?.spec.approvals;
  return found && { ...found, ...defined({ editedBy: readEditor(fieldsOf(fieldsOf(fieldsOf(raw)['metadata'])['annotations'])) }) };
}
