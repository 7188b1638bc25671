/** The API as other programs use it: by a client that is generated from its document. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { problemSchema } from '../../src/service/api/problem.ts';
import { pushImage } from '../harness/push-image.ts';
import { createAccount, tokenOf } from '../harness/service-account.ts';
import { waitFor } from '../harness/wait-for.ts';
import { generateClient } from './generated-client.ts';
import { deliver, harborBody, startWorld, type Service, type World } from './world.ts';

describe('a client that is generated from the API document', () => {
  let world: World;
  let service: Service;
  let token: string;
  before(async () => {
    world = await startWorld();
    service = await world.start({ config: { operations: { actions: true } } });
    const account = { name: 'program', namespace: world.namespace };
    const rules = [{ apiGroups: ['operator.technomad.dev'], resources: ['imagepolicies'], verbs: ['get', 'list', 'patch'] }];
    await createAccount(world.cluster, account, [{ namespace: world.namespace, rules }]);
    token = await tokenOf(world.cluster, account);
    const { host } = world.quiet;
    await pushImage({ host, repository: 'shop/web', tag: '1.0.0', content: 'old' });
    await world.createDeployment('web', `${host}/shop/web:1.0.0`);
    await world.createPolicy('web', `${host}/shop/web`, { strategy: 'SemVer' }, { update: { mode: 'Approval' } });
    await world.waitForFirstLook('web');
    await pushImage({ host, repository: 'shop/web', tag: '1.1.0', content: 'new' });
    await deliver(service, harborBody(host, 'shop/web', [{ tag: '1.1.0' }]));
  });
  after(() => world.stop());

  it('has types by the names of the schemas, refuses what the API does not have, and approves an image', async () => {
    const client = await generateClient();
    const found = await waitFor('the image to be approved', async () => {
      const { requested, ...rest } = (await client.run(service.operationsUrl, token, world.namespace)) as Printed;
      return requested.length > 0 && { requested, ...rest };
    });
    assert.match(found.requested[0] ?? '', /^1\.1\.0@sha256:[0-9a-f]{64}$/);
    assert.equal(problemSchema.parse(found.problem).code, 'NotFound');
    await world.waitForImage('web', `${world.quiet.host}/shop/web:1.1.0`);
    const later = await waitFor('the approval to be recorded', async () => {
      const { happened } = (await client.run(service.operationsUrl, token, world.namespace)) as Printed;
      return happened.length > 0 && happened;
    });
    assert.deepEqual(later, ['approve: asked by a program']);
  });
});

/** What the program prints. */
interface Printed {
  readonly requested: readonly string[];
  readonly problem: unknown;
  readonly happened: readonly string[];
}
