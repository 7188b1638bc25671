import assert from 'node:assert/strict';
import { request } from 'node:http';
import { after, before, describe, it } from 'node:test';
import { createRandom } from '../../bench/fuzz/random.ts';
import { type OwnControlPlane, startControlPlane } from '../harness/control-plane.ts';
import { pushImage } from '../harness/push-image.ts';
import { waitFor } from '../harness/wait-for.ts';
import { post as postReview, reviewOf } from './conversion-world.ts';
import { createFleet, eachOf, shuffle } from './fleet.ts';
import { storm, victimsOf } from './storm.ts';
import { deliverUntilAccepted, harborBody, secret, startWorld, type Service, type World } from './world.ts';

/** Who dies when. The long form with a seed of its own is `npm run bench -- faults`. */
const seed = 20261121;

describe('two receivers and two workers under fire', () => {
  let cluster: OwnControlPlane;
  let world: World;
  let receivers: Service[];
  let workers: Service[];
  before(async () => {
    cluster = await startControlPlane({ fsync: false });
    world = await startWorld({ cluster });
    receivers = await Promise.all([world.start({ roles: 'receive' }), world.start({ roles: 'receive' })]);
    workers = await Promise.all([world.start({ roles: 'work' }), world.start({ roles: 'work' })]);
  });
  after(() => world.stop());

  it('kill -9 of each of them, of Redis, registry, API server and etcd: every accepted push takes effect once', async (t) => {
    const victims = victimsOf(world, cluster, receivers, workers);
    const options = { world, receivers, victims, random: createRandom(seed), size: 48, kills: victims.length };
    await storm({ ...options, onKill: (names) => t.diagnostic(`kill -9 ${names.join(', ')}`) });
  });

  it('SIGTERM of each process of all roles in turn: no request is refused, and nothing is lost', async () => {
    const converters = await Promise.all([world.start({ roles: 'convert' }), world.start({ roles: 'convert' })]);
    const fleet = await createFleet(world, 'rolling', 42);
    const rotation = new Set([...receivers, ...converters]);
    const answers: string[] = [];
    const review = reviewOf(3);
    let turn = 0;
    const nextReplica = (replicas: readonly Service[]) => {
      const open = replicas.filter((service) => rotation.has(service));
      return open[turn++ % open.length] ?? assert.fail('nobody is left');
    };
    const deliver = async (body: string) => {
      let status = await post(nextReplica(receivers), body);
      // Of a Redis that is too slow for the time that a sender is given: no matter of who ends.
      while (status === 503) status = await post(nextReplica(receivers), body);
      answers.push(`webhook ${status}`);
    };
    const convert = async () => void answers.push(`review ${(await postReview(nextReplica(converters).conversionUrl, review)).status}`);
    const all = [...receivers, ...workers, ...converters];
    for (const [index, leaving] of all.entries()) {
      const share = fleet.deliveries.filter((_body, position) => position % all.length === index);
      const before = answers.length;
      const sending = Promise.all([eachOf(share, deliver), eachOf(Array.from({ length: 8 }), convert)]);
      // As Kubernetes does: no new connections to who is leaving, what is open is answered.
      await waitFor('some answers', () => answers.length > before, { intervalMs: 1 });
      const isInFront = rotation.delete(leaving);
      await leaving.restart();
      if (isInFront) rotation.add(leaving);
      await sending;
    }
    assert.deepEqual([...new Set(answers)].toSorted(), ['review 200', 'webhook 202']);
    await fleet.assertPatchedOnce();
  });

  it('pushes of one repository, ten times each and in any order: the highest is applied, and never a lower one', async (t) => {
    const random = createRandom(seed);
    const { host } = world.quiet;
    const tags = Array.from({ length: 9 }, (_, index) => `1.0.${index + 1}`);
    const push = (tag: string) => pushImage({ host, repository: 'shop/shuffled', tag, content: tag });
    await push('1.0.0');
    await world.createDeployment('shuffled', `${host}/shop/shuffled:1.0.0`);
    await world.createPolicy('shuffled', `${host}/shop/shuffled`, { strategy: 'SemVer' });
    await world.waitForFirstLook('shuffled');
    for (const tag of tags) await push(tag);
    const deliveries = tags.flatMap((tag) => Array.from({ length: 10 }, () => harborBody(host, 'shop/shuffled', [{ tag }])));
    await eachOf(shuffle(deliveries, random.below), (body) => deliverUntilAccepted(body, random.pick(receivers) ?? assert.fail()));
    await world.waitForImage('shuffled', `${host}/shop/shuffled:1.0.9`);
    // Who lost the race against a higher one may tell of his change after it.
    const { history = [] } = await waitFor('all changes to be in the history', async () => {
      const [status, { metadata }] = await Promise.all([world.readStatus('shuffled'), world.readDeployment('shuffled')]);
      return status.history?.length === metadata.generation - 1 && status;
    });
    t.diagnostic(history.map(({ from, to }) => `${from?.slice(-5)} → ${to.slice(-5)}`).join(', '));
    for (const { from = '', to } of history) assert.ok(from < to, `${from} → ${to}`);
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
