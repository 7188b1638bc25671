/** Two applications with staging and production are pushed at random, bad images and tags that move among them, while everything is killed. Watches see each change. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createRandom } from '../../bench/fuzz/random.ts';
import { connectWorker, type RedisConnection } from '../../src/service/queue/connection.ts';
import { eventKeys, type PushRecord, readHash } from '../../src/service/queue/event-record.ts';
import type { PolicyResult } from '../../src/service/queue/event-log.ts';
import { waitFor } from '../harness/wait-for.ts';
import { changesIn, rollbacksIn, whyUnproven, whyWrong } from './environments-log.ts';
import { moments, type Scene } from './environments-moments.ts';
import { drawPushes, lines, type EnvironmentsWorld, type Line, type Push, startEnvironments } from './environments-world.ts';
import { eachOf, shuffle } from './fleet.ts';

const seed = 20261129;
/** Each moment is there once. */
const rounds = Object.keys(moments).length;
const ofRound = 10;

describe('environments', () => {
  let env: EnvironmentsWorld;
  let redis: RedisConnection;
  before(async () => {
    env = await startEnvironments();
    redis = connectWorker(env.world.redis.url);
  });
  after(async () => {
    redis.disconnect();
    await env.stop();
  });

  const random = createRandom(seed);
  /** Pushes images one after the other, and tells of them in any order, more than once, and with digests that their tags do not have any more. */
  const pushAll = async (pushes: readonly Push[]) => {
    const announced: (readonly [Push, string | undefined])[] = [];
    for (const push of pushes) {
      const digest = await env.push(push);
      const again = random.chance(0.3) ? [[push, random.chance(0.5) ? digest : undefined] as const] : [];
      announced.push([push, digest], ...again);
    }
    await eachOf(shuffle(announced, random.below), ([push, digest]) => env.deliver(push, digest));
  };
  /** A round of pushes to a line; returns the digest that its staging has to come to. */
  const pushRound = async (line: Line, round: number): Promise<string> => {
    const pushes = drawPushes(line, round, ofRound, random);
    const half = random.below(pushes.length - 1) + 1;
    await pushAll(pushes.slice(0, half));
    const middle = pushes[half - 1];
    // Staging has the time to roll back what is bad.
    if (middle?.isBad) await env.waitForState('staging to leave a bad one', () => !env.bad.has(env.log.now(line.staging)?.digest ?? ''));
    await pushAll(pushes.slice(half));
    const last = pushes.at(-1);
    return env.tags.get(`${line.name}:${last?.tag}`) ?? assert.fail();
  };
  /** Where a moment happens. */
  const sceneOf = (line: Line, round: number, digest: string): Scene => {
    const production = random.pick(Object.keys(line.followers)) ?? assert.fail();
    let next = 100;
    const own = (): Push => {
      const content = `${round}.${next++}`;
      return { line, tag: line.name === 'tip' ? line.tag : `1.${content}`, content, isBad: false };
    };
    return {
      env,
      line,
      production,
      digest,
      async pushNext(isBad = false) {
        const push = { ...own(), isBad };
        const pushed = await env.push(push);
        await env.deliver(push, pushed);
        return pushed;
      },
      async moveTag() {
        const [name = ''] = [...env.tags].find(([key, value]) => key.startsWith(`${line.name}:`) && value === digest) ?? [];
        return env.push({ ...own(), tag: name.split(':')[1] ?? '' });
      },
    };
  };

  it(`run only images that are proven, over ${2 * rounds * ofRound} pushes`, async (t) => {
    const names = Object.keys(moments);
    for (let round = 1; round <= rounds; round++) {
      const before = env.accepted.size;
      const victims = random.pick([[...env.workers], [env.workers[round % 2] ?? env.receiver], [env.receiver, ...env.workers]]) ?? [];
      const count = random.below(ofRound);
      const pushing = Promise.all(lines.map((line) => pushRound(line, round)));
      await env.waitForState('some pushes to be accepted', () => env.accepted.size > before + count);
      await env.kill(victims);
      const digests = await pushing;
      for (const [index, line] of lines.entries()) await env.waitForHealthy(line.staging, digests[index] ?? '');
      const line = lines[round % 2] ?? lines[0];
      const name = names[(round - 1) % names.length] ?? '';
      const scene = sceneOf(line, round, digests[round % 2] ?? '');
      t.diagnostic(`${Math.round(performance.now() / 1000)} s: ${name}, ${scene.production}`);
      await moments[name]?.(scene);
      assertNoProblems();
    }
    for (const line of lines) {
      const digest = await sceneOf(line, rounds + 1, '').pushNext();
      for (const name of [line.staging, ...Object.keys(line.followers)]) await env.waitForHealthy(name, digest);
    }
    const ends = await waitForEnds();
    assertNoProblems();
    const undone = lines.flatMap(({ staging }) => rollbacksIn(env.log.statesOf(staging)));
    const promoted = lines.flatMap(({ followers }) => Object.keys(followers).flatMap((name) => changesIn(env.log.statesOf(name))));
    t.diagnostic(`${env.countPushes()} pushes, ${env.accepted.size} accepted, ${undone.length} rolled back, ${promoted.length} promoted`);
    t.diagnostic(`ended as ${ends.join(', ')}`);
    // What did not happen shows nothing. A bad one that is replaced soon enough is not rolled back; in two moments one surely is, and each follower comes to the last image.
    const followers = lines.flatMap((line) => Object.keys(line.followers));
    assert.ok(undone.length >= 2 && promoted.length >= followers.length, 'there is something to see');
  });

  const assertNoProblems = () => {
    assert.equal(env.log.error(), undefined);
    assert.deepEqual(lines.flatMap(problemsOf), []);
  };

  /** What is wrong in what the watches have seen of a line. */
  const problemsOf = ({ name: line, staging, followers }: Line): string[] => {
    const { log } = env;
    const staged = log.statesOf(staging);
    const undone = rollbacksIn(staged);
    const promises = Object.entries(followers).flatMap(([name, { follows, forMs }]) =>
      changesIn(log.statesOf(name)).flatMap(({ to }) => {
        const unproven = follows.flatMap((one) => {
          const why = whyUnproven(to, log.statesOf(one), forMs);
          return why === undefined ? [] : [`${name} got ${to.digest}, of ${one}: ${why}`];
        });
        const wasUndone = undone.some(({ digest, gone }) => digest === to.digest && gone.revision < to.revision);
        return [...unproven, ...(wasUndone ? [`${name} got ${to.digest}, which was rolled back`] : [])];
      }),
    );
    const again = undone.flatMap(({ digest, gone }) =>
      changesIn(staged).some(({ to }) => to.digest === digest && to.revision > gone.revision) ? [`${staging} got ${digest} again`] : [],
    );
    const seenUntil = log.seenUntil();
    const wrong = [staging, ...Object.keys(followers)].flatMap((name) =>
      log.claimsOf(name).flatMap((claim) => {
        if (claim.revision > seenUntil) return [];
        const why = whyWrong(claim, log.statesOf(name));
        return why === undefined ? [] : [`${line}: ${name} ${why}`];
      }),
    );
    return [...promises, ...again, ...new Set(wrong)];
  };

  /** Each accepted push has a last result of each policy, with a reason. */
  const waitForEnds = async (): Promise<string[]> => {
    const keys = eventKeys('{image-watcher}');
    const ends = new Set<string>();
    for (const id of env.accepted) {
      const record = await waitFor(`the push ${id} to have an end`, async () => {
        const found = readHash(await redis.hgetall(keys.hash(id)));
        return found !== undefined && found.state !== 'ignored' && isOver(found) && found;
      });
      for (const result of record.results.values()) {
        ends.add(`${result?.kind} ${result?.reason}`);
        assert.ok(result?.reason && result.message, `${id} says why`);
      }
    }
    return [...ends].toSorted();
  };
});

/** Whether each policy has a result for the push that is its last. */
function isOver({ state, results }: PushRecord): boolean {
  // What was proven later has ended the wait of what was not.
  const isLast = ({ kind, reason }: PolicyResult) => (kind === 'waiting' ? reason === 'NotProven' : kind !== 'retrying');
  return state === 'matched' && [...results.values()].every((result) => result !== undefined && isLast(result));
}
