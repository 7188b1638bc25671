import { isAlias, isMap, isNode, isScalar, isSeq, type Document, type Node } from 'yaml';
import type { Keys } from '../../api-versions/validation/problem.ts';

/** Where a field stands in a document (its name; of an entry of a list its start), or the innermost that is there of what it is in. */
export function offsetOf(document: Document.Parsed, keys: Keys): number {
  let current: unknown = document.contents;
  let offset = startOf(current) ?? 0;
  for (const key of keys) {
    const step = stepInto(resolve(current, document), key);
    if (step === undefined) break;
    // What an alias stands for is elsewhere; the user looks here.
    if (!isAlias(current)) offset = startOf(step.at) ?? offset;
    current = step.value;
  }
  return offset;
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
  return isNode(node) ? rangeStart(node) : undefined;
}

function rangeStart(node: Node): number | undefined {
  return node.range?.[0];
}
