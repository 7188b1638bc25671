/** Replications and scans, as Harbor announces them: with and without a push event beside them, and in projects that forbid pulling an image before it is scanned. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { pushImage } from '../harness/push-image.ts';
import { waitFor } from '../harness/wait-for.ts';
import { assertPatchedTimes, harborBody, secret, startWorld, type Service, type World } from './world.ts';

const any = { strategy: 'SemVer' } as const;

describe('Harbor', () => {
  let world: World;
  let service: Service;
  before(async () => {
    world = await startWorld();
    const receiver = { provider: 'harbor', secrets: [{ env: 'WEBHOOK_SECRET' }] };
    const receivers = [
      { ...receiver, name: 'harbor' },
      { ...receiver, name: 'scanning', waitForScan: true },
    ];
    service = await world.start({ config: { receivers } });
  });
  after(() => world.stop());

  const image = (name: string, tag: string) => `${world.quiet.host}/shop/${name}:${tag}`;
  const push = async (name: string, tag: string): Promise<string> =>
    (await pushImage({ host: world.quiet.host, repository: `shop/${name}`, tag, content: `${name} ${tag}` })).digest;
  const announcePush = (name: string, tag: string, digest: string) => harborBody(world.quiet.host, `shop/${name}`, [{ tag, digest }]);
  const announceScan = (name: string, digest: string, end = 'COMPLETED') =>
    JSON.stringify({
      type: `SCANNING_${end}`,
      occur_at: 1_700_000_000,
      event_data: {
        resources: [{ digest, resource_url: `${world.quiet.host}/shop/${name}@${digest}` }],
        repository: { name, namespace: 'shop', repo_full_name: `shop/${name}` },
      },
    });
  const announceReplication = (name: string, tag: string) =>
    JSON.stringify({
      type: 'REPLICATION',
      occur_at: 1_700_000_000,
      event_data: {
        replication: {
          job_status: 'Success',
          dest_resource: { registry_type: 'harbor', endpoint: `http://${world.quiet.host}`, namespace: 'shop' },
          successful_artifact: [{ type: 'image', status: 'Success', name_tag: `${name} [1 item(s) in total]`, references: [tag] }],
        },
      },
    });
  const deliver = async (receiver: string, body: string): Promise<string | undefined> => {
    const headers = { 'Content-Type': 'application/json', Authorization: secret };
    const response = await fetch(`${service.publicUrl}/webhooks/${receiver}`, { method: 'POST', headers, body });
    assert.ok(response.ok, String(response.status));
    return ((await response.json()) as { accepted: { id: string }[] }).accepted[0]?.id;
  };
  const eventOf = async (id: string | undefined) => {
    const headers = { authorization: `Bearer ${world.cluster.token}` };
    const response = await fetch(`${service.operationsUrl}/api/v1/events/${id}`, { headers });
    return (await response.json()) as { outcome?: string; reason?: string; message?: string };
  };
  const untilOver = (...ids: (string | undefined)[]) =>
    waitFor('the pushes to be over', async () => {
      const outcomes = await Promise.all(ids.map(async (id) => (await eventOf(id)).outcome ?? ''));
      return outcomes.every((outcome) => ['updated', 'unchanged'].includes(outcome));
    });
  const runFirst = async (name: string, more: object = {}) => {
    await push(name, '1.0.0');
    await world.createDeployment(name, image(name, '1.0.0'));
    await world.createPolicy(name, `${world.quiet.host}/shop/${name}`, any, more);
    await world.waitForFirstLook(name);
    return push(name, '1.1.0');
  };

  it('that announces a replication but no push causes the image to be updated', async () => {
    await runFirst('alone');
    await deliver('harbor', announceReplication('alone', '1.1.0'));
    await world.waitForImage('alone', image('alone', '1.1.0'));
  });

  it('that announces a replication and its push causes one update of the image', async () => {
    const digest = await runFirst('both');
    const ids = [
      await deliver('harbor', announcePush('both', '1.1.0', digest)),
      await deliver('harbor', announceReplication('both', '1.1.0')),
    ];
    await untilOver(...ids);
    assertPatchedTimes(await world.waitForImage('both', image('both', '1.1.0')), 1);
  });

  for (const end of ['COMPLETED', 'FAILED'])
    it(`that scans images first causes one update when the scan is ${end}, not before, for push and replication together`, async () => {
      const name = `scan-${end.toLowerCase()}`;
      const digest = await runFirst(name);
      const ids = [
        await deliver('scanning', announcePush(name, '1.1.0', digest)),
        await deliver('scanning', announceReplication(name, '1.1.0')),
      ];
      for (const id of ids) {
        const { outcome, reason, message } = await eventOf(id);
        assert.deepEqual([outcome, reason], ['waiting', 'WaitsForScan']);
        assert.match(message ?? '', /end of its scan/);
      }
      assertPatchedTimes(await world.readDeployment(name), 0);
      await deliver('scanning', announceScan(name, digest, end));
      await untilOver(...ids);
      assertPatchedTimes(await world.waitForImage(name, image(name, '1.1.0')), 1);
    });

  it('that announces a scan before the push causes an immediate update of the image', async () => {
    const digest = await runFirst('before');
    await deliver('scanning', announceScan('before', digest));
    await deliver('scanning', announcePush('before', '1.1.0', digest));
    await world.waitForImage('before', image('before', '1.1.0'));
  });

  it('that announces the report of a scan causes a reconcile of the policies that use reports, and no others', async () => {
    const verify = { vulnerabilities: { harbor: true } };
    const digest = await runFirst('asking', { verify, update: { pin: 'Tag' } });
    await runFirst('silent');
    await deliver('harbor', announceScan('asking', digest, 'FAILED'));
    for (const name of ['silent', 'asking']) await deliver('harbor', announceScan(name, digest));
    // The push itself was not announced: only a look at the registry finds it.
    await world.waitForImage('asking', image('asking', '1.1.0'));
    await waitFor('the status to name the cause', async () => {
      const { source, receiver } = (await world.readStatus('asking')).trigger ?? {};
      return source === 'Webhook' && receiver === 'harbor';
    });
    assertPatchedTimes(await world.readDeployment('silent'), 0);
  });

  it('whose scan is not over lets the push wait, also through a restart', async () => {
    const digest = await runFirst('restarted');
    const id = await deliver('scanning', announcePush('restarted', '1.1.0', digest));
    await service.kill9();
    await service.restart();
    assert.equal((await eventOf(id)).outcome, 'waiting');
    await deliver('scanning', announceScan('restarted', digest));
    await world.waitForImage('restarted', image('restarted', '1.1.0'));
  });
});
