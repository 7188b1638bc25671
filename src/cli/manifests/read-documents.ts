import { type Document, isPair, isScalar, isSeq, LineCounter, parseAllDocuments, type Tags, visit } from 'yaml';
import { offsetOf } from '../../service/resources/validation/offset-of.ts';
import { isObject } from '../../core/model/untyped.ts';
import type { Keys } from '../../service/resources/validation/problem.ts';
import { describeAlias, describeYaml } from '../../service/resources/validation/yaml-problem.ts';

/** A position in a text. Lines and columns count from 1. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/** A comment after a value, as in `image: web:1.4.2 # like this`. */
export interface Comment {
  readonly keys: Keys;
  /** The text of the comment without the `#`. */
  readonly text: string;
}

/** One document of a text, or its syntax errors. */
export type ReadDocument =
  | { readonly value: unknown; readonly positionOf: (keys: Keys) => Position; readonly comments: () => readonly Comment[] }
  | { readonly problems: readonly (Position & { readonly message: string })[] };

/** All documents of a text in YAML or JSON, parsed like kubectl does. Empty documents are left out. */
export function readDocuments(text: string): readonly ReadDocument[] {
  const lines = new LineCounter();
  const positionAt = (offset: number): Position => {
    const { line, col } = lines.linePos(offset);
    return { line: Math.max(line, 1), column: Math.max(col, 1) };
  };
  // Like kubectl, YAML 1.1 is parsed ("on" is true), but without its times of day and dates: 09:00 stays a text.
  const options = { lineCounter: lines, prettyErrors: false, version: '1.1', customTags: withoutTimes } as const;
  const documents: Document.Parsed[] = [...parseAllDocuments(text, options)];
  return documents.flatMap((document): ReadDocument[] => {
    // Only the first syntax error is reported, because further ones are consequences of it.
    const errors = document.errors.filter(({ code }, index) => index === 0 || code === 'DUPLICATE_KEY');
    if (errors.length > 0) {
      return [{ problems: errors.map((error) => ({ ...positionAt(error.pos[0]), message: describeYaml(error) })) }];
    }
    if (document.contents === null) return [];
    try {
      const value: unknown = document.toJS();
      return [{ value, positionOf: (keys) => positionAt(offsetOf(document, keys)), comments: () => commentsIn(document) }];
    } catch (error) {
      // The document has aliases that refer to nothing, or would expand without limit.
      return [{ problems: [{ ...positionAt(document.range[0]), message: describeAlias(error) }] }];
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
