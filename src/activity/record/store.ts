/** Where the durable record is kept: numbered segments, which are written once and never changed. */
export interface SegmentStore {
  /** The place of the store, for people. */
  readonly place: string;
  /** Writes a segment, unless there is one with this number; returns whether it was written. A segment is there completely or not at all, whenever the process is killed. */
  put(segment: number, text: string, signal: AbortSignal): Promise<boolean>;
  /** The text of a segment; undefined if there is none. */
  read(segment: number, signal: AbortSignal): Promise<string | undefined>;
  /** The number of the last segment; undefined if there is none. */
  last(signal: AbortSignal): Promise<number | undefined>;
  /** The numbers of all segments, in order. */
  list(signal: AbortSignal): AsyncIterable<number>;
}

/** The largest segment that is read, in bytes. The service writes smaller ones. */
export const maxSegmentBytes = 32 * 1_048_576;

const digits = 10;

/** The name of a segment. Names have the order of their numbers. */
export function segmentName(segment: number): string {
  return `${String(segment).padStart(digits, '0')}.jsonl`;
}

/** The number in the name of a segment; undefined for other names. */
export function segmentOf(name: string): number | undefined {
  const [, number] = /^(\d{10})\.jsonl$/.exec(name) ?? [];
  return number === undefined ? undefined : Number(number);
}
