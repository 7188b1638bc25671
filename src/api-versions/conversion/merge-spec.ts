import type { OldSpec } from './old-spec.ts';
import { matchesNothing } from './project-spec.ts';
import { isObject, withField, withPart, type JsonObject } from './read-json.ts';

/** What the older shape showed, what it says now, and the policy's own namespace. */
export interface Edit {
  readonly shown: OldSpec;
  readonly written: OldSpec;
  readonly namespace: string | undefined;
}

/**
 * The v1 spec after an edit of its v1alpha1 view: only what the changed leaves stand for is another. For a policy that exists as
 * v1alpha1 only, the base is empty and nothing was shown.
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

function mergeChoice(base: JsonObject, edit: Edit): JsonObject {
  const { shown, written } = edit;
  const isVisible = shown.pattern !== matchesNothing;
  return isVisible && written.strategy === shown.strategy ? mergePattern(base, written) : replaceChoice(base, written);
}

/** Only the pattern is another. */
function mergePattern(base: JsonObject, written: OldSpec): JsonObject {
  const { strategy, pattern } = written;
  const select = objectIn(base, 'select');
  if (strategy === 'SemVer')
    return withField(base, 'select', { ...select, semver: withField(objectIn(select, 'semver'), 'range', pattern) });
  if (strategy === 'Regex' && pattern && isObject(select['alphabetical'])) {
    return withField(base, 'tags', { ...objectIn(base, 'tags'), allow: pattern });
  }
  return replaceChoice(base, written);
}

/** Another strategy, or a choice that could not be seen: what is written is all there is of it. */
function replaceChoice(base: JsonObject, written: OldSpec): JsonObject {
  const { select, allow } = buildChoice(written);
  const spec = withField(withField(base, 'select', select), 'tags', allow === undefined ? undefined : { allow });
  // The default of pin depends on the strategy: who wrote the default out wants that of the new one.
  const wasDigest = 'digest' in objectIn(base, 'select');
  const update = objectIn(base, 'update');
  const wasDefault = update['pin'] === (wasDigest ? 'Digest' : 'Tag');
  return wasDefault && wasDigest !== (written.strategy === 'Latest') ? withPart(spec, 'update', withField(update, 'pin', undefined)) : spec;
}

function buildChoice({ strategy, pattern }: OldSpec): { select?: JsonObject; allow?: string } {
  if (strategy === 'SemVer') return { select: { semver: withField({}, 'range', pattern) } };
  if (strategy === 'Latest') return { select: { digest: { tag: 'latest' } } };
  if (strategy !== 'Regex') return {};
  // Regex without a pattern never selected anything, while alphabetical without one selects among all tags.
  return pattern ? { select: { alphabetical: {} }, allow: pattern } : { select: {} };
}

function mergeTarget(base: JsonObject, { shown, written, namespace }: Edit): JsonObject {
  if (written.kind === shown.kind && written.name === shown.name && written.namespace === shown.namespace) return base;
  const [first, ...others]: unknown[] = Array.isArray(base['targets']) ? base['targets'] : [];
  let target = isObject(first) ? first : {};
  if (written.kind !== shown.kind) target = withField(target, 'kind', written.kind);
  // Either a name or a selector.
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
