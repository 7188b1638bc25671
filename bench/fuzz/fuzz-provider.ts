import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { PushEvent } from '../../src/core/model/push-event.ts';
import { authenticate } from '../../src/service/receive/authenticate.ts';
import type { Provider } from '../../src/service/receive/providers/provider.ts';
import { createLogger } from '../../src/service/telemetry/logger.ts';
import { cpuCost } from '../../test/service/receive/cpu-cost.ts';
import { readSamples } from '../../test/service/receive/providers/read-samples.ts';
import { startApp } from '../../test/service/receive/start-app.ts';
import { hostileRequest } from './hostile-request.ts';
import { judge } from './judge.ts';
import type { Random } from './random.ts';
import { randomRequest, type FuzzRequest } from './random-request.ts';

export interface FuzzResult {
  readonly provider: string;
  readonly requests: number;
  /** Requests after which something was stored. */
  readonly accepted: number;
  readonly malformed: number;
  /** What went wrong, and the request that did it. */
  readonly failures: readonly { readonly what: string; readonly request: FuzzRequest }[];
  /** How much the heap grew between a tenth of the run and its end, collected both times. */
  readonly heapGrowthMib: number;
}

/** What a request may cost the event loop, before and after it is known who sends. */
const limitsMs = { stranger: 5, sender: 100 };

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/** Asks the real app, without a port, until the time is over: an open receiver, and now and then one whose secret nobody knows. */
export async function fuzzProvider(provider: Provider, random: Random, seconds: number): Promise<FuzzResult> {
  const all = readSamples().filter(({ body }) => body.length > 0);
  const samples = all.filter((sample) => sample.provider === provider.id);
  const stored: PushEvent[] = [];
  const closers: (() => unknown)[] = [];
  const open = (receiver: Parameters<typeof startApp>[1]) =>
    startApp(
      { after: (close) => void closers.push(close as () => unknown) },
      {
        provider,
        registryOverride: samples.some(({ expected }) => expected?.registry === null) ? 'registry.example.com' : undefined,
        ...receiver,
      },
      {
        storePushes: async (events) => {
          stored.push(...events);
          return events;
        },
        requestsPerMinute: Number.MAX_SAFE_INTEGER,
        logger: createLogger('trace', { write: () => {} }),
      },
    );
  const { app } = await open({ unauthenticated: true });
  const { app: closed } = await open({ secrets: () => ['nobody-knows-this-secret'] });
  const counts = { requests: 0, accepted: 0, malformed: 0 };
  const failures: { what: string; request: FuzzRequest }[] = [];

  const askHostile = async (request: FuzzRequest) => {
    const { headers, body } = request;
    const receiver = { provider, unauthenticated: false, secrets: () => ['nobody-knows-this-secret', 'and-not-this-one'] };
    const before = await cpuCost(limitsMs.stranger, async () => {
      if ((await authenticate({ headers, body }, undefined, receiver)).kind !== 'refused')
        failures.push({ what: 'let in without the secret', request });
    });
    let status = 0;
    const all = await cpuCost(limitsMs.sender, async () => {
      stored.length = 0;
      ({ statusCode: status } = await app.inject({ method: 'POST', url: '/webhooks/prod', headers, body }));
    });
    if (stored.length > 0) counts.accepted++;
    if (before >= limitsMs.stranger) failures.push({ what: `${before} ms before it is known who sends`, request });
    if (all >= limitsMs.sender) failures.push({ what: `${all} ms for one delivery`, request });
    const what = judge(request, status, stored);
    if (what !== undefined) failures.push({ what, request });
  };
  const ask = async () => {
    stored.length = 0;
    counts.requests++;
    if (random.chance(0.02)) return askHostile(hostileRequest(samples, random));
    const request = randomRequest(samples, all, random);
    if (random.chance(0.1)) {
      const { statusCode } = await closed.inject({ method: 'POST', url: '/webhooks/prod', headers: request.headers, body: request.body });
      if (statusCode !== 401 || stored.length > 0) failures.push({ what: `let in without the secret: ${statusCode}`, request });
      return;
    }
    const { statusCode, body } = await app.inject({ method: 'POST', url: '/webhooks/prod', headers: request.headers, body: request.body });
    if (stored.length > 0) counts.accepted++;
    if (body.includes('not understood')) counts.malformed++;
    const what = judge(request, statusCode, stored);
    if (what !== undefined) failures.push({ what, request });
  };
  const askFor = async (milliseconds: number) => {
    const end = performance.now() + milliseconds;
    while (performance.now() < end && failures.length < 20) await ask();
    collect();
    return process.memoryUsage().heapUsed;
  };

  const early = await askFor(seconds * 100);
  const late = await askFor(seconds * 900);
  for (const close of closers) await close();
  return { provider: provider.id, ...counts, failures, heapGrowthMib: (late - early) / 2 ** 20 };
}
