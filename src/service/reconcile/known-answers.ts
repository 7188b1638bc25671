/** Answers about images that an attempt of a reconcile gives to the next one. They are kept for one reconcile, and only those that were used. */
import { isAnswerOld } from './selection.ts';

/** Answers by their question, and when they count from, in ms since 1970. */
export type KnownAnswers<T> = ReadonlyMap<string, { readonly answer: T; readonly at: number }>;

/** Questions that are asked once, or not at all while the mutex of the policy is held. */
export interface Questions<T> {
  /** The answer to a question; undefined if it is not known, and may not be asked. */
  readonly ask: (question: string) => Promise<T | undefined>;
  /** Whether all questions had an answer. */
  readonly isComplete: () => boolean;
  /**
   * All answers that were used. The new ones count from this time, which is that of the last answer: otherwise those of a fast source would be too old whenever
   * those of a slow one come, and the two would be asked in turns for ever.
   */
  readonly answers: (nowMs: number) => KnownAnswers<T>;
}

/** Creates questions. An answer that is too old is asked for again. Without `find`, nothing is asked. */
export function createQuestions<T>(
  known: KnownAnswers<T>,
  nowMs: number,
  find: ((question: string) => Promise<T>) | undefined,
): Questions<T> {
  const used = new Map<string, { readonly answer: Promise<T>; readonly at?: number }>();
  const found = new Map<string, T>();
  let isComplete = true;
  return {
    async ask(question) {
      const before = known.get(question);
      const isUsable = before !== undefined && !isAnswerOld(before.at, nowMs);
      if (!used.has(question)) {
        if (isUsable) used.set(question, { answer: Promise.resolve(before.answer), at: before.at });
        else if (find !== undefined) used.set(question, { answer: find(question) });
      }
      const asked = used.get(question);
      if (asked === undefined) isComplete = false;
      else found.set(question, await asked.answer);
      return found.get(question);
    },
    isComplete: () => isComplete,
    answers: (now) => new Map([...found].map(([question, answer]) => [question, { answer, at: used.get(question)?.at ?? now }])),
  };
}
