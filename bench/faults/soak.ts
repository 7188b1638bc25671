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

/** In the last third no more than this may be added to the most that was used before: garbage is collected when it suits, so that the least says nothing. */
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
  const began = performance.now();
  const passed = () => (performance.now() - began) / (minutes * 60_000);
  const thirds: Usage[][][] = [[], [], []];
  let version = 0;
  for (let told = 0; passed() < 1;) {
    version++;
    for (const name of names) {
      const tag = `1.0.${version}`;
      await pushImage({ host, repository: `soak/${name}`, tag, content: tag });
      await deliverUntilAccepted(harborBody(host, `soak/${name}`, [{ tag }]), receiver);
      await deliverUntilAccepted(harborBody(host, 'soak/unwatched', [{ tag: `${name}-${version}` }]), receiver);
    }
    for (const name of names) await world.waitForImage(name, `${host}/soak/${name}:1.0.${version}`);
    const usages = await measureAll(world, services);
    thirds[Math.min(2, Math.floor(passed() * 3))]?.push(usages);
    if (passed() * 10 < told) continue;
    told = Math.floor(passed() * 10) + 1;
    say(`${version} rounds of ${2 * apps} pushes; ${usages.map(format).join(' · ')}; ${usages[0]?.keys} keys in Redis`);
  }
  const [before = [], between = [], last = []] = thirds;
  return services.flatMap((_service, index) => growthOf(mostOf([...before, ...between], index), mostOf(last, index), index));
}

async function measureAll(world: World, services: readonly Service[]): Promise<Usage[]> {
  // What was done leaves its trace for an hour: that is no growth of what is idle.
  const all = Number(/:(\d+)/.exec(await askRedis(world.redis.port, 'DBSIZE'))?.[1] ?? 0);
  const completed = await Promise.all(
    ['push', 'policy'].map((queue) => askRedis(world.redis.port, `ZCARD {image-watcher}:${queue}:completed`)),
  );
  const watched = Number(/:(\d+)/.exec(await askRedis(world.redis.port, 'ZCARD {image-watcher}:events'))?.[1] ?? 0);
  const keys = all - watched - completed.reduce((sum, reply) => sum + Number(/:(\d+)/.exec(reply)?.[1] ?? 0), 0);
  return services.map(({ pid }) => {
    const rssMib = Math.round(Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1_024);
    return { rssMib, files: readdirSync(`/proc/${pid}/fd`).length, keys };
  });
}

function format({ rssMib, files }: Usage): string {
  return `${rssMib} MiB, ${files} files and sockets`;
}

/** The most of each, of one process. */
function mostOf(rounds: readonly (readonly Usage[])[], index: number): Usage | undefined {
  const usages = rounds.flatMap((all) => all[index] ?? []);
  if (usages.length === 0) return undefined;
  const most = (what: keyof Usage) => Math.max(...usages.map((usage) => usage[what]));
  return { rssMib: most('rssMib'), files: most('files'), keys: most('keys') };
}

function growthOf(early: Usage | undefined, late: Usage | undefined, index: number): string[] {
  if (early === undefined || late === undefined) return ['the soak was too short to compare anything'];
  return (['rssMib', 'files', 'keys'] as const)
    .filter((what) => late[what] - early[what] > allowed[what])
    .map((what) => `process ${index}: ${what} grew from ${early[what]} to ${late[what]}`);
}
