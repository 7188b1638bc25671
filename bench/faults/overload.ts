/** Many times more pushes than the workers do, for a while: memory stays bounded, the rest is refused with a time, and all recovers by itself. */
import { readFileSync } from 'node:fs';
import { createFleet, eachOf } from '../../test/end-to-end/fleet.ts';
import { secret, type Service, type World } from '../../test/end-to-end/world.ts';
import { askRedis } from '../../test/harness/redis.ts';
import { waitFor } from '../../test/harness/wait-for.ts';

const apps = 50;
const tagsPerDelivery = 200;
const senders = 32;
const roomBytes = 96_000_000;
const maxRssMib = 700;
const patience = { timeoutMs: 900_000, intervalMs: 500 };

export interface Overload {
  readonly figures: string;
  readonly problems: readonly string[];
}

/** Floods the receivers for some seconds, and waits until all that they took is worked off. */
export async function overload(
  world: World,
  receivers: readonly Service[],
  workers: readonly Service[],
  seconds: number,
): Promise<Overload> {
  const fleet = await createFleet(world, 'overload', apps);
  const used = Number(/^used_memory:(\d+)/m.exec(await askRedis(world.redis.port, 'INFO memory'))?.[1]);
  await askRedis(world.redis.port, `CONFIG SET maxmemory ${used + roomBytes}`);
  const answers = new Map<string, number>();
  const problems = new Set<string>();
  let highestMib = 0;
  const watch = setInterval(() => {
    for (const service of [...receivers, ...workers]) highestMib = Math.max(highestMib, rssMibOf(service));
  }, 500);
  const doneBefore = await countDone(workers);
  const began = performance.now();
  let sent = 0;
  await eachOf(
    Array.from({ length: senders }, (_, index) => index),
    async (index) => {
      const receiver = receivers[index % receivers.length];
      if (receiver === undefined) return;
      while (performance.now() - began < seconds * 1_000) {
        const answer = await send(receiver, bodyOf(world.quiet.host, sent++));
        const what = typeof answer === 'string' ? answer : String(answer.status);
        answers.set(what, (answers.get(what) ?? 0) + 1);
        if (typeof answer === 'string' || ![202, 429, 503].includes(answer.status)) problems.add(`an answer was ${what}`);
        else if (answer.status !== 202 && !(answer.retryAfter > 0)) problems.add(`${what} without Retry-After`);
      }
    },
  );
  const floodSeconds = (performance.now() - began) / 1_000;
  const done = (await countDone(workers)) - doneBefore;
  const isDrained = async () => {
    const lengths = await Promise.all(['LLEN push:wait', 'LLEN push:active'].map((question) => length(world, question)));
    return lengths.every((count) => count === 0);
  };
  await waitFor('all that was accepted to be worked off', isDrained, patience);
  const drainSeconds = (performance.now() - began) / 1_000 - floodSeconds;
  clearInterval(watch);
  // What comes now is taken at once, and done.
  await eachOf([...fleet.deliveries], async (body) => {
    const isTaken = async () => {
      const [receiver] = receivers;
      const answer = receiver && (await send(receiver, body));
      return typeof answer === 'object' && answer.status === 202;
    };
    await waitFor('room', isTaken, { timeoutMs: 120_000, intervalMs: 200 });
  });
  await fleet.assertPatchedOnce();
  await askRedis(world.redis.port, 'CONFIG SET maxmemory 0');
  if (highestMib > maxRssMib) problems.add(`a process grew to ${highestMib} MiB`);
  const told = [...answers].map(([what, count]) => `${count} × ${what}`).join(', ');
  const rate = (count: number) => Math.round(count / floodSeconds);
  const offered = rate(sent * tagsPerDelivery);
  return {
    figures:
      `${offered} pushes/s offered, ${rate(done)} /s done: ${(offered / Math.max(1, rate(done))).toFixed(1)} times as many; answers ${told}; ` +
      `at most ${highestMib} MiB in a process; worked off ${Math.round(drainSeconds)} s after`,
    problems: [...problems],
  };
}

/** Lower than what runs: to look at the policy is all there is to do, and each comes once. */
function bodyOf(host: string, number: number): string {
  const repository = `fleet/overload-${number % apps}`;
  const resources = Array.from({ length: tagsPerDelivery }, (_, index) => ({
    tag: `0.${number}.${index}`,
    resource_url: `${host}/${repository}:0.${number}.${index}`,
  }));
  const named = { repo_full_name: repository, name: `overload-${number % apps}`, namespace: 'fleet', repo_type: 'private' };
  return JSON.stringify({ type: 'PUSH_ARTIFACT', occur_at: 1_700_000_000 + number, event_data: { resources, repository: named } });
}

async function send(receiver: Service, body: string): Promise<{ status: number; retryAfter: number } | string> {
  try {
    const headers = { authorization: secret, 'content-type': 'application/json' };
    const response = await fetch(`${receiver.publicUrl}/webhooks/harbor`, { method: 'POST', headers, body });
    await response.arrayBuffer();
    return { status: response.status, retryAfter: Number(response.headers.get('retry-after')) };
  } catch (error) {
    return `no answer (${String(error instanceof Error ? (error.cause ?? error) : error)})`;
  }
}

async function countDone(workers: readonly Service[]): Promise<number> {
  const texts = await Promise.all(workers.map(async ({ operationsUrl }) => (await fetch(`${operationsUrl}/metrics`)).text()));
  const counts = texts.flatMap((text) => [...text.matchAll(/^image_watcher_reconciles_total\{source="Webhook".* (\d+)$/gm)]);
  return counts.reduce((sum, [, count]) => sum + Number(count), 0);
}

async function length(world: World, question: string): Promise<number> {
  const reply = await askRedis(world.redis.port, question.replace('push:', '{image-watcher}:push:'));
  return Number(/^:(\d+)/.exec(reply)?.[1]);
}

function rssMibOf({ pid }: Service): number {
  return Math.round(Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1_024);
}
