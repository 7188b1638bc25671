/**
 * Asks every provider, through the real app, what nobody ever sent: `node bench/fuzz.ts [--seconds N] [--seed N] [--provider ID]…`.
 * Fails (exit code 1) when a request is answered 5xx, when a push is stored that the request does not name, when somebody gets in
 * without the secret, when a request costs the event loop 5 ms before it is known who sends or 100 ms in all, or when the heap grows.
 */
import { parseArgs } from 'node:util';
import { providers } from '../src/service/receive/providers/index.ts';
import { fuzzProvider, type FuzzResult } from './fuzz/fuzz-provider.ts';
import { createRandom } from './fuzz/random.ts';

/** Less than this is the engine's own: caches of compiled code, and the like. */
const maxHeapGrowthMib = 8;

const { values } = parseArgs({
  options: { seconds: { type: 'string' }, seed: { type: 'string' }, provider: { type: 'string', multiple: true } },
});
const chosen = providers.filter(({ id }) => values.provider?.includes(id) ?? true);
if (chosen.length === 0) throw new Error(`there are ${providers.map(({ id }) => id).join(', ')}`);
/** For each provider: a minute for one, some minutes for all. */
const seconds = Number(values.seconds ?? Math.min(60, Math.ceil(240 / chosen.length)));
const seed = Number(values.seed ?? Date.now() % 2 ** 32);
if (!(seconds > 0) || !Number.isInteger(seed)) throw new Error('--seconds and --seed are numbers');

console.log(`seed ${seed}, ${seconds} s for each of ${chosen.length} providers`);
console.log(row(['provider', 'requests', 'accepted', 'malformed', 'heap MiB', 'failures']));
const results: FuzzResult[] = [];
for (const provider of chosen) {
  const result = await fuzzProvider(provider, createRandom(seed), seconds);
  results.push(result);
  const { requests, accepted, malformed, heapGrowthMib, failures } = result;
  console.log(row([provider.id, requests, accepted, malformed, heapGrowthMib.toFixed(1), failures.length]));
  for (const { what, request } of failures.slice(0, 5)) {
    console.log(
      `  ${what} (${request.kind})\n    ${JSON.stringify(request.headers)}\n    ${request.body.toString('latin1').slice(0, 2_000)}`,
    );
  }
}
const total = results.reduce((sum, { requests }) => sum + requests, 0);
const bad = results.filter(({ failures, heapGrowthMib }) => failures.length > 0 || heapGrowthMib > maxHeapGrowthMib);
console.log(`${total} requests, ${bad.length === 0 ? 'nothing wrong' : `wrong: ${bad.map(({ provider }) => provider).join(', ')}`}`);
process.exitCode = bad.length === 0 ? 0 : 1;

function row(cells: readonly (string | number)[]): string {
  return cells.map((cell, index) => (index === 0 ? String(cell).padEnd(14) : String(cell).padStart(11))).join('');
}
