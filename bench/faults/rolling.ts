/** SIGTERM of all replicas of all roles, one after the other, while requests come without a pause. */
import { request } from 'node:http';
import { createFleet } from '../../test/end-to-end/fleet.ts';
import { post as postReview, reviewOf } from '../../test/end-to-end/conversion-world.ts';
import { secret, type Service, type World } from '../../test/end-to-end/world.ts';
import { startBalancer } from './balancer.ts';

const apps = 100;
const senders = 8;

export interface Rolled {
  /** How often each answer came; `webhook 202` and `review 200` are the good ones. */
  readonly answers: ReadonlyMap<string, number>;
  readonly problems: readonly string[];
}

/** Restarts all of them so many times; fails unless each workload that was announced is changed, and once. */
export async function roll(world: World, receivers: readonly Service[], workers: readonly Service[], rounds: number): Promise<Rolled> {
  const converters = await Promise.all([world.start({ roles: 'convert' }), world.start({ roles: 'convert' })]);
  const [webhooks, reviews] = await Promise.all([
    startBalancer(receivers.map((one) => backend(one, one.publicUrl))),
    startBalancer(converters.map((one) => backend(one, one.conversionUrl))),
  ]);
  const fleet = await createFleet(world, 'rolling', apps);
  const answers = new Map<string, number>();
  const count = (what: string) => void answers.set(what, (answers.get(what) ?? 0) + 1);
  const over = new AbortController();
  const allReady = () => Promise.all([webhooks.allReady(), reviews.allReady()]);
  await allReady();
  let turn = 0;
  const deliver = async () => {
    const body = fleet.deliveries[turn++ % apps] ?? '';
    count(`webhook ${await post(webhooks.port, body).catch(nameOf)}`);
  };
  const review = reviewOf(20);
  const convert = async () => {
    const answer = postReview(`https://127.0.0.1:${reviews.port}/convert`, review).then(({ status }) => status);
    count(`review ${await answer.catch(nameOf)}`);
  };
  const sending = Array.from({ length: senders }, async (_, index) => {
    while (!over.signal.aborted) await (index === 0 ? convert() : deliver());
  });
  for (let round = 0; round < rounds; round++) {
    for (const service of [...receivers, ...workers, ...converters]) {
      await allReady();
      await service.restart();
    }
  }
  over.abort();
  await Promise.all(sending);
  await Promise.all([webhooks.stop(), reviews.stop(), ...converters.map((converter) => converter.stop())]);
  await fleet.assertPatchedOnce();
  const bad = [...answers].filter(([what]) => what !== 'webhook 202' && what !== 'review 200');
  const problems = bad.map(([what, times]) => `${times} times ${what}`);
  const broken = [...webhooks.broken, ...reviews.broken].map(([why, times]) => `the balancer broke off ${times} connections: ${why}`);
  return { answers, problems: problems.length === 0 ? [] : [...problems, ...broken] };
}

function backend({ operationsUrl }: Service, url: string) {
  return { port: Number(new URL(url).port), readyUrl: `${operationsUrl}/readyz` };
}

/** On a connection of its own. */
function post(port: number, body: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: secret, 'content-length': Buffer.byteLength(body) };
    const sent = request({ host: '127.0.0.1', port, path: '/webhooks/harbor', method: 'POST', agent: false, headers }, (response) => {
      response.resume();
      response.once('end', () => resolve(response.statusCode ?? 0));
      response.once('error', reject);
    });
    sent.once('error', reject);
    sent.end(body);
  });
}

function nameOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : String(error);
}
