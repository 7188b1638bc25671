/** The chain of the durable record: CloudEvents, one for each line, of which each has the hash of the line before it. Pure. */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { Tail } from '../../service/queue/outbox-functions.ts';

/** What is written: the data of a CloudEvent, with its id and the time at which it happened. */
export interface Fact {
  readonly id: string;
  readonly type: (typeof factTypes)[number];
  readonly time: string;
  readonly subject: string;
  readonly data: object;
}

/** What happened: a push, what the service did, what somebody asked for, or how many entries could not be written. */
const factTypes = ['push', 'change', 'action', 'lost'] as const;

/** The tail of a record that is empty. */
export const noTail: Tail = { segment: 0, sequence: 0, hash: '0'.repeat(64) };

const typePrefix = 'dev.technomad.image-watcher.';
const digits = 12;

/** A line of the record: https://github.com/cloudevents/spec/blob/v1.0.2/cloudevents/spec.md, with the extension `sequence`, and `previoushash`. */
const lineSchema = z.object({
  specversion: z.literal('1.0'),
  id: z.string().max(128),
  source: z.string().max(1_024),
  type: z.enum(factTypes.map((type) => `${typePrefix}${type}` as const)),
  subject: z.string().max(1_200),
  time: z.string().max(40),
  datacontenttype: z.literal('application/json'),
  sequence: z.string().regex(/^\d{12}$/),
  previoushash: z.string().regex(/^[0-9a-f]{64}$/),
  data: z.looseObject({}),
});

/** A line as it is read again. */
export interface Line extends Omit<Fact, 'data'> {
  readonly sequence: number;
  readonly previous: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** The segment that follows a tail: lines that each end with a line feed, and the tail after them. */
export function makeSegment(tail: Tail, facts: readonly Fact[], source: string): { readonly text: string; readonly tail: Tail } {
  let { sequence, hash } = tail;
  const lines = facts.map(({ id, type, subject, time, data }) => {
    const number = String(++sequence).padStart(digits, '0');
    const about = { source, type: `${typePrefix}${type}`, subject, time, datacontenttype: 'application/json' };
    const line = JSON.stringify({ specversion: '1.0', id, ...about, sequence: number, previoushash: hash, data });
    hash = hashOf(line);
    return `${line}\n`;
  });
  return { text: lines.join(''), tail: { segment: tail.segment + 1, sequence, hash } };
}

/** The SHA-256 of a line without its line feed, in hex. */
export function hashOf(line: string): string {
  return createHash('sha256').update(line, 'utf8').digest('hex');
}

/** Reads a line; undefined if it is not one of the record. */
export function readLine(text: string): Line | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  const { data: line } = lineSchema.safeParse(value);
  if (line === undefined) return undefined;
  const { id, type, subject, time, sequence, previoushash: previous, data } = line;
  return {
    id,
    type: type.slice(typePrefix.length) as Fact['type'],
    subject,
    time,
    sequence: Number(sequence),
    previous,
    data,
  };
}

/** The lines of a segment, and whether the last one is complete. */
export function linesOf(text: string): { readonly lines: readonly string[]; readonly isComplete: boolean } {
  const lines = text.split('\n');
  const rest = lines.pop();
  return rest === '' || rest === undefined ? { lines, isComplete: true } : { lines: [...lines, rest], isComplete: false };
}

/** The most ids that are read from a segment. The service writes fewer. */
const maxIds = 1_000;

/** The tail of a segment that somebody wrote, and the ids in it. Whatever its last line is, the next one has the hash of it. */
export function tailOf(segment: number, text: string): { readonly tail: Tail; readonly ids: readonly string[] } {
  const { lines } = linesOf(text);
  const read = lines.map(readLine);
  const known = read.findLastIndex((line) => line !== undefined);
  const sequence = (read[known]?.sequence ?? 0) + (lines.length - 1 - known);
  return {
    tail: { segment, sequence, hash: hashOf(lines.at(-1) ?? '') },
    ids: read.flatMap((line) => (line !== undefined && /^\d{1,15}-\d{1,20}$/.test(line.id) ? [line.id] : [])).slice(0, maxIds),
  };
}
