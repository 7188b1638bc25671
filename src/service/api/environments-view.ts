/** The policies that follow each other, and where each image is on its way through them, as the API shows them. */
import { z } from 'zod';
import type { Immutable } from '../../core/model/immutable.ts';
import type { ImagePolicy } from '../../core/model/image-policy.ts';
import { imagesOnTheirWay, stageStates } from '../../core/model/environments.ts';
import { gatherEnvironments } from '../explain/gather-environments.ts';
import type { Access } from './access.ts';
import type { ApiPorts } from './ports.ts';
import { namespaceName, objectName, time } from './route.ts';
import { policiesOf } from './see-policies.ts';

const environment = z
  .object({ namespace: namespaceName, name: objectName })
  .meta({ id: 'Environment', description: 'A policy that images pass.' });

const stage = z
  .object({
    namespace: namespaceName,
    name: objectName,
    state: z
      .enum(stageStates)
      .describe(
        'Healthy: all targets run it, complete and available. Runs: they run it; how long they are healthy is known only of followed policies. RollingOut: they are being changed to it. Failed: it failed, was rolled back or rejected. Approval: it waits for an approval. NotCopied: the repository does not hold it yet. Waits: for a time, or for what the reason says. Ran: they ran it before.',
      ),
    since: time.exactOptional().describe('Since when it is in this state, as far as that is known.'),
    until: time.exactOptional().describe('Until when it waits.'),
    reason: z.string().exactOptional().describe('Why it is not further, one of docs/reasons.md.'),
    message: z.string().exactOptional(),
  })
  .meta({ id: 'Stage', description: 'Where an image is in one policy.' });

const image = z
  .object({
    digest: z.string(),
    tag: z.string().exactOptional(),
    repository: z.string().exactOptional().describe('The repository of the first policy that knows it.'),
    stages: z.array(stage).describe('Of the policies that know it.'),
  })
  .meta({ id: 'ImageOnItsWay', description: 'An image, and where it is in the policies that follow each other.' });

/** The schema of the policies that follow each other. */
export const environmentsView = z
  .object({
    policies: z
      .array(environment)
      .describe('The followed policies, this one, and its followers, in the order of following: at most 12 that the caller may get.'),
    images: z.array(image).describe('At most ten, the newest first.'),
    hidden: z.int().describe('How many followed policies are left out: they do not exist, or the caller may not get them.'),
  })
  .meta({ id: 'Environments', description: 'Where each image is on its way; only of policies that follow others or are followed.' });
export type EnvironmentsView = Immutable<z.output<typeof environmentsView>>;

/** The environments of a policy, as far as the caller may get them; undefined for a policy without others. Throws AccessError(503). */
export async function environmentsFor(policy: ImagePolicy, access: Access, ports: ApiPorts): Promise<EnvironmentsView | undefined> {
  const { find, followersOf } = policiesOf(ports);
  const { environments, unseen } = await gatherEnvironments(policy, {
    followersOf,
    see: async ({ namespace, name }) => ((await access.may({ verb: 'get', namespace })) ? find(namespace, name) : undefined),
  });
  if (environments.length + unseen.length < 2) return undefined;
  return {
    policies: environments.map(({ namespace, name }) => ({ namespace, name })),
    images: imagesOnTheirWay(environments),
    hidden: unseen.length,
  };
}
