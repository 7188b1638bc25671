import { defined, isObject, textOf, wholeNumberOf, type JsonObject } from './read-json.ts';
import { group } from '../group.ts';

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

/** The annotation of a policy that was written as v1alpha1, with what was said there and v1 has no words for. It grants nothing: its author may write it. */
export const originAnnotation = `${group}/v1alpha1`;

/** What a policy said as v1alpha1 and its v1 spec does not say; JSON in the annotation, which is absent when there is nothing. */
export interface Origin {
  /** A kind other than Deployment that its author wrote himself, so that he may see it. */
  readonly kind?: string | undefined;
  /** A pattern that means nothing: beside Latest, or the empty one of Regex; null is a Regex without any. */
  readonly pattern?: string | null | undefined;
}

/** Reads the annotation; one that is not ours says nothing. */
export function readOrigin(annotations: unknown): Origin {
  const text = isObject(annotations) ? textOf(annotations[originAnnotation]) : undefined;
  const read = text === undefined ? undefined : parse(text);
  if (!isObject(read)) return {};
  const pattern = read['pattern'] === null ? null : textOf(read['pattern']);
  return { kind: textOf(read['kind']), pattern };
}

/** The text of the annotation; undefined when there is nothing to say. */
export function writeOrigin({ kind, pattern }: Origin): string | undefined {
  const text = JSON.stringify({ kind, pattern });
  return text === '{}' ? undefined : text;
}

/** The origin of a policy that exists as v1alpha1 only. */
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
  // The API server takes no longer annotations.
  if (text.length > 256 * 1024) return undefined;
  try {
    return JSON.parse(text) as JsonObject;
  } catch {
    // Somebody else's text: conversion must not fail for it.
    return undefined;
  }
}
