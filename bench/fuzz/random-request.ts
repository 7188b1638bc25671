/** Requests that resemble those of a sender more, less, or not at all. */
import type { Sample } from '../../test/service/receive/providers/read-samples.ts';
import { mutateJson, mutateText } from './mutate-json.ts';
import type { Random } from './random.ts';

export interface FuzzRequest {
  /** How it was made: for the report. */
  readonly kind: 'sample, other fields' | 'sample, other bytes' | 'sample, other headers' | 'random JSON' | 'random bytes' | 'blown up';
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

const kinds = [
  'sample, other fields',
  'sample, other fields',
  'sample, other fields',
  'sample, other bytes',
  'sample, other headers',
  'random JSON',
  'random bytes',
] as const;

/** One more request; `samples` are those of one provider, `all` tell which headers and fields exist in the world. */
export function randomRequest(samples: readonly Sample[], all: readonly Sample[], random: Random): FuzzRequest {
  const sample = random.pick(random.chance(0.9) ? samples : all) ?? samples[0];
  if (sample === undefined) throw new Error('no samples');
  const kind = random.pick(kinds) ?? 'random bytes';
  const headers = kind === 'sample, other headers' || random.chance(0.1) ? mutateHeaders(sample.headers, all, random) : sample.headers;
  return { kind, headers, body: bodyOf(kind, sample, all, random) };
}

function bodyOf(kind: (typeof kinds)[number], sample: Sample, all: readonly Sample[], random: Random): Buffer {
  switch (kind) {
    case 'sample, other fields':
      return mutateBody(sample.body, random);
    case 'sample, other bytes':
      return mutateBytes(sample.body, random);
    case 'sample, other headers':
      return sample.body;
    case 'random JSON':
      return Buffer.from(JSON.stringify(randomJson(all, random, 5)) ?? '');
    case 'random bytes':
      return Buffer.from(Array.from({ length: random.below(400) }, () => random.below(256)));
  }
}

function mutateBody(body: Buffer, random: Random): Buffer {
  const text = body.toString('utf8');
  if (text.startsWith('payload=')) {
    const inner = new URLSearchParams(text).get('payload') ?? '';
    return Buffer.from(`payload=${encodeURIComponent(mutateBody(Buffer.from(inner), random).toString('utf8'))}`);
  }
  try {
    return Buffer.from(mutateJson(mutateInside(JSON.parse(text), random), random));
  } catch (error) {
    if (error instanceof SyntaxError) return Buffer.from(mutateText(text, random));
    throw error;
  }
}

/** Some senders put a document into a text of the document, as it is or in base64. */
function mutateInside(node: unknown, random: Random): unknown {
  if (Array.isArray(node)) return node.map((inner) => mutateInside(inner, random));
  if (typeof node === 'object' && node !== null)
    return Object.fromEntries(Object.entries(node).map(([key, inner]) => [key, mutateInside(inner, random)]));
  if (typeof node !== 'string' || random.chance(0.5)) return node;
  for (const encoding of ['utf8', 'base64'] as const) {
    const decoded = encoding === 'utf8' ? node : Buffer.from(node, 'base64').toString('utf8');
    if (decoded.startsWith('{')) return Buffer.from(mutateBody(Buffer.from(decoded), random)).toString(encoding);
  }
  return node;
}

function mutateBytes(body: Buffer, random: Random): Buffer {
  const bytes = Buffer.from(body);
  for (let count = 1 + random.below(8); count > 0 && bytes.length > 0; count--) bytes[random.below(bytes.length)] = random.below(256);
  return random.chance(0.2) ? bytes.subarray(0, random.below(bytes.length + 1)) : bytes;
}

function mutateHeaders(headers: Sample['headers'], all: readonly Sample[], random: Random): Record<string, string> {
  const mutated: Record<string, string> = { ...headers };
  for (let count = 1 + random.below(3); count > 0; count--) {
    const [name, value] = random.pick(Object.entries(random.pick(all)?.headers ?? {})) ?? ['x-any', ''];
    const own = random.pick(Object.keys(mutated));
    if (random.chance(0.3) && own !== undefined) delete mutated[own];
    else mutated[name] = random.chance(0.5) ? value : printable(mutateText(value, random));
  }
  delete mutated['content-length'];
  delete mutated['transfer-encoding'];
  return mutated;
}

/** What a header may hold at all. */
function printable(text: string): string {
  return text.replaceAll(/[^\t\x20-\x7e\x80-\xff]/g, '?');
}

function randomJson(all: readonly Sample[], random: Random, depth: number): unknown {
  if (depth === 0 || random.chance(0.2))
    return random.pick([null, true, 1, 1e300, 'v1', 'team/api', 'registry.example.com', 'push', '', []] as const);
  if (random.chance(0.3)) return Array.from({ length: random.below(4) }, () => randomJson(all, random, depth - 1));
  const names = fieldsOf(random.pick(all));
  return Object.fromEntries(Array.from({ length: random.below(6) }, () => [random.pick(names) ?? 'a', randomJson(all, random, depth - 1)]));
}

function fieldsOf(sample: Sample | undefined): string[] {
  return [...(sample?.body.toString('utf8').matchAll(/"([A-Za-z_-]{1,30})"\s*:/g) ?? [])].map(([, name = '']) => name);
}
