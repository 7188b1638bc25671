/** Pushes that go on for long: what is used must not grow with them. */
import { readdirSync, readFileSync } from 'node:fs';
import { pushImage } from '../../test/harness/push-image.ts';
import { askRedis } from '../../test/harness/redis.ts';
import { deliverUntilAccepted, harborBody, type Service, type World } from '../../test/end-to-end/world.ts';

interface Usage {
  readonly rssMib: number;
  readonly files: number;
  readonly keys: number;
}

/** After the first third caches are warm; from there to the end no more than this may be added. */
const allowed: Usage = { rssMib: 60, files: 50, keys: 2_500 };
const apps = 20;

/** Runs for some minutes; returns what grew. */
export async function soak(world: World, services: readonly Service[], minutes: number, say: (line: string) => void): Promise<string[]> {
  const { host } = world.quiet;
  const names = Array.from({ length: apps }, (_, index) => `soak-${index}`);
  for (const name of names) {
    await pushImage({ host, repository: `soak/${name}`, tag: '1.0.0' });
    await world.createDeployment(name, `${host}/soak/${name}:1.0.0`);
    await world.createPolicy(name, `${host}/soak/${name}`, { strategy: 'SemVer' });
    await world.waitForFirstLook(name);
  }
  const [receiver] = services;
  if (receiver === undefined) throw new Error('there is no receiver');
  const end = performance.now() + minutes * 60_000;
  const warm = performance.now() + minutes * 20_000;
  let early: Usage[] | undefined;
  let version = 0;
  while (performance.now() < end) {
    version++;
    for (const name of names) {
      const tag = `1.0.${version}`;
      await pushImage({ host, repository: `soak/${name}`, tag, content: tag });
      await deliverUntilAccepted(harborBody(host, `soak/${name}`, [{ tag }]), receiver);
      await deliverUntilAccepted(harborBody(host, 'soak/unwatched', [{ tag: `${name}-${version}` }]), receiver);
    }
    for (const name of names) await world.waitForImage(name, `${host}/soak/${name}:1.0.${version}`, 60_000);
    if (early === undefined && performance.now() > warm) early = await measureAll(world, services, say, version);
  }
  const late = await measureAll(world, services, say, version);
  return services.flatMap((_service, index) => growthOf(early?.[index], late[index], index));
}

async function measureAll(world: World, services: readonly Service[], say: (line: string) => void, version: number): Promise<Usage[]> {
  // What was done leaves its trace for an hour: that is no growth of what is idle.
  const all = Number(/:(\d+)/.exec(await askRedis(world.redis.port, 'DBSIZE'))?.[1] ?? 0);
  const completed = await Promise.all(
    ['push', 'policy'].map((queue) => askRedis(world.redis.port, `ZCARD {image-watcher}:${queue}:completed`)),
  );
  const watched = Number(/:(\d+)/.exec(await askRedis(world.redis.port, 'ZCARD {image-watcher}:events'))?.[1] ?? 0);
  const keys = all - watched - completed.reduce((sum, reply) => sum + Number(/:(\d+)/.exec(reply)?.[1] ?? 0), 0);
  return services.map(({ pid }, index) => {
    const rssMib = Math.round(Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1_024);
    const files = readdirSync(`/proc/${pid}/fd`).length;
    say(
      `after ${version} rounds of ${2 * apps} pushes, process ${index}: ${rssMib} MiB, ${files} files and sockets; ${keys} keys in Redis`,
    );
    return { rssMib, files, keys };
  });
}

function growthOf(early: Usage | undefined, late: Usage | undefined, index: number): string[] {
  if (early === undefined || late === undefined) return ['the soak was too short to compare anything'];
  return (['rssMib', 'files', 'keys'] as const)
    .filter((what) => late[what] - early[what] > allowed[what])
    .map((what) => `process ${index}: ${what} grew from ${early[what]} to ${late[what]}`);
}
