/**
 * Writes the durable record. Each entry is written once, in whatever order processes are killed: a segment is written before its entries leave the outbox, and before
 * the next segment is written, all that is in the one before it has left the outbox.
 */
import type { Outbox, OutboxEntry } from '../../service/queue/outbox.ts';
import type { Tail } from '../../service/queue/outbox-functions.ts';
import { makeSegment, noTail, tailOf, type Fact } from './chain.ts';
import type { SegmentStore } from './store.ts';

export interface RecordPorts {
  readonly outbox: Outbox;
  readonly store: SegmentStore;
  /** The facts of entries, with pushes as they are now. */
  readonly describe: (entries: readonly OutboxEntry[]) => Promise<readonly Fact[]>;
  /** What the lines name as their source. */
  readonly source: string;
}

/** How many entries a segment has at most. */
const maxEntries = 500;

/** Writes all that waits. Returns how many entries were written. Several replicas may do it at once. */
export async function writeRecord(ports: RecordPorts, signal: AbortSignal): Promise<number> {
  const { outbox, store, describe, source } = ports;
  let written = 0;
  for (;;) {
    signal.throwIfAborted();
    if ((await outbox.read(1)).length === 0) return written;
    const tail = await findTail(ports, signal);
    const entries = await outbox.read(maxEntries);
    if (entries.length === 0) return written;
    const facts = await describe(entries);
    const segment = makeSegment(tail, facts, source);
    // Another replica may have written a segment with this number. The next round finds it.
    if (!(await store.put(segment.tail.segment, segment.text, signal))) continue;
    await outbox.commit(
      segment.tail,
      facts.map(({ id }) => id),
    );
    written += facts.length;
  }
}

/** The tail of the record. What a killed process has written without committing it leaves the outbox first. */
async function findTail({ outbox, store }: RecordPorts, signal: AbortSignal): Promise<Tail> {
  const adopt = async (segment: number, text: string) => {
    const { tail, ids } = tailOf(segment, text);
    await outbox.commit(tail, ids);
    return tail;
  };
  let tail = await outbox.tail();
  if (tail === undefined) {
    const last = await store.last(signal);
    const text = last === undefined ? undefined : await store.read(last, signal);
    tail = last === undefined || text === undefined ? noTail : await adopt(last, text);
  }
  for (;;) {
    const next = tail.segment + 1;
    const text = await store.read(next, signal);
    if (text === undefined) return tail;
    tail = await adopt(next, text);
  }
}
