/** The steps of a field path: `spec.parameters[0].value` → `['spec', 'parameters', 0, 'value']`. */
export type FieldSteps = readonly (string | number)[];

/** The form of a field path: names separated by dots, and `[0]` for the first entry of a list. No character needs escaping in a JSON pointer. */
export const fieldPathPattern = /^[A-Za-z_][A-Za-z0-9_-]*(?:\[[0-9]{1,4}\]|\.[A-Za-z0-9_-]+)*$/;

/** The form of a path with wildcards: `*` is any name, `[*]` any list entry, `**` zero or more of either. First and last step cannot be wildcards. */
export const fieldPatternPattern =
  /^[A-Za-z_][A-Za-z0-9_-]*(?:\[(?:[0-9]{1,4}|\*)\]|\.(?:[A-Za-z0-9_-]+|\*{1,2}))*(?:\[(?:[0-9]{1,4}|\*)\]|\.[A-Za-z0-9_-]+)$/;

/** Parses a path or a pattern that matched its regular expression. Brackets contain a list index. */
export function parseFieldPath(path: string): FieldSteps {
  return [...path.matchAll(/\[([0-9]+)\]|\[\*\]|[^.[\]]+/g)].map(([step, place]) => (place === undefined ? step : Number(place)));
}

/** The canonical text of a path, in which `[007]` is `[7]`. */
export function formatFieldPath(steps: FieldSteps): string {
  return steps.map((step, index) => (typeof step === 'number' ? `[${step}]` : index === 0 ? step : `.${step}`)).join('');
}

/** The longest container name that a policy's status may hold. */
const maxLabel = 63;

/** A label for a path in the place of a container name: its last steps, as far as they fit. */
export function fieldLabel(path: string): string {
  return path.length <= maxLabel ? path : `…${path.slice(1 - maxLabel)}`;
}

/** Whether a pattern has wildcards. */
export function hasWildcard(pattern: string): boolean {
  return pattern.includes('*');
}

/** The state of matching a path against a pattern: the indexes of the steps that may match next. Each step of the path costs time proportional to the pattern's length. */
export type PatternProgress = ReadonlySet<number>;

/** The state before the first step. */
export function startPattern(pattern: FieldSteps): PatternProgress {
  return skipAnything(pattern, [0]);
}

/** The state after one more step; empty if the path cannot match any more. */
export function advancePattern(pattern: FieldSteps, progress: PatternProgress, step: string | number): PatternProgress {
  const next: number[] = [];
  for (const index of progress) {
    const wanted = pattern[index];
    if (wanted === '**') next.push(index);
    else if (wanted === step || wanted === (typeof step === 'number' ? '[*]' : '*')) next.push(index + 1);
  }
  return skipAnything(pattern, next);
}

/** Whether a pattern matches a whole path. */
export function matchesPattern(pattern: FieldSteps, path: FieldSteps): boolean {
  const end = path.reduce<PatternProgress>((progress, step) => advancePattern(pattern, progress, step), startPattern(pattern));
  return end.has(pattern.length);
}

/** The indexes to match, including those after `**`, which may match nothing. */
function skipAnything(pattern: FieldSteps, indices: readonly number[]): PatternProgress {
  const progress = new Set<number>();
  for (let index of indices) {
    progress.add(index);
    while (pattern[index] === '**') progress.add(++index);
  }
  return progress;
}
