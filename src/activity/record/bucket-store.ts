/**
 * Keeps the record in a bucket with the API of S3, one object for each segment. An object is written with `If-None-Match: *`, so that of two replicas one wins:
 * https://docs.aws.amazon.com/AmazonS3/latest/userguide/conditional-writes.html
 */
import { defined } from '../../core/model/defined.ts';
import { createHash } from 'node:crypto';
import { startDeadline } from '../../core/async/deadline.ts';
import { explainConnection } from '../../core/model/connection-failure.ts';
import { createSigner, type PlainRequest, type ReadCredentials } from './sign-request.ts';
import { maxSegmentBytes, segmentName, segmentOf, type SegmentStore } from './store.ts';

export interface Bucket {
  /** The URL of the service. The name of the bucket is the first part of the path of every request. */
  readonly endpoint: string;
  readonly bucket: string;
  /** What the keys of all objects begin with: '' or `record/`. */
  readonly prefix: string;
  readonly region: string;
  readonly credentials: ReadCredentials;
  readonly fetch: typeof fetch;
}

const requestMs = 20_000;
const maxProblem = 300;
const highest = 10 ** 10 - 1;
/** How many keys are read where one segment is sought, because somebody may have put other objects beside it. */
const few = 10;

export function createBucketStore({ endpoint, bucket, prefix, region, credentials, fetch }: Bucket): SegmentStore {
  const sign = createSigner(region, credentials);
  const urlOf = (key: string) => new URL(`${endpoint.replace(/\/$/, '')}/${bucket}/${key}`);
  const send = async (request: PlainRequest, signal: AbortSignal): Promise<{ readonly status: number; readonly text: string }> => {
    const deadline = startDeadline(requestMs, signal);
    try {
      const { method, url, body } = request;
      const headers = await sign(request);
      const answer = await fetch(url, {
        method,
        headers,
        redirect: 'manual',
        signal: deadline.signal,
        ...defined({ body }),
      });
      return { status: answer.status, text: await readText(answer) };
    } catch (error) {
      // fetch wraps the error of the connection.
      const inner = error instanceof TypeError && error.cause !== undefined ? error.cause : error;
      throw new Error(explainConnection(inner)?.sentence ?? `request to ${request.url.host}`, { cause: error });
    } finally {
      deadline.end();
    }
  };
  /** The keys after one, in order. */
  const list = async (after: string, count: number, signal: AbortSignal): Promise<string[]> => {
    const url = urlOf('');
    url.search = new URLSearchParams({ 'list-type': '2', 'max-keys': String(count), prefix, 'start-after': after }).toString();
    const { status, text } = await send({ method: 'GET', url }, signal);
    if (status !== 200) throw problemOf('listing', status, text);
    return [...text.matchAll(/<Key>([^<]{1,1100})<\/Key>/g)].map(([, key = '']) => key);
  };
  const keyOf = (segment: number) => `${prefix}${segmentName(segment)}`;
  const segmentsIn = (keys: readonly string[]) => keys.flatMap((key) => segmentOf(key.slice(prefix.length)) ?? []);
  const putOnce = async (segment: number, body: string, signal: AbortSignal): Promise<boolean> => {
    const headers = {
      'content-type': 'application/x-ndjson',
      'if-none-match': '*',
      // Buckets with Object Lock require a checksum.
      'x-amz-checksum-sha256': createHash('sha256').update(body, 'utf8').digest('base64'),
    };
    const { status, text } = await send({ method: 'PUT', url: urlOf(keyOf(segment)), headers, body }, signal);
    if (status === 412) return false;
    if (status !== 200) throw problemOf('writing', status, text);
    return true;
  };
  let refusesOverwrites = false;
  return {
    place: `${bucket}/${prefix} at ${endpoint}`,
    async put(segment, text, signal) {
      const isWritten = await putOnce(segment, text, signal);
      if (!isWritten) refusesOverwrites = true;
      // A service that ignores the condition would let two replicas overwrite each other's segments. The same text does no harm.
      if (!refusesOverwrites && (await putOnce(segment, text, signal)))
        throw new Error(`${bucket} overwrites objects in spite of "If-None-Match: *": use a service with conditional writes`);
      refusesOverwrites = true;
      return isWritten;
    },
    async read(segment, signal) {
      const { status, text } = await send({ method: 'GET', url: urlOf(keyOf(segment)) }, signal);
      if (status === 404 && text.includes('<Code>NoSuchKey</Code>')) return undefined;
      if (status !== 200) throw problemOf('reading', status, text);
      return text;
    },
    async last(signal) {
      let [low, high] = [0, highest];
      // The last segment is found with some 30 requests, also among millions.
      while (low < high) {
        const middle = Math.floor((low + high) / 2);
        const [next] = segmentsIn(await list(keyOf(middle), few, signal));
        if (next === undefined) high = middle;
        else low = next;
      }
      return low === 0 ? undefined : low;
    },
    async *list(signal) {
      let after = keyOf(0);
      for (;;) {
        const keys = await list(after, 1_000, signal);
        yield* segmentsIn(keys);
        const last = keys.at(-1);
        if (last === undefined) return;
        after = last;
      }
    },
  };
}

/** An answer that is no success, with the code of S3. */
function problemOf(doing: string, status: number, text: string): Error {
  const [, code] = /<Code>(\w{1,64})<\/Code>/.exec(text) ?? [];
  const [, message] = /<Message>([^<]{1,300})/.exec(text) ?? [];
  const said = [code, message].filter((part) => part !== undefined).join(': ');
  return new Error(
    `${doing} was answered ${status} ${said}`
      .trim()
      .replaceAll(/[\p{Cc}\p{Cf}]/gu, ' ')
      .slice(0, maxProblem),
  );
}

async function readText(answer: Response): Promise<string> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of answer.body ?? []) {
    const chunk = part as Uint8Array;
    bytes += chunk.length;
    if (bytes > maxSegmentBytes) throw new Error(`an answer is larger than ${maxSegmentBytes} bytes`);
    parts.push(chunk);
  }
  return Buffer.concat(parts).toString('utf8');
}
