/** Remembers the audit records that were read, because open pages read the same ones again and again: a hash that is as it was is not parsed again. */
import { BoundedMap } from '../../core/async/bounded-map.ts';
import { type EventRecord, readHash } from './event-record.ts';

type Hash = Readonly<Record<string, string>>;

interface Known {
  readonly hash: Hash;
  readonly fields: number;
  readonly record: EventRecord | undefined;
}

/** How many fields of hashes are remembered: a hash of a push for one policy has about 15, and one for thousands of policies thousands. */
const maxFields = 60_000;

/** Creates a reader of hashes by the id of their event, as `readHash` reads them. The same hash gives the same object. */
export function createKnownRecords(): (id: string, hash: Hash) => EventRecord | undefined {
  const known = new BoundedMap<string, Known>(maxFields, ({ fields }) => fields + 1);
  return (id, hash) => {
    const before = known.get(id);
    const fields = Object.keys(hash).length;
    if (before !== undefined && before.fields === fields && isSame(before.hash, hash)) return before.record;
    const record = readHash(hash);
    known.set(id, { hash, fields, record });
    return record;
  };
}

/** Whether two hashes with equally many fields are the same. */
function isSame(one: Hash, other: Hash): boolean {
  for (const field in one) if (one[field] !== other[field]) return false;
  return true;
}
