import { defined, isObject, textOf, wholeNumberOf, type JsonObject } from './read-json.ts';

/** The leaves of a v1alpha1 spec; those that are absent or of another type are undefined. */
export interface OldSpec {
  readonly repository?: string | undefined;
  readonly strategy?: string | undefined;
  readonly pattern?: string | undefined;
  readonly kind?: string | undefined;
  readonly name?: string | undefined;
  readonly namespace?: string | undefined;
  readonly pollIntervalMinutes?: number | undefined;
}

/** Reads the leaves of a v1alpha1 spec, whatever else is in it. */
export function readOldSpec(spec: JsonObject): OldSpec {
  const tagPolicy = isObject(spec['tagPolicy']) ? spec['tagPolicy'] : {};
  const target = isObject(spec['updateTarget']) ? spec['updateTarget'] : {};
  const minutes = wholeNumberOf(spec['pollIntervalMinutes']);
  return {
    repository: textOf(spec['repository']),
    strategy: textOf(tagPolicy['strategy']),
    pattern: textOf(tagPolicy['pattern']),
    kind: textOf(target['kind']),
    name: textOf(target['name']),
    namespace: textOf(target['namespace']),
    pollIntervalMinutes: minutes !== undefined && minutes > 0 ? minutes : undefined,
  };
}

/** Writes the leaves as a v1alpha1 spec. */
export function writeOldSpec(leaves: OldSpec): JsonObject {
  const { repository, strategy, pattern, kind, name, namespace, pollIntervalMinutes } = leaves;
  const tagPolicy = defined({ strategy, pattern });
  const updateTarget = defined({ kind, name, namespace });
  return defined({ repository, tagPolicy, updateTarget, pollIntervalMinutes });
}
