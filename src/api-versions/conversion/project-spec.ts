import { parseDuration } from '../../model/text.ts';
import { isExpressible } from './is-expressible.ts';
import type { OldSpec } from './old-spec.ts';
import type { Origin } from './origin.ts';
import { isObject, textOf, type JsonObject } from './read-json.ts';

/** Matches no tag in RE2 and in JavaScript, and tells who reads it why. */
export const matchesNothing = String.raw`[^\s\S]only-v1-says-what-is-selected`;
/** Stands where a name is required and v1 has a selector; no name of Kubernetes has brackets. */
export const nameOfSelector = '(selector)';

const matchesEverything = '.*';
const defaultMinutes = 60;
const maxMinutes = 527_040;

/** The nearest older shape of a v1 spec; `namespace` is the policy's own. */
export function projectSpec(spec: JsonObject, origin: Origin, namespace: string | undefined): OldSpec {
  const targets: unknown = spec['targets'];
  const target: unknown = Array.isArray(targets) ? targets[0] : undefined;
  return {
    repository: textOf(spec['image']),
    ...(isExpressible(spec, origin) ? projectChoice(spec, origin) : { strategy: 'Regex', pattern: matchesNothing }),
    ...(isObject(target) && {
      kind: textOf(target['kind']),
      name: textOf(target['name']) ?? (target['selector'] === undefined ? undefined : nameOfSelector),
      namespace: textOf(target['namespace']) ?? namespace,
    }),
    pollIntervalMinutes: projectInterval(spec['poll']),
  };
}

/**
 * What is written, without our own pattern where only the strategy was: patches and applies of a manifest without a pattern leave the
 * one of a hidden view in place, and it is no version range.
 */
export function withoutOurPattern(written: OldSpec, shown: OldSpec): OldSpec {
  const isOurs = written.pattern === matchesNothing && shown.pattern === matchesNothing;
  return isOurs && written.strategy !== 'Regex' ? { ...written, pattern: undefined } : written;
}

/** Of expressible specs only. */
function projectChoice(spec: JsonObject, { pattern }: Origin): Pick<OldSpec, 'strategy' | 'pattern'> {
  const select = isObject(spec['select']) ? spec['select'] : {};
  if (isObject(select['semver'])) return { strategy: 'SemVer', pattern: textOf(select['semver']['range']) };
  if (isObject(select['digest'])) return { strategy: 'Latest', pattern: pattern ?? undefined };
  if (!isObject(select['alphabetical'])) return { strategy: 'Regex', pattern: pattern ?? undefined };
  const tags = isObject(spec['tags']) ? spec['tags'] : {};
  return { strategy: 'Regex', pattern: textOf(tags['allow']) ?? matchesEverything };
}

/** Always a number: the API server would write v1alpha1's default into an absent one, and that would look like an edit. */
function projectInterval(poll: unknown): number {
  const interval = isObject(poll) ? textOf(poll['interval']) : undefined;
  const milliseconds = interval === undefined ? undefined : parseDuration(interval);
  if (milliseconds === undefined) return defaultMinutes;
  return Math.min(Math.max(Math.ceil(milliseconds / 60_000), 1), maxMinutes);
}
