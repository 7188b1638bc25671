/** Converts the spec: makes the v1alpha1 view of a v1 spec, and the v1 spec after an edit of that view. */
import { parseDuration } from '../../core/model/text.ts';
import { isExpressible } from './is-expressible.ts';
import type { OldSpec, Origin } from './old-spec.ts';
import { textOf, withField, withPart } from './read-json.ts';
import { isObject, type JsonObject } from '../../core/model/untyped.ts';

/** A pattern that matches no tag, in RE2 and in JavaScript, and shows users why. */
export const matchesNothing = String.raw`[^\s\S]only-v1-says-what-is-selected`;
/** The name in the v1alpha1 view of a target that has a selector instead. No name in Kubernetes has brackets. */
const nameOfSelector = '(selector)';

const matchesEverything = '.*';
const defaultMinutes = 60;
const maxMinutes = 527_040;

/** The v1alpha1 view of a v1 spec; `namespace` is that of the policy. */
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
 * The written spec without the pattern that matches nothing, if another strategy than Regex was written with it. Patches and applies of a manifest without a
 * pattern keep the pattern of a hidden view, and it is not a version range.
 */
export function withoutOurPattern(written: OldSpec, shown: OldSpec): OldSpec {
  const isOurs = written.pattern === matchesNothing && shown.pattern === matchesNothing;
  return isOurs && written.strategy !== 'Regex' ? { ...written, pattern: undefined } : written;
}

/** The strategy and pattern of v1alpha1 for a spec that it can express. */
function projectChoice(spec: JsonObject, { pattern }: Origin): Pick<OldSpec, 'strategy' | 'pattern'> {
  const select = isObject(spec['select']) ? spec['select'] : {};
  if (isObject(select['semver'])) return { strategy: 'SemVer', pattern: textOf(select['semver']['range']) };
  if (isObject(select['digest'])) return { strategy: 'Latest', pattern: pattern ?? undefined };
  if (!isObject(select['alphabetical'])) return { strategy: 'Regex', pattern: pattern ?? undefined };
  const tags = isObject(spec['tags']) ? spec['tags'] : {};
  return { strategy: 'Regex', pattern: textOf(tags['allow']) ?? matchesEverything };
}

/** The interval in minutes. It is never absent: the API server would add the default of v1alpha1, which would count as an edit. */
function projectInterval(poll: unknown): number {
  const interval = isObject(poll) ? textOf(poll['interval']) : undefined;
  const milliseconds = interval === undefined ? undefined : parseDuration(interval);
  if (milliseconds === undefined) return defaultMinutes;
  return Math.min(Math.max(Math.ceil(milliseconds / 60_000), 1), maxMinutes);
}

/** An edit of the v1alpha1 view: what it showed, what was written to it, and the namespace of the policy. */
export interface Edit {
  readonly shown: OldSpec;
  readonly written: OldSpec;
  readonly namespace: string | undefined;
}

/**
 * The v1 spec after an edit of its v1alpha1 view: only the fields that correspond to the edited ones change. For a policy that was never stored as v1, the
 * base is empty and nothing was shown.
 */
export function mergeSpec(base: JsonObject, edit: Edit): JsonObject {
  const { shown, written } = edit;
  let spec = base;
  if (written.repository !== shown.repository) spec = withField(spec, 'image', written.repository);
  if (written.strategy !== shown.strategy || written.pattern !== shown.pattern) spec = mergeChoice(spec, edit);
  spec = mergeTarget(spec, edit);
  if (written.pollIntervalMinutes !== shown.pollIntervalMinutes) spec = mergeInterval(spec, written.pollIntervalMinutes);
  return spec;
}

function mergeChoice(base: JsonObject, { shown, written }: Edit): JsonObject {
  // The strategy is compared even if the choice was hidden, so that a user who applies an old manifest again does not undo what was added in v1.
  if (written.strategy === undefined || written.strategy !== strategyOf(base)) return replaceChoice(base, written);
  // A range that was not shown cannot have been removed.
  const isHidden = shown.pattern === matchesNothing && written.pattern === undefined;
  return isHidden && written.strategy === 'SemVer' ? base : mergePattern(base, written);
}

/** The v1alpha1 strategy that corresponds to the choice of a v1 spec; undefined if only v1 has it. */
function strategyOf(spec: JsonObject): string | undefined {
  const select = objectIn(spec, 'select');
  const [chosen, ...others] = Object.keys(select);
  if (others.length > 0) return undefined;
  if (chosen === 'semver') return 'SemVer';
  if (chosen === 'alphabetical') return 'Regex';
  return chosen === 'digest' && objectIn(select, 'digest')['tag'] === 'latest' ? 'Latest' : undefined;
}

/** Merges an edit of the pattern alone. The pattern has no meaning with Latest. */
function mergePattern(base: JsonObject, written: OldSpec): JsonObject {
  const { strategy, pattern } = written;
  const select = objectIn(base, 'select');
  if (strategy === 'Latest') return base;
  if (strategy === 'SemVer')
    return withField(base, 'select', { ...select, semver: withField(objectIn(select, 'semver'), 'range', pattern) });
  return pattern ? withField(base, 'tags', { ...objectIn(base, 'tags'), allow: pattern }) : replaceChoice(base, written);
}

/** Replaces the choice by the written one, after a change of the strategy, or if only v1 has the former strategy. */
function replaceChoice(base: JsonObject, written: OldSpec): JsonObject {
  const { select, allow } = buildChoice(written);
  const spec = withField(withField(base, 'select', select), 'tags', allow === undefined ? undefined : { allow });
  // The default of pin depends on the strategy. An explicit default is removed, so that the default of the new strategy applies.
  const wasDigest = 'digest' in objectIn(base, 'select');
  const update = objectIn(base, 'update');
  const wasDefault = update['pin'] === (wasDigest ? 'Digest' : 'Tag');
  return wasDefault && wasDigest !== (written.strategy === 'Latest') ? withPart(spec, 'update', withField(update, 'pin', undefined)) : spec;
}

function buildChoice({ strategy, pattern }: OldSpec): { select?: JsonObject; allow?: string } {
  if (strategy === 'SemVer') return { select: { semver: withField({}, 'range', pattern) } };
  if (strategy === 'Latest') return { select: { digest: { tag: 'latest' } } };
  if (strategy !== 'Regex') return {};
  // In v1alpha1, Regex without a pattern selects nothing. In v1, alphabetical without one selects among all tags.
  return pattern ? { select: { alphabetical: {} }, allow: pattern } : { select: {} };
}

function mergeTarget(base: JsonObject, { shown, written, namespace }: Edit): JsonObject {
  if (written.kind === shown.kind && written.name === shown.name && written.namespace === shown.namespace) return base;
  const [first, ...others]: unknown[] = Array.isArray(base['targets']) ? base['targets'] : [];
  let target = isObject(first) ? first : {};
  if (written.kind !== shown.kind) target = withField(target, 'kind', written.kind);
  // A target has either a name or a selector.
  if (written.name !== shown.name) target = withField(withField(target, 'selector', undefined), 'name', written.name);
  if (written.namespace !== shown.namespace) {
    target = withField(target, 'namespace', written.namespace === namespace ? undefined : written.namespace);
  }
  return { ...base, targets: [target, ...others] };
}

function mergeInterval(base: JsonObject, minutes: number | undefined): JsonObject {
  return withPart(base, 'poll', withField(objectIn(base, 'poll'), 'interval', minutes === undefined ? undefined : `${minutes}m`));
}

function objectIn(object: JsonObject, key: string): JsonObject {
  const inner = object[key];
  return isObject(inner) ? inner : {};
}
