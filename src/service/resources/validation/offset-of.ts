/** Finds where a field is written in a YAML document. */
import { type Document, isAlias, isMap, isNode, isScalar, isSeq } from 'yaml';
import type { Keys } from './problem.ts';

/** The place of a field in a text: the offset of its name, or of the start of a list entry. A missing field has the place of its innermost parent. */
export interface FieldPlace {
  readonly offset: number;
  /** How many of the field's keys exist in the document. */
  readonly depth: number;
}

/** Finds a field in a document. */
export function placeIn(document: Document.Parsed, keys: Keys): FieldPlace {
  let current: unknown = document.contents;
  let offset = startOf(current) ?? 0;
  let depth = 0;
  for (const key of keys) {
    const step = stepInto(resolve(current, document), key);
    if (step === undefined) break;
    depth++;
    // The offset stays at an alias, because the content of the alias is elsewhere in the document.
    if (!isAlias(current)) offset = startOf(step.at) ?? offset;
    current = step.value;
  }
  return { offset, depth };
}

/** The offset of a field in a document. */
export function offsetOf(document: Document.Parsed, keys: Keys): number {
  return placeIn(document, keys).offset;
}

function stepInto(node: unknown, key: string | number): { at: unknown; value: unknown } | undefined {
  if (isSeq(node)) {
    const value = typeof key === 'number' ? node.items[key] : undefined;
    return value === undefined ? undefined : { at: value, value };
  }
  if (!isMap(node)) return undefined;
  const pair = node.items.find((item) => isScalar(item.key) && String(item.key.value) === String(key));
  return pair && { at: pair.key, value: pair.value };
}

function resolve(node: unknown, document: Document.Parsed): unknown {
  return isAlias(node) ? node.resolve(document) : node;
}

function startOf(node: unknown): number | undefined {
  return isNode(node) ? node.range?.[0] : undefined;
}
