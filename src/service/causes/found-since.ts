/** Since when the findings of reports last: from the first report that had them, in this process or another one. */
import { toSeconds } from '../../core/model/text.ts';

/** Dates findings, by id: the times in RFC 3339. Never rejects. */
export type DateFound = (ids: readonly string[]) => Promise<ReadonlyMap<string, string>>;

/** Creates the memory of one process. `note` shares it with others; while it rejects, what this process has seen counts. */
export function createDateFound(
  note: (found: ReadonlyMap<string, number>) => Promise<ReadonlyMap<string, number>>,
  now: () => Date,
): DateFound {
  let known: ReadonlyMap<string, number> = new Map();
  return async (ids) => {
    const at = now().getTime();
    known = new Map(ids.map((id) => [id, Math.min(known.get(id) ?? at, at)]));
    try {
      known = new Map([...known, ...(await note(known))]);
    } catch {
      // A report must not fail because Redis is away, which it reports itself.
    }
    return new Map([...known].map(([id, since]) => [id, toSeconds(new Date(since))]));
  };
}
