/** The facts of a message: a label, names that readers copy, and a text. Pure. */
import { cut } from '../core/model/text.ts';

/** A fact. The names are tags, images, workloads and the like, of which the last ones may be left out for a chat. */
export interface Fact {
  readonly label: string;
  readonly names: readonly string[];
  /** How many further names there are. `hasMore` is set if there may be even more. */
  readonly others: number;
  readonly hasMore: boolean;
  readonly text: string;
}

interface Content {
  readonly names?: readonly string[];
  /** The most names that are shown. */
  readonly most?: number;
  readonly hasMore?: boolean;
  readonly text?: string | undefined;
}

/** A fact in a list; an empty list if there is nothing to say. */
export function factOf(label: string, { names: all = [], most = all.length, hasMore = false, text = '' }: Content): Fact[] {
  const names = all
    .slice(0, most)
    .map(oneLine)
    .filter((name) => name !== '');
  const fact = { label, names, others: Math.max(0, all.length - most), hasMore, text: oneLine(text) };
  return names.length === 0 && fact.text === '' ? [] : [fact];
}

/** `and 2 others`, or nothing. */
export function describeOthers(others: number, hasMore: boolean): string {
  if (others > 0) return `and ${others} ${hasMore ? 'or more ' : ''}${others === 1 && !hasMore ? 'other' : 'others'}`;
  return hasMore ? 'and others' : '';
}

/** The maximum number of characters of one text: chats refuse longer messages. */
const maxText = 500;

/** A text without control characters and characters that reorder a line, of at most 500 characters. */
export function oneLine(text: string): string {
  return cut(text.replaceAll(/[\p{Cc}\p{Cf}\s]+/gu, ' ').trim(), maxText);
}
