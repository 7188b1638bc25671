import {
  advancePattern,
  formatFieldPath,
  hasWildcard,
  parseFieldPath,
  startPattern,
  type FieldSteps,
  type PatternProgress,
} from '../../core/model/field-path.ts';
import { defined } from '../../core/model/defined.ts';
import { registryPathsOf, type FieldRule } from '../../core/model/field-rules.ts';
import type { WorkloadField } from '../../core/model/workload.ts';
import { findOwner, type mainEntries } from './field-owner.ts';
import { isObject } from '../../core/model/untyped.ts';

type Entries = ReturnType<typeof mainEntries>;

/** The limits for the fields and the depth of an object, beyond what real objects need. Anybody who may write the object controls its size. */
const maxFields = 1_000;
const maxDepth = 32;
/** The limit for the values that patterns visit in an object: visiting a value takes about a microsecond, and an object may have a million. */
const maxVisited = 20_000;

/**
 * The values of the fields that the rules let policies write, by path. A pattern covers all fields of the object that match it, each with its repository
 * field and the fields that may hold its registry, as far as they have a parent.
 */
export function readFields(raw: unknown, rules: readonly FieldRule[], entries: Entries): Readonly<Record<string, WorkloadField>> {
  const found = new Map<string, WorkloadField>();
  const visits: Visits = { left: maxVisited };
  const add = (steps: FieldSteps) => {
    const path = formatFieldPath(steps);
    if (found.size < maxFields && !found.has(path)) found.set(path, readField(raw, steps, entries));
  };
  const addRepository = (steps: FieldSteps) => {
    add(steps);
    for (const path of Object.values({ ...registryPathsOf(formatFieldPath(steps)) })) add(parseFieldPath(path));
  };
  for (const { path, repository, version, chart } of rules) {
    const pattern = parseFieldPath(path);
    if (version !== undefined) add(parseFieldPath(version));
    const beside = repository === undefined ? undefined : parseFieldPath(repository);
    const nameOfChart = chart?.name === undefined ? undefined : parseFieldPath(chart.name);
    const addSource = chart === undefined ? addRepository : add;
    if (!hasWildcard(path)) {
      add(pattern);
      if (beside !== undefined) addSource(beside);
      if (nameOfChart !== undefined) add(nameOfChart);
      if (chart?.source !== undefined)
        for (const other of [chart.source.kindField, chart.source.namespaceField]) add(parseFieldPath(other));
      for (const other of chart?.overruledBy ?? []) add(parseFieldPath(other));
      continue;
    }
    const names = [pattern, beside].flatMap((steps) => steps?.at(-1) ?? []);
    for (const { parent, steps } of parentsOf(raw, pattern.slice(0, -1), visits)) {
      if (found.size >= maxFields) break;
      if (names.includes('[*]') && Array.isArray(parent)) for (const index of parent.keys()) add([...steps, index]);
      else if (names.some((name) => childOf(parent, name) !== undefined)) {
        add([...steps, pattern.at(-1) ?? '']);
        if (beside !== undefined) addSource([...steps, beside.at(-1) ?? '']);
        if (nameOfChart !== undefined) add([...steps, nameOfChart.at(-1) ?? '']);
      }
    }
  }
  return Object.fromEntries(found);
}

interface Parent {
  readonly parent: unknown;
  readonly steps: FieldSteps;
}

/** The way to a value, and how much of the pattern it matches. */
interface Way {
  readonly progress: PatternProgress;
  readonly steps: FieldSteps;
}

/** The number of values that may still be visited in an object. */
interface Visits {
  left: number;
}

/** The values in an object that a pattern matches, until the visits are used up. Values below names that paths cannot have are left out. */
function* parentsOf(
  parent: unknown,
  pattern: FieldSteps,
  visits: Visits,
  { progress, steps }: Way = { progress: startPattern(pattern), steps: [] },
): Generator<Parent> {
  if (progress.has(pattern.length)) yield { parent, steps };
  if (visits.left <= 0 || steps.length >= maxDepth || typeof parent !== 'object' || parent === null) return;
  for (const step of Array.isArray(parent) ? parent.keys() : Object.keys(parent)) {
    if (visits.left-- <= 0) return;
    if (typeof step === 'string' && !/^[A-Za-z0-9_-]+$/.test(step)) continue;
    const next = advancePattern(pattern, progress, step);
    if (next.size > 0) yield* parentsOf(childOf(parent, step), pattern, visits, { progress: next, steps: [...steps, step] });
  }
}

/** The value of a field of a raw object; null if it is not set and its parent exists. Entries of a list are always set: adding one would move the others. */
function readField(raw: unknown, steps: FieldSteps, entries: Entries): WorkloadField {
  let parent: unknown = raw;
  for (const step of steps.slice(0, -1)) parent = childOf(parent, step);
  const last = steps.at(-1) ?? '';
  const canHold = typeof last === 'number' ? Array.isArray(parent) && last < parent.length : isObject(parent);
  if (!canHold) return { unusable: 'ParentMissing' };
  const value = childOf(parent, last) ?? null;
  if (typeof value !== 'string' && typeof value !== 'number' && value !== null) return { unusable: 'NotText' };
  const { manager, time } = findOwner(entries, steps.map(toFieldStep)) ?? {};
  return { value, ...defined({ owner: manager, setAt: time }) };
}

function childOf(parent: unknown, step: string | number): unknown {
  if (typeof step === 'number') return Array.isArray(parent) ? (parent as unknown[])[step] : undefined;
  return isObject(parent) && Object.hasOwn(parent, step) ? parent[step] : undefined;
}

/** The step of a field in fieldsV1. Entries of a list have no step, because no manager records one, so the owner of the list counts. */
function toFieldStep(step: string | number): string {
  return typeof step === 'number' ? `i:${step}` : `f:${step}`;
}
