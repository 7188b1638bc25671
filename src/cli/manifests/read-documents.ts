import { type Document, isPair, isScalar, isSeq, LineCounter, parseAllDocuments, type Tags, visit } from 'yaml';
import { offsetOf } from '../../service/resources/validation/offset-of.ts';
import { describeError } from '../../core/model/errors.ts';
import { isObject } from '../../core/model/untyped.ts';
import type { Keys } from '../../service/resources/validation/problem.ts';

/** A position in a text; both count from 1. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/** A comment behind a value, as `image: web:1.4.2 # like this`. */
export interface Comment {
  readonly keys: Keys;
  /** Without the `#`. */
  readonly text: string;
}

/** One document of a text, or why it cannot be read. */
export type ReadDocument =
  | { readonly value: unknown; readonly positionOf: (keys: Keys) => Position; readonly comments: () => readonly Comment[] }
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
      const value: unknown = document.toJS();
      return [{ value, positionOf: (keys) => positionAt(offsetOf(document, keys)), comments: () => commentsIn(document) }];
    } catch (error) {
      // Aliases that multiply without end.
      return [{ problems: [{ ...positionAt(document.range[0]), message: `cannot be read: ${describeError(error)}` }] }];
    }
  });
}

/** The objects of a document: itself, or the items of a list (of lists). */
export function* objectsIn(value: unknown, keys: Keys = []): Generator<{ readonly value: unknown; readonly keys: Keys }> {
  const items = isObject(value) && typeof value['kind'] === 'string' && value['kind'].endsWith('List') ? value['items'] : undefined;
  if (!Array.isArray(items)) yield { value, keys };
  else for (const [index, item] of items.entries()) yield* objectsIn(item, [...keys, 'items', index]);
}

function commentsIn(document: Document.Parsed): Comment[] {
  const found: Comment[] = [];
  visit(document, {
    Scalar(key, node, ancestors) {
      if (key === 'key' || !node.comment) return;
      const keys = ancestors.flatMap((ancestor, depth): (string | number)[] => {
        if (isPair(ancestor)) return [isScalar(ancestor.key) ? String(ancestor.key.value) : ''];
        const below = ancestors[depth + 1] ?? node;
        return isSeq(ancestor) ? [ancestor.items.indexOf(below)] : [];
      });
      found.push(...node.comment.split('\n').map((text) => ({ keys, text: text.trim() })));
    },
  });
  return found;
}

function withoutTimes(tags: Tags): Tags {
  return tags.filter((tag) => typeof tag === 'string' || (tag.format !== 'TIME' && tag.tag !== 'tag:yaml.org,2002:timestamp'));
}
