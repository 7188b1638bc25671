/** Verifies the chain of the durable record, line by line, and names the first place where it is broken. Pure. */
import { hashOf, linesOf, noTail, readLine } from './chain.ts';

/** A piece of the record as it is stored, with its name for people. */
export interface Piece {
  readonly name: string;
  readonly text: string;
}

export interface Verified {
  readonly ok: boolean;
  /** How many lines are in order. */
  readonly lines: number;
  /** The number of the first line; more than 1 if the beginning of the record is not there. */
  readonly first?: number;
  /** The hash of the last line that is in order. */
  readonly hash: string;
  readonly break?: { readonly where: string; readonly why: string };
}

/** Creates a verifier, which is given one piece after the other, in order. It needs nothing of earlier pieces but the hash of their last line. */
export function createVerifier(): { add(piece: Piece): void; result(): Verified } {
  let state: Verified & { readonly last: number } = { ok: true, lines: 0, hash: noTail.hash, last: 0 };
  const fail = (where: string, why: string) => (state = { ...state, ok: false, break: { where, why } });
  const addLine = (text: string, where: string) => {
    const line = readLine(text);
    if (line === undefined) return fail(where, 'is no line of a record');
    const { first = line.sequence, last, hash, lines } = state;
    const isFirst = lines === 0;
    const expected = last + 1;
    if (!isFirst && line.sequence > expected)
      return fail(where, `is line ${line.sequence}: ${missing(expected, line.sequence - 1)} before it`);
    if (!isFirst && line.sequence < expected)
      return fail(where, `is line ${line.sequence} after line ${last}: lines were inserted, repeated or reordered`);
    // The first line that is there may follow others that were removed after their time.
    if ((!isFirst || line.sequence === 1) && line.previous !== hash)
      return fail(
        where,
        isFirst ? 'is line 1, but follows another line' : `does not follow the line before it: line ${last} was changed or replaced`,
      );
    state = { ...state, lines: lines + 1, first, last: line.sequence, hash: hashOf(text) };
    return state;
  };
  return {
    add({ name, text }) {
      const { lines, isComplete } = linesOf(text);
      for (const [index, line] of lines.entries()) {
        if (!state.ok) return;
        const where = `${name}, line ${index + 1}`;
        if (index === lines.length - 1 && !isComplete && readLine(line) === undefined) fail(where, 'ends in the middle of a line');
        else addLine(line, where);
      }
    },
    result() {
      const { last: _, ...result } = state;
      return result;
    },
  };
}

function missing(from: number, to: number): string {
  return from === to ? `line ${from} is missing` : `lines ${from} to ${to} are missing`;
}
