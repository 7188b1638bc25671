/** A check by a query of Prometheus: https://prometheus.io/docs/prometheus/latest/querying/api/#instant-queries */
import { z } from 'zod';
import type { CheckAnswer, PrometheusQuestion } from '../../core/model/rollout-check.ts';
import { exchange } from '../proxy/exchange.ts';
import type { AskedAnswer, CheckRequest } from '../reconcile/checks/check-request.ts';
import { answerWithinMs, type CheckMeans } from './check-means.ts';

const sample = z.tuple([z.number(), z.string()]);
const answer = z.object({
  status: z.literal('success'),
  warnings: z.array(z.unknown()).exactOptional(),
  data: z.discriminatedUnion('resultType', [
    z.object({ resultType: z.literal('scalar'), result: sample }),
    z.object({ resultType: z.literal('vector'), result: z.array(z.object({ value: sample })) }),
  ]),
});

/**
 * Asks a server of the configuration. An answer that is no number and no vector of numbers is none, and so is one with warnings: a Prometheus warns of results
 * that are likely to be wrong, and a Thanos of stores that did not answer.
 */
export async function askPrometheus(question: PrometheusQuestion, request: CheckRequest, means: CheckMeans): Promise<AskedAnswer> {
  const server = means.servers.find(({ name }) => name === question.server);
  // A server that is not offered was refused before (allowed-checks.ts).
  if (server === undefined) return { kind: 'none', message: '' };
  const url = new URL(server.url);
  url.pathname = `${url.pathname.replace(/\/+$/, '')}/api/v1/query`;
  url.searchParams.set('query', question.query);
  url.searchParams.set('timeout', `${answerWithinMs / 1_000}s`);
  const token = server.token();
  const headers = { accept: 'application/json', ...(token !== undefined && { authorization: `Bearer ${token}` }) };
  const { result, json } = await exchange(
    url,
    { method: 'GET', headers },
    { fetch: means.fetch, now: means.now, signal: request.signal, timeoutMs: answerWithinMs, wantsJson: true },
  );
  // What a server of the operator answers besides numbers is not for the author of a policy.
  if (result.kind !== 'sent') return { kind: 'none', message: `the server ${server.name} did not answer the query` };
  const read = answer.safeParse(json);
  if (!read.success) return { kind: 'none', message: `the server ${server.name} answered neither a number nor a vector of numbers` };
  const { data, warnings = [] } = read.data;
  if (warnings.length > 0) return { kind: 'none', message: `the server ${server.name} warns that the result may be wrong or incomplete` };
  return judge(question, data.resultType === 'scalar' ? [data.result[1]] : data.result.map(({ value: [, text] }) => text));
}

/** The answer that the numbers of a result mean, as Prometheus writes them. */
export function judge(
  { min = -Infinity, max = Infinity, noData }: Pick<PrometheusQuestion, 'min' | 'max' | 'noData'>,
  texts: readonly string[],
): CheckAnswer {
  const numbers = texts.map(toNumber);
  const bad = numbers.filter((one) => one < min || one > max);
  const [first] = bad;
  const range = [min === -Infinity ? [] : [`at least ${min}`], max === Infinity ? [] : [`at most ${max}`]].flat().join(' and ');
  if (first !== undefined) {
    const more = bad.length > 1 ? ` (and ${bad.length - 1} more of ${numbers.length})` : '';
    return { kind: 'fail', message: `the result ${first} is not ${range}${more}` };
  }
  const missing = numbers.filter(Number.isNaN).length;
  if (numbers.length > 0 && missing === 0) return { kind: 'pass', message: `the result ${numbers[0]} is ${range}` };
  const what = numbers.length === 0 ? 'the query has no result' : `${missing} of ${numbers.length} results are NaN`;
  return { kind: ({ Wait: 'none', Pass: 'pass', Fail: 'fail' } as const)[noData], message: what };
}

const infinities: ReadonlyMap<string, number> = new Map([
  ['+Inf', Infinity],
  ['Inf', Infinity],
  ['-Inf', -Infinity],
]);

function toNumber(text: string): number {
  return infinities.get(text) ?? (text.trim() === '' ? Number.NaN : Number(text));
}
