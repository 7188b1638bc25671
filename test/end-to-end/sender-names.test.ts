/** Senders that name a repository otherwise than those who pull from it, up to the change of the workload. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { pushImage } from '../harness/push-image.ts';
import { secret, startWorld, type Service, type World } from './world.ts';

describe('names of senders', () => {
  let world: World;
  let service: Service;

  before(async () => {
    world = await startWorld();
    const secrets = [{ env: 'WEBHOOK_SECRET' }];
    const receivers = [
      // The real registry stands for the virtual repository `docker`.
      { name: 'artifactory', provider: 'artifactory', secrets, repositories: { 'docker-local': `${world.quiet.host}/docker` } },
      { name: 'events', provider: 'generic', secrets },
    ];
    service = await world.start({ config: { receivers } });
  });
  after(() => world.stop());

  const rows: [name: string, repository: string, receiver: string, bodyOf: (host: string, digest: string) => unknown][] = [
    [
      'of Artifactory select an OCI image of a local repository that is pulled from a virtual one',
      'docker/team/backend/api',
      'artifactory',
      (_host, digest) => ({
        domain: 'docker',
        event_type: 'pushed',
        data: {
          repo_key: 'docker-local',
          path: 'team/backend/api/1.1.0/manifest.json',
          name: 'manifest.json',
          sha256: digest.replace('sha256:', ''),
          image_name: 'api',
          image_type: 'oci',
          tag: '1.1.0',
          platforms: [],
        },
        jpd_origin: 'https://acme.jfrog.io',
      }),
    ],
    [
      'of CloudEvents select the image of one event of a batch, with the registry in its source',
      'shop/web',
      'events',
      (host) => [
        { specversion: '1.0', id: '1', source: '/ci', type: 'ci.started', data: { run: 7 } },
        { specversion: '1.0', id: '2', source: `http://${host}/shop`, type: 'ci.pushed', data: { repository: 'shop/web', tag: '1.1.0' } },
      ],
    ],
  ];
  for (const [index, [title, repository, receiver, bodyOf]] of rows.entries()) {
    it(title, async () => {
      const { host } = world.quiet;
      const name = `app-${index}`;
      await pushImage({ host, repository, tag: '1.0.0', content: `${name} 1.0.0` });
      await world.createDeployment(name, `${host}/${repository}:1.0.0`);
      await world.createPolicy(name, `${host}/${repository}`, { strategy: 'SemVer' });
      await world.waitForFirstLook(name);
      const { digest } = await pushImage({ host, repository, tag: '1.1.0', content: `${name} 1.1.0` });
      const response = await fetch(`${service.publicUrl}/webhooks/${receiver}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${secret}`, 'x-jfrog-event-auth': secret },
        body: JSON.stringify(bodyOf(host, digest)),
      });
      assert.equal(response.status, 202, await response.text());
      await world.waitForImage(name, `${host}/${repository}:1.1.0`);
    });
  }
});
