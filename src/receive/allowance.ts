export interface AllowanceOptions {
  /** In any minute, of one key. */
  readonly perKey: number;
  /** In any minute, of all keys together; so many are remembered at most. */
  readonly total: number;
  readonly now: () => number;
}

const minuteMs = 60_000;

/** Whether something that strangers can cause may be done once more: a share for each key, and a limit for all of them. Of this process alone. */
export function createAllowance({ perKey, total, now }: AllowanceOptions): (key: string) => boolean {
  let taken: { readonly key: string; readonly at: number }[] = [];
  return (key) => {
    const at = now();
    taken = taken.filter((each) => each.at > at - minuteMs);
    if (taken.length >= total || taken.filter((each) => each.key === key).length >= perKey) return false;
    taken.push({ key, at });
    return true;
  };
}
