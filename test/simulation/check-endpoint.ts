/**
 * The endpoint that checks ask: what it thinks of an image, and what it was asked. It may need time, answer nonsense, or change its mind; whether a request reaches it
 * is the business of the network. The question is that of the real program, which signs it and reads the answer.
 */
import { parseJson, fieldsOf, textOrEmpty } from '../../src/core/model/untyped.ts';
import type { CheckMeans } from '../../src/service/checks/check-means.ts';
import type { Clock } from './clock.ts';
import { shorten } from './images.ts';
import type { Network } from './network.ts';
import { currentProcess, kill, type Process } from './process.ts';
import type { Random } from './random.ts';
import type { Story } from './story.ts';

export const endpointHost = 'checks.example.com';
export const endpointUrl = `https://${endpointHost}/smoke`;
export const checksSecret = { name: 'checks', key: 'key' } as const;

/** A question that has reached the endpoint. */
export interface Question {
  readonly at: number;
  readonly sentAt: number;
  readonly policy: string;
  readonly check: string;
  readonly phase: string;
  readonly id: string;
  readonly tag: string;
  readonly digest: string;
  /** `pass`, `fail` or something else, which is no answer. */
  readonly answer: string;
}

/** The end of the process that asks next, its pause, or the silence of its watch of policies. */
export interface Ambush {
  readonly kind: 'kill' | 'freeze' | 'deafen';
  readonly afterMs: number;
  readonly forMs: number;
}

export interface CheckEndpoint {
  /** Every question, in the order in which they were asked. */
  readonly questions: readonly Question[];
  waylay(ambush: Ambush): void;
  /** What a process asks it with. */
  readonly means: Pick<CheckMeans, 'fetch' | 'hosts' | 'readSecret'>;
}

/** What it thinks of an image. */
interface Opinion {
  readonly verdict: 'pass' | 'fail';
  /** When it knows. */
  readonly knownAt: number;
  /** Whether it says something else after the first time. */
  readonly changes: boolean;
  told: number;
}

const nonsense = ['wait', 'nothing', 'error', 'words', 'redirect'] as const;
const replies: Readonly<Record<(typeof nonsense)[number] | 'pass' | 'fail', readonly [status: number, body: string]>> = {
  pass: [200, '{"verdict":"pass"}'],
  fail: [200, '{"verdict":"fail","reason":"checkout answers 500"}'],
  wait: [200, '{"verdict":"wait"}'],
  nothing: [202, ''],
  error: [500, 'simulated'],
  words: [200, 'all is well'],
  redirect: [302, ''],
};

interface Means {
  readonly clock: Clock;
  readonly network: Network;
  readonly random: Random;
  readonly story: Story;
  /** Starts a replica again. */
  readonly restart: (name: string) => void;
  /** Silences the watch of policies of a replica. */
  readonly deafen: (name: string, forMs: number) => void;
}

export function createCheckEndpoint({ clock, network, random, story, restart, deafen }: Means): CheckEndpoint {
  const questions: Question[] = [];
  const opinions = new Map<string, Opinion>();
  const ambushes: Ambush[] = [];
  const opinionOf = (check: string, image: string): Opinion => {
    const key = `${check} ${image}`;
    const known = opinions.get(key);
    if (known !== undefined) return known;
    const own = random.fork(key);
    const needsMs = own.pick([0, 0, 0, own.between(500, 8_000), own.between(15_000, 90_000)]);
    const opinion: Opinion = {
      verdict: own.chance(0.75) ? 'pass' : 'fail',
      knownAt: clock.now() + needsMs,
      changes: own.chance(0.3),
      told: 0,
    };
    opinions.set(key, opinion);
    return opinion;
  };
  const answerOf = (check: string, image: string) => {
    const opinion = opinionOf(check, image);
    if (clock.now() < opinion.knownAt) return random.pick(nonsense);
    const isOther = opinion.changes && opinion.told++ % 2 === 1;
    return isOther ? (opinion.verdict === 'pass' ? 'fail' : 'pass') : opinion.verdict;
  };
  const attack = (process: Process, { kind, afterMs, forMs }: Ambush) =>
    clock.schedule(undefined, afterMs, () => {
      if (process.isDead) return;
      story.tell('fault', `${kind}s ${process.name}, which has asked a check, for ${(forMs / 1_000).toFixed(1)} s`);
      if (kind === 'deafen') return deafen(process.name, 3 * forMs);
      if (kind === 'freeze') return void (process.frozenUntil = clock.now() + forMs);
      kill(process);
      clock.schedule(undefined, forMs, () => restart(process.name));
    });
  const serve = (body: unknown, sentAt: number, process: Process | undefined): Response => {
    const event = fieldsOf(parseJson(textOrEmpty(body)));
    const data = fieldsOf(event['data']);
    const read = (field: string) => textOrEmpty(data[field]);
    const [check, tag, digest] = [read('check'), read('tag'), read('digest')];
    const answer = answerOf(check, `${tag}@${digest}`);
    const policy = textOrEmpty(fieldsOf(data['subject'])['name']);
    questions.push({ at: clock.now(), sentAt, policy, check, phase: read('phase'), id: textOrEmpty(event['id']), tag, digest, answer });
    story.tell('endpoint', `answers ${process?.name} about ${check} of ${shorten(`${tag}@${digest}`)}: ${answer}`);
    const ambush = ambushes.shift();
    if (ambush !== undefined && process !== undefined) attack(process, ambush);
    const [status, text] = replies[answer];
    return new Response(text, { status });
  };
  return {
    questions,
    waylay: (ambush) => void ambushes.push(ambush),
    means: {
      hosts: [endpointHost],
      readSecret: () => Promise.resolve({ data: { [checksSecret.key]: Buffer.from('simulated').toString('base64') } }),
      async fetch(_, { body, signal } = {}) {
        const process = currentProcess();
        const answer = await network.send({
          server: 'endpoint',
          what: 'ASK check',
          serve: (sentAt) => serve(body, sentAt, process),
          refuse(kind) {
            if (kind === 'throttled') return new Response('simulated', { status: 429 });
            throw new TypeError('fetch failed', { cause: Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' }) });
          },
          ...(signal && { signal }),
        });
        clock.takeTurn();
        return answer;
      },
    },
  };
}
