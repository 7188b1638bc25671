/** Completes the records of pushes whose image another push has brought before: what becomes of the image is recorded with that one. */
import type { PolicyResult } from './event-log.ts';
import type { EventRecord, PushRecord } from './event-record.ts';
import { isFinal } from './record-result.ts';

/** Reads records by their ids. Those that are not kept any more are left out. */
type ReadRecords = (ids: readonly string[]) => Promise<ReadonlyMap<string, EventRecord>>;

/** The records, with what is known by now of images that had to wait when they were pushed once more. `read` is asked for other records, if at all. */
export async function withBrought(records: readonly EventRecord[], read: ReadRecords): Promise<readonly EventRecord[]> {
  const known = new Map(records.map((record) => [record.event.id, record]));
  const wanted = new Set(records.flatMap((record) => openIn(record).map(([, { broughtBy }]) => broughtBy)));
  if (wanted.size === 0) return records;
  const missing = [...wanted].filter((id) => !known.has(id));
  const others = missing.length === 0 ? new Map<string, EventRecord>() : await read(missing);
  return records.map((record) => complete(record, (id) => known.get(id) ?? others.get(id)));
}

type BroughtResult = PolicyResult & { readonly broughtBy: string };

/** The results that are not final, of images that another push has brought. */
function openIn(record: EventRecord): (readonly [policy: string, result: BroughtResult])[] {
  if (record.state === 'ignored') return [];
  return [...record.results].flatMap(([policy, result]) => {
    if (result?.broughtBy === undefined || isFinal(result)) return [];
    return [[policy, { ...result, broughtBy: result.broughtBy }] as const];
  });
}

function complete(record: EventRecord, find: (id: string) => EventRecord | undefined): EventRecord {
  const results = openIn(record).flatMap(([policy, own]) => {
    const other = find(own.broughtBy);
    const found = other === undefined || other.state === 'ignored' ? undefined : other.results.get(policy);
    return found === undefined || found.at < own.at ? [] : [[policy, join(own, found)] as const];
  });
  return results.length === 0 ? record : withResults(record as PushRecord, results);
}

/** The changes stay those of the push that has caused them. */
function join(
  { broughtBy, verifiedMs, hasRead }: BroughtResult,
  { changes: _changes, verifiedMs: _ms, ...found }: PolicyResult,
): PolicyResult {
  return { ...found, broughtBy, ...(verifiedMs !== undefined && { verifiedMs }), ...(hasRead !== undefined && { hasRead }) };
}

function withResults(record: PushRecord, results: readonly (readonly [string, PolicyResult])[]): PushRecord {
  return { ...record, results: new Map([...record.results, ...results]) };
}
