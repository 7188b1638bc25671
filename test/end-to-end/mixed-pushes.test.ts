/** Images and charts are pushed to the same repositories and to separate ones, while the service is killed at the worst moments. Watches see each change of each target. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { createRandom } from '../../bench/fuzz/random.ts';
import { connectWorker, type RedisConnection } from '../../src/service/queue/connection.ts';
import { eventKeys, type PushRecord, readHash } from '../../src/service/queue/event-record.ts';
import { type KubeProxy, startKubeProxy } from '../harness/kube-proxy.ts';
import { tempFolder } from '../harness/temp-folder.ts';
import { waitFor } from '../harness/wait-for.ts';
import { writeKubeconfig } from '../service/kube/fake-api-server.ts';
import { startChartWorld } from './chart-world.ts';
import { eachOf } from './fleet.ts';
import {
  type Artifact,
  artifactsOfRound,
  compareVersions,
  deliveriesOf,
  type Delivery,
  first,
  type Kind,
  push,
  repositories,
} from './mixed-pushes.ts';
import { createTargets, followTargets, newestFor, selects, type Target, targets } from './mixed-targets.ts';
import { secret, type Service, type World } from './world.ts';

const seed = 20261129;
const [rounds, pushes] = [8, 200];
const targetPath = /\/(?:deployments|applications|ocirepositories|helmreleases)\//;
const statusPath = /imagepolicies\/[^/]+\/status/;
/** How a push may end for a policy. A push of an older version, or of a tag that is not there, is ended before its kind matters. */
const ends = {
  own: ['updated Updated', 'unchanged UpToDate', 'unchanged Retagged', 'unchanged OlderThanRunning'],
  other: ['ignored NotAnImage', 'ignored OtherArtifact', 'unchanged OlderThanRunning'],
  none: ['ignored TagNotFound', 'unchanged OlderThanRunning'],
};

interface Moment {
  readonly isReached: () => boolean;
  readonly heal: () => void;
  /** Whether it lets go only when the next process has done all that it was told of. */
  readonly isHealedLast?: boolean;
}

