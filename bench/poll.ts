/**
 * Times the ticks of the poll for 10,000 policies over 2,000 repositories, a third of them with a Secret of their own, and says what they keep in memory:
 * `npm run bench -- poll [--output json]`, in full with `node --expose-gc`.
 */
import { parseArgs } from 'node:util';
import type { ImagePolicy } from '../src/core/model/image-policy.ts';
import type { ImageSource } from '../src/core/model/image-source.ts';
import { strategies } from '../src/core/select/strategies/index.ts';
import { tickMs } from '../src/service/poll/poll-schedule.ts';
import { createTick } from '../src/service/poll/tick.ts';

const policyCount = 10_000;
const repositoryCount = 2_000;
const hour = 3_600_000;
const strategy = strategies.semver({});

function policy(index: number): ImagePolicy {
  const name = `web-${index}`;
  const repository = { registry: 'harbor.example.com', path: `shop/web-${index % repositoryCount}` };
  return {
    namespace: `team-${index % 100}`,
    name,
    uid: `uid-${index}`,
    generation: 1,
    resourceVersion: '1',
    apiVersion: 'operator.technomad.dev/v1',
    spec: {
      repository,
      strategy,
      pin: 'Tag',
      allowDowngrade: false,
      mode: 'Automatic',
      windows: [],
      targets: [{ kind: 'Deployment', namespace: 'shop', name }],
      pollIntervalMs: hour,
      suspended: false,
      origins: { poll: 'policy', minAge: 'policy', windows: 'policy', rollout: 'policy' },
    },
    status: {},
  };
}

const policies = Array.from({ length: policyCount }, (_, index) => policy(index));
let now = Date.parse('2026-11-21T10:00:00Z');
let last: number | undefined;
let enqueued = 0;
let longestDelayMs = 0;
const tick = createTick({
  policies: { all: () => policies },
  registry: {
    sourceOf: ({ namespace }, { repository }): ImageSource =>
      Number(namespace.slice(5)) % 3 > 0
        ? repository
        : { ...repository, access: { secrets: [{ namespace, name: 'creds', namedBy: 'policy' }] } },
  },
  queues: {
    addPolls(polls) {
      enqueued += polls.length;
      for (const { delayMs } of polls) longestDelayMs = Math.max(longestDelayMs, delayMs);
      return Promise.resolve();
    },
    readLastTick: () => Promise.resolve(last),
    writeLastTick(at) {
      last = at;
      return Promise.resolve();
    },
    readClock: () => Promise.resolve(now),
  },
});

async function timeTick(afterMs: number): Promise<number> {
  now += afterMs;
  const start = performance.now();
  await tick();
  return performance.now() - start;
}

const round = (milliseconds: number) => Math.round(milliseconds * 100) / 100;
const heap = () => {
  globalThis.gc?.();
  return process.memoryUsage().heapUsed;
};

const before = heap();
const first = await timeTick(0);
const kept = heap() - before;
enqueued = 0;
const times: number[] = [];
for (let done = 0; done < hour / tickMs; done++) times.push(await timeTick(tickMs));
const pollsPerHour = enqueued;
times.sort((a, b) => a - b);
enqueued = 0;
longestDelayMs = 0;
const afterOutage = await timeTick(8 * hour);

const result = {
  policies: policyCount,
  repositories: repositoryCount,
  firstTickMs: round(first),
  tickMs: { p50: round(times[Math.floor(times.length / 2)] ?? NaN), p99: round(times[Math.floor(times.length * 0.99)] ?? NaN) },
  pollsPerHour,
  ...(globalThis.gc !== undefined && { keptMegabytes: round(kept / 1_000_000) }),
  afterAnOutageOf8h: { tickMs: round(afterOutage), polls: enqueued, spreadOverMs: longestDelayMs },
};
const { values } = parseArgs({ options: { output: { type: 'string', default: 'text' } } });
if (values.output === 'json') console.log(JSON.stringify(result, undefined, 2));
else console.log(result);
