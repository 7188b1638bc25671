/** When the spec of an object was last written, from its metadata.managedFields. */
import { fieldsOf } from './untyped.ts';

/** The latest time of an entry that owns a part of the spec; undefined if there is none. Times are texts of whole seconds in UTC, which sort by themselves. */
export function specWrittenAt(managedFields: readonly unknown[]): string | undefined {
  const times = managedFields.flatMap((entry) => {
    const { fieldsV1, time } = fieldsOf(entry);
    return 'f:spec' in fieldsOf(fieldsV1) && typeof time === 'string' ? [time] : [];
  });
  return times.toSorted().at(-1);
}
