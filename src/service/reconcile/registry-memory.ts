/** The registries' answers that this process remembers. They never pass through Redis. */
import type { Unusable } from '../../core/model/artifact.ts';
import { BoundedMap } from '../../core/async/bounded-map.ts';
import { formatRepository, type Candidate } from '../../core/model/image-reference.ts';
import { accessKey, type ImageSource } from '../../core/model/image-source.ts';
import { type Announcements, type Clocks, createAnnouncements } from './announcements.ts';
import { createDeniedPushes, type DeniedPushes } from './denied-pushes.ts';

/** All that the processors remember of registries. */
export interface RegistryMemory {
  readonly tagMemory: TagMemory;
  readonly sharedAnswers: SharedAnswers;
  readonly deniedPushes: DeniedPushes;
  readonly announcements: Announcements;
}

/** Creates a memory without answers of registries. */
export function createRegistryMemory(clocks: Clocks): RegistryMemory {
  return {
    tagMemory: createTagMemory(),
    sharedAnswers: createSharedAnswers(clocks.now),
    deniedPushes: createDeniedPushes(clocks.now),
    announcements: createAnnouncements(clocks),
  };
}

/**
 * The registry's answers about a tag from when this process made the jobs of a push or a poll, or stored the push, for those of the jobs that this process
 * runs. They never pass through Redis, because anybody who can write to Redis could otherwise choose what runs.
 */
export interface SharedAnswers {
  /** Remembers an answer, or one that is still awaited. */
  remember(question: Question, asked: Asked): void;
  /**
   * Returns a recent answer that was given on the same behalf; undefined if the registry has to be asked. It also has to be asked if the targets of the policy
   * run something else since, because another process may have applied a newer answer.
   */
  recall(question: Question, policy: RunningNow): Promise<Candidate | undefined>;
  /**
   * The recent answer, or the answer of `ask`, which is called once for all simultaneous callers; undefined if the registry holds no such tag. `running`: what
   * the targets of the caller's policy run, which is remembered if it is the caller that asks.
   */
  share(
    question: Question,
    means: { readonly ask: () => Promise<Candidate | undefined>; readonly running: Asked['running'] },
  ): Promise<Candidate | undefined>;
}

/** What a registry is asked about a tag. `cause`: of the jobs that the answer is for. */
export interface Question {
  readonly cause: string;
  readonly source: ImageSource;
  readonly tag: string;
}

/** A policy by its key, and what its targets run now, as one text. */
export interface RunningNow {
  readonly policy: string;
  readonly running: () => string;
}

/** What a registry was asked for several jobs. */
export interface Asked {
  readonly answer: Promise<Candidate | undefined> | Candidate;
  /** When the registry was asked, in ms since 1970. */
  readonly at: number;
  /** What the targets of each policy ran before the registry was asked, by the key of the policy. */
  readonly running: ReadonlyMap<string, string>;
}

/** How long an answer is shared: shorter than a lock of the queue, so that the jobs of a killed worker ask again. */
const lastsMs = 3_000;
const maxAnswers = 10_000;

/** Creates an empty memory of answers. */
export function createSharedAnswers(now: () => number): SharedAnswers {
  const answers = new Map<string, Asked>();
  // The age is absolute, so an answer stays old even if the clock is set back.
  const isRecent = ({ at }: Asked) => Math.abs(now() - at) < lastsMs;
  const find = (key: string): Asked | undefined => {
    const known = answers.get(key);
    return known !== undefined && isRecent(known) ? known : undefined;
  };
  const remember = (key: string, asked: Asked) => {
    for (const [oldest, known] of answers) {
      if (answers.size < maxAnswers && isRecent(known)) break;
      answers.delete(oldest);
    }
    answers.set(key, asked);
  };
  return {
    remember: (question, asked) => remember(keyOf(question), asked),
    async recall(question, { policy, running }) {
      const known = find(keyOf(question));
      return known !== undefined && known.running.get(policy) === running() ? known.answer : undefined;
    },
    async share(question, { ask, running }) {
      const key = keyOf(question);
      const known = find(key);
      if (known !== undefined) return known.answer;
      const at = now();
      const answer = ask();
      remember(key, { answer, at, running });
      // A question without an answer is asked again.
      const forget = () => void (answers.get(key)?.answer === answer && answers.delete(key));
      answer.then((found) => found ?? forget(), forget);
      return answer;
    },
  };
}

function keyOf({ cause, source, tag }: Question): string {
  return JSON.stringify([cause, formatRepository(source), accessKey(source), tag]);
}

/** What was found about a tag when its image was last read. */
export interface RememberedTag {
  /** When the image was created; undefined if the image does not state it. */
  readonly created: Date | undefined;
  /** Why the tag cannot be selected as an image, or as another kind of artifact. */
  readonly unusable: Unusable;
  /** When the image was read, in ms since 1970. */
  readonly readAt: number;
}

/** The creation times of tagged images that this process has read, separate for readers with different access. */
export interface TagMemory {
  get(source: ImageSource, tag: string): RememberedTag | undefined;
  set(source: ImageSource, tag: string, found: RememberedTag): void;
}

const maxTags = 100_000;

/** Creates an empty memory of tags. If it is full, it drops the least recently used entries. */
export function createTagMemory(): TagMemory {
  const tags = new BoundedMap<string, RememberedTag>(maxTags);
  return {
    get: (source, tag) => tags.get(tagKeyOf(source, tag)),
    set: (source, tag, found) => void tags.set(tagKeyOf(source, tag), found),
  };
}

function tagKeyOf(source: ImageSource, tag: string): string {
  return `${formatRepository(source)}:${tag} ${accessKey(source)}`;
}
