/** What traces cost: the same pushes with traces off and on, in turns, on real servers: `npm run bench -- traces`. */
import { setTimeout as delay } from 'node:timers/promises';
import { startControlPlane } from '../test/harness/control-plane.ts';
import { startCollector } from '../test/harness/otlp-collector.ts';
import { pushImage } from '../test/harness/push-image.ts';
import { deliver, harborBody, startWorld, type Service } from '../test/end-to-end/world.ts';

const rounds = 3;
const pushes = 60;
/** The first ones warm up. */
const ignored = 10;

interface Figures {
  readonly answerMs: number[];
  readonly patchMs: number[];
  /** Of the service, for one push: the figure that other work on the machine disturbs least. */
  readonly cpuMs: number[];
  readonly rssMb: number[];
}

const world = await startWorld({ cluster: await startControlPlane(), fsync: true });
const collector = await startCollector();
const { host } = world.quiet;
const repository = 'shop/traced';

async function read(service: Service, name: string): Promise<number> {
  const text = await (await fetch(`${service.operationsUrl}/metrics`)).text();
  return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1] ?? 0);
}

async function run(round: number, traces: object | undefined, { answerMs, patchMs, cpuMs, rssMb }: Figures): Promise<void> {
  const service = await world.start({ env: { WEBHOOK_SECRET: 'end-to-end-secret', LOG_LEVEL: 'info' }, config: traces ? { traces } : {} });
  const figures = (what: string) => read(service, `image_watcher_push_to_patch_seconds_${what}`);
  let cpuSeconds = 0;
  for (let index = 0; index < pushes + ignored; index++) {
    if (index === ignored) cpuSeconds = await read(service, 'process_cpu_seconds_total');
    const tag = `1.${round * 2 + (traces ? 1 : 0)}.${index}`;
    await pushImage({ host, repository, tag, content: tag });
    const before = await figures('sum');
    const began = performance.now();
    await deliver(service, harborBody(host, repository, [{ tag }]));
    const answered = performance.now() - began;
    await world.waitForImage('traced', `${host}/${repository}:${tag}`);
    let after = before;
    while (after === before) {
      await delay(5);
      after = await figures('sum');
    }
    if (index < ignored) continue;
    answerMs.push(answered);
    patchMs.push((after - before) * 1_000);
  }
  cpuMs.push((((await read(service, 'process_cpu_seconds_total')) - cpuSeconds) / pushes) * 1_000);
  rssMb.push((await read(service, 'process_resident_memory_bytes')) / 2 ** 20);
  await service.stop();
}

const off: Figures = { answerMs: [], patchMs: [], cpuMs: [], rssMb: [] };
const on: Figures = { answerMs: [], patchMs: [], cpuMs: [], rssMb: [] };
try {
  await pushImage({ host, repository, tag: '0.0.1', content: 'first' });
  await world.createDeployment('traced', `${host}/${repository}:0.0.1`);
  await world.createPolicy('traced', `${host}/${repository}`, { strategy: 'SemVer' });
  for (let round = 0; round < rounds; round++) {
    await run(round, undefined, off);
    await run(round, { endpoint: collector.url }, on);
  }
} finally {
  await world.stop();
  await collector.stop();
}

const quantile = (values: readonly number[], share: number) =>
  values.toSorted((a, b) => a - b)[Math.floor((values.length - 1) * share)] ?? 0;
for (const [what, key, share] of [
  ['answer p50 ms', 'answerMs', 0.5],
  ['answer p99 ms', 'answerMs', 0.99],
  ['push → patch p50 ms', 'patchMs', 0.5],
  ['push → patch p99 ms', 'patchMs', 0.99],
  ['CPU for each push ms', 'cpuMs', 0.5],
  ['RSS MB', 'rssMb', 0.5],
] as const) {
  const [without, with_] = [quantile(off[key], share), quantile(on[key], share)];
  process.stdout.write(
    `${what.padEnd(22)} off ${without.toFixed(1).padStart(7)}  on ${with_.toFixed(1).padStart(7)}  ratio ${(with_ / without).toFixed(2)}\n`,
  );
}
const { length: spans } = collector.spans();
process.stdout.write(`${spans} spans, ${(spans / (rounds * (pushes + ignored))).toFixed(1)} for each push\n`);
