import { type Document, isAlias, isMap, isNode, isScalar, isSeq, LineCounter, type Node, parseAllDocuments, type Tags } from 'yaml';
import { describeError } from '../../model/errors.ts';
import type { Keys } from '../../api-versions/validation/problem.ts';

/** A position in a text; both count from 1. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/** One document of a text, or why it cannot be read. */
export type ReadDocument =
  | { readonly value: unknown; readonly positionOf: (keys: Keys) => Position }
  | { readonly problems: readonly (Position & { readonly message: string })[] };

/** All documents of a text in YAML or JSON, read as kubectl does; empty ones are left out. */
export function readDocuments(text: string): readonly ReadDocument[] {
  const lines = new LineCounter();
  const positionAt = (offset: number): Position => {
    const { line, col } = lines.linePos(offset);
    return { line: Math.max(line, 1), column: Math.max(col, 1) };
  };
  // kubectl reads YAML 1.1 ("on" is true), but neither its times of the day nor its dates: 09:00 stays a text.
  const options = { lineCounter: lines, prettyErrors: false, version: '1.1', customTags: withoutTimes } as const;
  const documents: Document.Parsed[] = [...parseAllDocuments(text, options)];
  return documents.flatMap((document): ReadDocument[] => {
    // After one error of the syntax the others only follow from it.
    const errors = document.errors.filter(({ code }, index) => index === 0 || code === 'DUPLICATE_KEY');
    if (errors.length > 0) {
      return [{ problems: errors.map(({ message, pos }) => ({ ...positionAt(pos[0]), message: `is not YAML: ${message}` })) }];
    }
    if (document.contents === null) return [];
    try {
      return [{ value: document.toJS(), positionOf: (keys) => positionAt(offsetOf(document, keys)) }];
    } catch (error) {
      // Aliases that multiply without end.
      return [{ problems: [{ ...positionAt(document.range[0]), message: `cannot be read: ${describeError(error)}` }] }];
    }
  });
}

function withoutTimes(tags: Tags): Tags {
  return tags.filter((tag) => typeof tag === 'string' || (tag.format !== 'TIME' && tag.tag !== 'tag:yaml.org,2002:timestamp'));
}

/** The offset of a field in a document (of its name, or of the start of a list entry); of its innermost existing parent if it is missing. */
export function offsetOf(document: Document.Parsed, keys: Keys): number {
  let current: unknown = document.contents;
  let offset = startOf(current) ?? 0;
  for (const key of keys) {
    const step = stepInto(resolve(current, document), key);
    if (step === undefined) break;
    // The content of an alias is elsewhere; the position is that of the alias.
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
