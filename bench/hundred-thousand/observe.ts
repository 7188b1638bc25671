/** What can be seen of a running service from outside. */
import { setTimeout as delay } from 'node:timers/promises';
import { waitFor } from '../../test/harness/wait-for.ts';
import { round } from '../world/statistics.ts';
import type { Product } from '../world/world.ts';

const everyMs = 20;

/** The longest time in which the process answered nothing, while something is done: it is asked all the time whether it lives. */
export async function longestSilence<T>(product: Product, work: () => Promise<T>): Promise<[result: T, milliseconds: number]> {
  let longest = 0;
  const stopping = new AbortController();
  const ask = async () => {
    while (!stopping.signal.aborted) {
      const start = performance.now();
      const answer = await fetch(`${product.operationsUrl}/livez`).catch(() => undefined);
      await answer?.arrayBuffer();
      longest = Math.max(longest, performance.now() - start);
      await delay(everyMs);
    }
  };
  const asking = ask();
  try {
    return [await work(), round(longest, 0)];
  } finally {
    stopping.abort();
    await asking;
  }
}

/** How many objects the watches have, by the resource; nothing of those that are not connected. */
export async function countObjects({ operationsUrl }: Product): Promise<Readonly<Record<string, number>>> {
  const text = await (await fetch(`${operationsUrl}/readyz?verbose`)).text();
  const lines = text.matchAll(/^\[\+\]kubernetes (\S+) ok: (\d+) objects/gm);
  return Object.fromEntries([...lines].map(([, name = '', count]) => [name, Number(count)]));
}

/** Resolves when the watches have these numbers of objects. */
export async function untilKnown(product: Product, wanted: Readonly<Record<string, number>>): Promise<void> {
  await waitFor(
    `the service to know ${JSON.stringify(wanted)}`,
    async () => {
      const counts = await countObjects(product);
      return Object.entries(wanted).every(([name, count]) => counts[name] === count);
    },
    { timeoutMs: 300_000, intervalMs: 50 },
  );
}

/** Resolves when the service takes jobs. */
export async function untilWorking(product: Product, starts: number): Promise<void> {
  const isWorking = () => Promise.resolve(product.logTail(Infinity).split('"caches are complete"').length > starts);
  await waitFor('the caches to be complete', isWorking, { timeoutMs: 300_000, intervalMs: 50 });
}

/** The value of a metric without labels. */
export async function readGauge({ operationsUrl }: Product, name: string): Promise<number> {
  const text = await (await fetch(`${operationsUrl}/metrics`)).text();
  return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1]);
}

/** What it has warned of, and how often. */
export function countWarnings(product: Product): Readonly<Record<string, number>> {
  const lines = product
    .logTail(Infinity)
    .split('\n')
    .filter((line) => /"level":"(?:warn|error|fatal)"/.test(line));
  const texts = lines.map((line) => {
    const { msg = '', why = '' } = JSON.parse(line) as { msg?: string; why?: string };
    return `${msg}: ${why.slice(0, 200)}`;
  });
  return Object.fromEntries([...Map.groupBy(texts, (text) => text)].map(([text, same]) => [text, same.length]));
}