describe('pushes of images and of charts', () => {
  let world: World;
  let proxy: KubeProxy;
  let service: Service;
  let redis: RedisConnection;
  let held: Awaited<ReturnType<typeof followTargets>>;
  /** All that was pushed, with its digest. */
  const pushed = new Map<Artifact, string>();
  /** Those of them of which a sender has told. */
  const announced = new Map<Artifact, string>();
  /** The ids of the pushes that were accepted, and what they are about. */
  const accepted = new Map<string, Artifact | undefined>();

  before(async () => {
    world = await startChartWorld(['application', 'ocirepository', 'helmrelease', 'helmrepository']);
    proxy = await startKubeProxy(world.cluster, world.kubeconfig);
    const tokenFile = join(tempFolder('token'), 'token');
    writeFileSync(tokenFile, 'first');
    proxy.tokens.add('first');
    redis = connectWorker(world.redis.url);
    service = await world.start({ kubeconfig: writeKubeconfig(proxy.server, { tokenFile }) });
    const atStart = Object.keys(repositories).flatMap((repository) =>
      (Object.entries(first) as [Kind, string][]).map(([kind, version]) => ({ repository, kind, version })),
    );
    for (const artifact of atStart) pushed.set(artifact, await push(world.quiet.host, artifact));
    for (const [artifact, digest] of pushed) announced.set(artifact, digest);
    await createTargets(world, pushed);
    held = await followTargets(world);
  });
  after(async () => {
    held.stop();
    redis.disconnect();
    await world.stop();
    await proxy.stop();
  });

  const deliverOnce = async ({ receiver, body, about }: Delivery): Promise<boolean> => {
    const authorization = receiver === 'harbor' ? secret : `Bearer ${secret}`;
    const response = await fetch(`${service.publicUrl}/webhooks/${receiver}`, { method: 'POST', headers: { authorization }, body });
    const answer = (await response.json()) as { accepted?: { id: string }[] };
    for (const { id } of answer.accepted ?? []) {
      accepted.set(id, about);
      if (about !== undefined) announced.set(about, pushed.get(about) ?? '');
    }
    return response.ok;
  };
  const deliver = async (delivery: Delivery) => {
    await waitFor('the delivery to be answered', () => deliverOnce(delivery).catch(() => false), { intervalMs: 50 });
  };

  /** When the service is killed: each holds something up, and says when the moment is there, and what lets go of it. */
  const moments: Readonly<Record<string, () => Moment>> = {
    'between acceptance and patch': () => {
      world.quiet.freeze();
      const before = accepted.size;
      return { isReached: () => accepted.size > before + 3, heal: () => world.quiet.thaw() };
    },
    'with patches on their way': () => {
      const { promise, resolve } = Promise.withResolvers<void>();
      const before = proxy.requests.length;
      proxy.spoil({ after: promise }, { method: 'PATCH', path: targetPath, times: 2 });
      const isPatch = (request: string) => request.startsWith('PATCH') && targetPath.test(request);
      return { isReached: () => proxy.requests.slice(before).some(isPatch), heal: resolve, isHealedLast: true };
    },
    'between patch and status': () => {
      const { promise, resolve } = Promise.withResolvers<void>();
      const before = held.countValues();
      proxy.spoil({ after: promise }, { method: 'PATCH', path: statusPath, times: 1_000_000 });
      return { isReached: () => held.countValues() > before, heal: resolve };
    },
    'before it hears that its patches arrived': () => {
      const before = held.countValues();
      proxy.spoil({ loseAnswer: true }, { method: 'PATCH', path: targetPath, times: 2 });
      return { isReached: () => held.countValues() > before, heal: () => {} };
    },
  };

  const readRecord = async (id: string) => {
    const record = readHash(await redis.hgetall(eventKeys('{image-watcher}').hash(id)));
    return record !== undefined && record.state !== 'ignored' && isOver(record) ? record : undefined;
  };

  it(`are not confused, lost or applied after newer ones: ${pushes} random pushes with kills`, async (t) => {
    const random = createRandom(seed);
    const names = Object.keys(moments);
    let late: readonly Delivery[] = [];
    for (let round = 1; round <= rounds; round++) {
      const digests = new Map<Artifact, string>();
      const artifacts = artifactsOfRound(round, pushes / rounds, random);
      await eachOf(artifacts, async (artifact) => void digests.set(artifact, await push(world.quiet.host, artifact)));
      for (const [artifact, digest] of digests) pushed.set(artifact, digest);
      const deliveries = [...late, ...deliveriesOf(world.quiet.host, digests, random)];
      // Some are sent only when others speak of newer versions.
      const isLate = new Set(round < rounds ? deliveries.filter(() => random.chance(0.1)) : []);
      late = [...isLate];
      const name = names[(round - 1) % names.length] ?? '';
      const { isReached, heal, isHealedLast = false } = moments[name]?.() ?? assert.fail(name);
      const sending = eachOf(
        deliveries.filter((delivery) => !isLate.has(delivery)),
        deliver,
      );
      await waitFor(`the moment ${name}`, isReached, { intervalMs: 1 });
      t.diagnostic(`kill -9 ${name}`);
      await service.kill9();
      const starting = service.restart();
      if (random.chance(0.5)) await starting;
      if (!isHealedLast) heal();
      proxy.heal();
      await Promise.all([starting, sending]);
      // The patches of the dead process arrive when newer ones are applied already.
      if (isHealedLast) await waitForNewest();
      heal();
      for (const target of targets) assertOwn(target);
    }
    await waitForNewest();
    for (const [id, about] of accepted) {
      const record = await waitFor(`the push ${id} to have an end`, () => readRecord(id));
      for (const [name, result] of record.results) {
        const target = targets.find((one) => `${world.namespace}/${one.name}` === name) ?? assert.fail(name);
        const allowed = about === undefined ? ends.none : selects(target, about) ? ends.own : ends.other;
        assert.ok(allowed.includes(`${result?.kind} ${result?.reason}`), `${name}: ${JSON.stringify(about)} ended as ${result?.reason}`);
        assert.ok(result?.message, `${name} says why`);
      }
    }
    assert.equal(held.error(), undefined);
    for (const target of targets) {
      const values = held.seen.get(target.name) ?? [];
      t.diagnostic(`${target.name}: ${values.map((value) => value.split('@')[0]).join(', ')}`);
      assertOwn(target);
      await assertHistory(target, values);
    }
  });

  const waitForNewest = async () => {
    for (const target of targets) {
      const newest = newestFor(target, announced);
      // A look at all tags may have found a newer one that nobody has told of yet.
      await waitFor(`${target.name} to hold ${newest}`, () => compareVersions(held.seen.get(target.name)?.at(-1) ?? '0.0.0', newest) >= 0);
    }
  };
  /** Each value that a target held was an artifact of its own kind, with the digest of its tag, and higher than the one before. */
  const assertOwn = (target: Target) => {
    const values = held.seen.get(target.name) ?? [];
    for (const [index, value] of values.entries()) {
      const [tag, digest] = value.split('@');
      const found = [...pushed].find(([one]) => one.version === tag && selects(target, one));
      assert.ok(found, `${target.name} held ${value}`);
      if (digest !== undefined) assert.equal(digest, found[1], `${target.name} held ${value}`);
      const before = values[index - 1] ?? '0.0.0';
      assert.ok(compareVersions(before, value) < 0, `${target.name} went from ${before} to ${value}`);
    }
  };
  /** The status tells of the last changes, also of those that the killed processes made. */
  const assertHistory = async ({ name }: Target, values: readonly string[]) => {
    const last = values
      .slice(1)
      .map((value) => value.split('@')[0])
      .slice(-10);
    await waitFor(`the history of ${name} to have ${last.join(', ')}`, async () => {
      const { history = [] } = await world.readStatus(name);
      const told = history.flatMap(({ tag }) => (tag === undefined ? [] : [tag])).toSorted(compareVersions);
      return told.join() === last.join();
    });
  };
});

/** Whether each policy has a result for the push that is its last. */
function isOver({ state, results }: PushRecord): boolean {
  const isLast = (kind: string | undefined) => kind !== undefined && kind !== 'retrying' && kind !== 'waiting';
  return state === 'matched' && [...results.values()].every((result) => isLast(result?.kind));
}
