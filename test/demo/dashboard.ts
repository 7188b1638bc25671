import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { tempFolder } from '../harness/temp-folder.ts';
import { createAccount, tokenOf } from '../harness/service-account.ts';
import type { Service, World } from '../end-to-end/world.ts';
import type { Steps } from './steps.ts';

/** Says where the dashboard is, and gives the user of the demo a token with which they may look and act: in a file, because its line would wrap and be copied in parts. */
export async function inviteToDashboard(world: World, service: Service, steps: Steps): Promise<void> {
  const you = { name: 'you', namespace: world.namespace };
  const rules = [
    { apiGroups: ['operator.technomad.dev'], resources: ['imagepolicies', 'baseimagepolicies'], verbs: ['get', 'list', 'patch'] },
  ];
  await createAccount(world.cluster, you, [{ rules }]);
  steps.heading('The dashboard');
  const file = join(tempFolder('dashboard'), 'token');
  writeFileSync(file, `${await tokenOf(world.cluster, you)}\n`, { mode: 0o600 });
  steps.note(`${service.operationsUrl}   sign in with the token that this prints (valid for an hour):`);
  steps.note(`cat ${file}`);
}
