/** A hundred random policies live through the same pushes, once in a cluster, and once in a backtest. Both do the same. */
import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { createRandom, type Random } from '../../bench/fuzz/random.ts';
import { assume } from '../../src/cli/backtest/assume.ts';
import type { PastImage } from '../../src/cli/backtest/past-image.ts';
import { play } from '../../src/cli/backtest/play.ts';
import { isUsable } from '../../src/core/model/image-policy.ts';
import { readConfig } from '../../src/service/config/settings.ts';
import { readPolicy } from '../../src/service/resources/read-policy.ts';
import type { Spec } from '../../src/service/resources/v1.ts';
import { pushImage } from '../harness/push-image.ts';
import { eachOf } from './fleet.ts';
import { readContext } from '../harness/resource-group.ts';
import { waitFor } from '../harness/wait-for.ts';
import { deliver, harborBody, startWorld, type Service, type World } from './world.ts';

const seed = 20261130;
const [count, pushes] = [100, 40];
const repository = 'shop/app';
const atStart = ['1.0.0', 'latest', 'main'];

let world: World;
let service: Service;

before(async () => {
  world = await startWorld();
  service = await world.start();
});
after(() => world.stop());

it('backtest finds the images that the service has applied for each policy, in the same order', { timeout: 900_000 }, async (t) => {
  const random = createRandom(seed);
  const { host } = world.quiet;
  const past: PastImage[] = [];
  const push = async (tag: string, created: string) => {
    const { digest } = await pushImage({ host, repository, tag, content: `${tag} ${past.length}`, created });
    const image = {
      repository: { registry: host, path: repository },
      tag,
      digest,
      pushedAt: Date.now(),
      created: new Date(created),
      platforms: ['linux/amd64'],
    };
    past.push(image);
    return image;
  };
  for (const tag of atStart) await push(tag, '2026-01-01T00:00:00Z');
  const specs = new Map(Array.from({ length: count }, (_, index) => [`app-${index}`, randomSpec(random)]));
  const digest = past[0]?.digest ?? '';
  await eachOf([...specs], async ([name, spec]) => {
    await world.createDeployment(name, `${host}/${repository}:1.0.0${spec.update?.pin === 'Digest' ? `@${digest}` : ''}`);
    await world.createPolicy(name, `${host}/${repository}`, { strategy: 'SemVer' }, spec);
  });
  for (const name of specs.keys()) await waitFor(`${name} to be looked at`, async () => (await world.readStatus(name)).observedGeneration);
  const start = Date.now();
  const live = new Map([...specs.keys()].map((name): [string, string[]] => [name, []]));
  const look = async () => {
    await world.waitForIdleWorkers();
    for (const { metadata, spec } of await world.listDeployments())
      live.get(metadata.name)?.push(spec.template.spec.containers[0]?.image ?? '');
  };
  await look();
  for (let index = 0; index < pushes; index++) {
    const pushed = await push(randomTag(random, index), random.pick<string>(times));
    await deliver(service, harborBody(host, repository, [pushed]));
    await look();
    t.diagnostic(`${index + 1} of ${pushes} pushes`);
  }
  const period = { from: start, to: Date.now(), runs: '1.0.0', ...readConfig({ file: undefined, env: {} }).guards };
  const differences: unknown[] = [];
  let changes = 0;
  for (const raw of await world.listPolicies()) {
    const policy = readPolicy(raw, readContext);
    const { spec } = policy;
    if (!isUsable(spec)) throw new Error(JSON.stringify(spec));
    const { decisions } = await play(assume(policy, spec, false).policy, past, period, t.signal);
    const played = [...past.slice(atStart.length).map(({ pushedAt }) => pushedAt), Infinity].map(
      (before) =>
        decisions
          .filter(({ at }) => at < before)
          .flatMap((one) => one.changes)
          .at(-1)?.to,
    );
    const [first, ...seen] = live.get(policy.name) ?? [];
    const expected = [first, ...seen];
    const found = played.map((image) => image ?? `${host}/${repository}:1.0.0${spec.pin === 'Digest' ? `@${digest}` : ''}`);
    changes += seen.filter((image, index) => image !== expected[index]).length;
    const push = found.findIndex((image, index) => image !== expected[index]);
    const pushed = past.slice(atStart.length).map(({ tag }) => tag);
    if (push >= 0) differences.push({ spec: specs.get(policy.name), push, pushed, played: found[push], live: expected[push] });
  }
  assert.deepEqual(differences.slice(0, 3), []);
  t.diagnostic(`${changes} changes`);
  assert.ok(changes > count, `only ${changes} changes`);
});

const times: readonly [string, ...string[]] = [
  '2025-06-01T00:00:00Z',
  '2026-01-02T00:00:00Z',
  '2026-02-01T00:00:00Z',
  '2026-03-01T00:00:00Z',
];

/** A tag, whose numbers rise with the number of pushes, by and large. */
function randomTag(random: Random, index: number): string {
  return random.pick([
    () => `1.${random.below(2 + index / 8)}.${random.below(2 + index / 3)}`,
    () => `1.${random.below(2 + index / 8)}.${random.below(2 + index / 3)}`,
    () => `1.${random.below(3 + index / 8)}.0-rc.${random.below(3)}`,
    () => `build-${random.below(10 + index)}`,
    () => `feature-${random.below(9)}`,
    () => random.pick(['latest', 'main']),
  ])();
}

/** A window that opens in six hours. */
function closedNow(): { from: string; to: string } {
  const hour = String((new Date().getUTCHours() + 6) % 24).padStart(2, '0');
  return { from: `${hour}:00`, to: `${hour}:30` };
}

function randomSpec(random: Random): Partial<Spec> {
  const select: Spec['select'] = random.pick<Spec['select']>([
    { semver: { range: random.pick(['>=1.0', '^1', '~1.2', '*', '>=1.0 <1.3']), prereleases: random.chance(0.3) } },
    { semver: { range: '>=1.0' } },
    { semver: {} },
    { digest: { tag: random.pick(['latest', 'main']) } },
    { newest: {} },
    { alphabetical: {} },
    { numerical: {} },
  ]);
  const isDigest = 'digest' in select;
  const tags =
    'numerical' in select
      ? { allow: '^build-(?P<n>\\d+)$', extract: '$n' }
      : random.pick([undefined, { ignore: ['-rc'] }, { allow: '^[12]\\.' }]);
  return {
    select,
    ...(!isDigest && tags !== undefined && { tags }),
    update: {
      mode: random.chance(0.9) ? 'Automatic' : random.pick(['Approval', 'DryRun']),
      allowDowngrade: random.chance(0.2),
      ...(random.chance(0.1) && { windows: [closedNow()] }),
      ...(isDigest ? { pin: 'Digest' as const } : { pin: random.pick(['Tag', 'Digest']) }),
    },
    ...(random.chance(0.1) && { minAge: '2h' }),
    ...(random.chance(0.2) && { platforms: ['linux/amd64'] }),
  };
}
