import { formatRepository, type Candidate } from '../model/image-reference.ts';
import { accessKey, type ImageSource } from '../model/image-source.ts';

/**
 * What the registry said of a tag when this process made jobs of a push or a poll, for those of the jobs that this process does. It never travels through Redis: who
 * can write there could choose what runs.
 */
export interface SharedAnswers {
  /** `cause`: the one that the jobs have. `askedAt`: when the registry was asked, in ms since 1970. */
  remember(cause: string, source: ImageSource, answer: Candidate, askedAt: number): void;
  /** The answer, given on the same behalf and not long ago; undefined where the registry has to be asked. */
  recall(cause: string, source: ImageSource, tag: string): Candidate | undefined;
}

/** Shorter than a lock of the queue: what a killed worker left behind is asked for again. */
const lastsMs = 3_000;
const maxAnswers = 10_000;

/** An empty memory. */
export function createSharedAnswers(now: () => number): SharedAnswers {
  const answers = new Map<string, { readonly answer: Candidate; readonly askedAt: number }>();
  return {
    remember(cause, source, answer, askedAt) {
      for (const [key, known] of answers) {
        if (answers.size < maxAnswers && now() - known.askedAt < lastsMs) break;
        answers.delete(key);
      }
      answers.set(keyOf(cause, source, answer.tag), { answer, askedAt });
    },
    recall(cause, source, tag) {
      const known = answers.get(keyOf(cause, source, tag));
      // A clock that was set back makes nothing young again.
      const ageMs = known === undefined ? lastsMs : Math.abs(now() - known.askedAt);
      return ageMs < lastsMs ? known?.answer : undefined;
    },
  };
}

function keyOf(cause: string, source: ImageSource, tag: string): string {
  return JSON.stringify([cause, formatRepository(source), accessKey(source), tag]);
}
