import assert from 'node:assert/strict';
import { request } from 'node:http';
import { after, before, describe, it } from 'node:test';
import { createRandom } from '../../bench/fuzz/random.ts';
import { waitFor } from '../harness/wait-for.ts';
import { createFleet, eachOf } from './fleet.ts';
import { storm, victimsOf } from './storm.ts';
import { secret, startWorld, type Service, type World } from './world.ts';

/** The long form is `npm run bench:faults`. */
describe('two receivers and two workers under fire', { timeout: 280_000 }, () => {
  let world: World;
  let receivers: Service[];
  let workers: Service[];
  before(async () => {
    world = await startWorld();
    receivers = await Promise.all([world.start({ roles: 'receive' }), world.start({ roles: 'receive' })]);
    workers = await Promise.all([world.start({ roles: 'work' }), world.start({ roles: 'work' })]);
  });
  after(() => world.stop());

  it('kill -9 of each of them, of Redis, registry, API server and etcd: every accepted push takes effect, once', async (t) => {
    const seed = 20261121;
    const victims = victimsOf(world, receivers, workers);
    const options = { world, receivers, victims, random: createRandom(seed), size: 48, kills: victims.length };
    await storm({ ...options, onKill: (names) => t.diagnostic(`kill -9 ${names.join(', ')}`) });
  });

  it('SIGTERM of each, one after the other: not one request is refused, nothing is lost', async () => {
    const fleet = await createFleet(world, 'rolling', 40);
    const rotation = new Set(receivers);
    const answers: number[] = [];
    let turn = 0;
    const deliver = async (body: string) => {
      const open = [...rotation];
      const receiver = open[turn++ % open.length];
      assert.ok(receiver);
      answers.push(await post(receiver, body));
    };
    const all = [...receivers, ...workers];
    for (const [index, leaving] of all.entries()) {
      const share = fleet.deliveries.filter((_body, position) => position % all.length === index);
      const sending = eachOf(share, deliver);
      // As Kubernetes does: no new connections to who is leaving, what is open is answered.
      await waitFor('some answers', () => answers.length > 0, { intervalMs: 1 });
      rotation.delete(leaving);
      await leaving.restart();
      if (receivers.includes(leaving)) rotation.add(leaving);
      await sending;
    }
    assert.deepEqual([...new Set(answers)], [202]);
    await fleet.assertPatchedOnce();
  });
});

/** On a connection of its own: a proxy's kept-alive ones are another matter. */
function post(service: Service, body: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: secret, 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
    const sent = request(`${service.publicUrl}/webhooks/harbor`, { method: 'POST', agent: false, headers }, (response) => {
      response.resume();
      response.once('end', () => resolve(response.statusCode ?? 0));
    });
    sent.once('error', reject);
    sent.end(body);
  });
}
