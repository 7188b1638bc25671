/** The v1alpha1 spec, and its values that v1 cannot express. */
import { group } from '../../service/resources/group.ts';
import { defined, textOf, wholeNumberOf } from './read-json.ts';
import { isObject, type JsonObject, parseJson } from '../../core/model/untyped.ts';

/** The fields of a v1alpha1 spec; those that are absent or of another type are undefined. */
export interface OldSpec {
  readonly repository?: string | undefined;
  readonly strategy?: string | undefined;
  readonly pattern?: string | undefined;
  readonly kind?: string | undefined;
  readonly name?: string | undefined;
  readonly namespace?: string | undefined;
  readonly pollIntervalMinutes?: number | undefined;
}

/** Reads the fields of a v1alpha1 spec; unknown ones are ignored. */
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

/** Makes a v1alpha1 spec of the fields. */
export function writeOldSpec(old: OldSpec): JsonObject {
  const { repository, strategy, pattern, kind, name, namespace, pollIntervalMinutes } = old;
  const tagPolicy = defined({ strategy, pattern });
  const updateTarget = defined({ kind, name, namespace });
  return defined({ repository, tagPolicy, updateTarget, pollIntervalMinutes });
}

/** The annotation of a policy written as v1alpha1 with the values that v1 cannot express. It grants no rights: the policy's author may write it. */
export const originAnnotation = `${group}/v1alpha1`;

/** Values of a v1alpha1 spec that v1 cannot express; JSON in the annotation, which is absent if there are none. */
export interface Origin {
  /** A kind other than Deployment that its author wrote as v1alpha1, so that the view may show it. */
  readonly kind?: string | undefined;
  /** A pattern without effect: any pattern with Latest, or the empty one with Regex; null is Regex without a pattern. */
  readonly pattern?: string | null | undefined;
}

/** Reads the annotation with the origin; empty if the text is not ours. */
export function readOrigin(annotations: unknown): Origin {
  const text = isObject(annotations) ? textOf(annotations[originAnnotation]) : undefined;
  const read = text === undefined ? undefined : parse(text);
  if (!isObject(read)) return {};
  const pattern = read['pattern'] === null ? null : textOf(read['pattern']);
  return { kind: textOf(read['kind']), pattern };
}

/** The text of the annotation with the origin; undefined if there is nothing to write. */
export function writeOrigin({ kind, pattern }: Origin): string | undefined {
  const text = JSON.stringify({ kind, pattern });
  return text === '{}' ? undefined : text;
}

/** The origin of a policy that was never stored as v1. */
export function newOrigin(written: OldSpec): Origin {
  return { kind: oddKind(written), pattern: oddPattern(written) };
}

/** The origin after an edit of the v1alpha1 view. */
export function editedOrigin(origin: Origin, shown: OldSpec, written: OldSpec): Origin {
  const isSameChoice = written.strategy === shown.strategy && written.pattern === shown.pattern;
  return {
    kind: written.kind === shown.kind ? origin.kind : oddKind(written),
    pattern: isSameChoice ? origin.pattern : oddPattern(written),
  };
}

function oddKind({ kind }: OldSpec): string | undefined {
  return kind === 'Deployment' ? undefined : kind;
}

function oddPattern({ strategy, pattern }: OldSpec): string | null | undefined {
  if (strategy === 'Latest') return pattern;
  return strategy === 'Regex' && !pattern ? (pattern ?? null) : undefined;
}

function parse(text: string): JsonObject | undefined {
  // The API server accepts no longer annotations. A text that somebody else wrote must not make the conversion fail.
  return text.length > 256 * 1024 ? undefined : (parseJson(text) as JsonObject | undefined);
}
