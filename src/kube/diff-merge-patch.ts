import { isDeepStrictEqual } from 'node:util';

type Json = Record<string, unknown>;

/**
 * The JSON merge patch (RFC 7386) that turns `before` into `after`, or undefined when they are equal. Removed keys are null at every depth, because a merge
 * would keep them; arrays are replaced whole.
 */
export function diffMergePatch(before: Json, after: Json): Json | undefined {
  const patch: Json = {};
  for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) {
    // To a merge null is "absent", so null and absent must not count as different.
    const [old, now] = [before[key] ?? null, after[key] ?? null];
    if (isDeepStrictEqual(old, now)) continue;
    const change = isPlainObject(old) && isPlainObject(now) ? diffMergePatch(old, now) : now;
    if (change !== undefined) patch[key] = change;
  }
  return Object.keys(patch).length === 0 ? undefined : patch;
}

function isPlainObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
