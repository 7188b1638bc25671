import { createAccount, tokenOf } from '../harness/service-account.ts';
import type { Service, World } from '../end-to-end/world.ts';
import type { Steps } from './steps.ts';

/** Says where the dashboard is, and gives the user of the demo a token with which he may look and act. */
export async function inviteToDashboard(world: World, service: Service, steps: Steps): Promise<void> {
  const you = { name: 'you', namespace: world.namespace };
  const rules = [{ apiGroups: ['operator.technomad.dev'], resources: ['imagepolicies'], verbs: ['get', 'list', 'patch'] }];
  await createAccount(world.cluster, you, [{ rules }]);
  steps.heading('The dashboard');
  steps.note(`${service.operationsUrl}   sign in with this token (an hour):\n`);
  steps.note(await tokenOf(world.cluster, you));
}
