import { parseFieldPath } from '../core/field-path.ts';
import type { WorkloadField } from '../core/workload.ts';
import { findOwner, type mainEntries } from './field-owner.ts';

/** What a field of a raw object holds; null where it is not set and its parent is there. Lists have no place that is not set: who adds one moves the others. */
export function readField(raw: unknown, path: string, entries: ReturnType<typeof mainEntries>): WorkloadField {
  const steps = parseFieldPath(path);
  let parent: unknown = raw;
  for (const step of steps.slice(0, -1)) parent = childOf(parent, step);
  const last = steps.at(-1) ?? '';
  const canHold = typeof last === 'number' ? Array.isArray(parent) && last < parent.length : isObject(parent);
  if (!canHold) return { unusable: 'ParentMissing' };
  const value = childOf(parent, last) ?? null;
  if (typeof value !== 'string' && typeof value !== 'number' && value !== null) return { unusable: 'NotText' };
  const { manager, time } = findOwner(entries, steps.map(toFieldStep)) ?? {};
  return { value, ...(manager !== undefined && { owner: manager }), ...(time !== undefined && { setAt: time }) };
}

function childOf(parent: unknown, step: string | number): unknown {
  if (typeof step === 'number') return Array.isArray(parent) ? (parent as unknown[])[step] : undefined;
  return isObject(parent) && Object.hasOwn(parent, step) ? parent[step] : undefined;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Places in a list are not owned one by one: such a step is in nobody's record, so the list's owner counts. */
function toFieldStep(step: string | number): string {
  return typeof step === 'number' ? `i:${step}` : `f:${step}`;
}
