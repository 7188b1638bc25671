import { type Document, LineCounter, parseAllDocuments, type Tags } from 'yaml';
import { offsetOf } from '../../api-versions/validation/offset-of.ts';
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
