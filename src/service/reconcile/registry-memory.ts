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
 * The registry's answers about a tag from when this process made the jobs of a push or a poll, for those of the jobs that this process runs. They never pass
 * through Redis, because anybody who can write to Redis could otherwise choose what runs.
 */
export interface SharedAnswers {
  /** Remembers an answer. `cause` is the cause of the jobs; `askedAt` is when the registry was asked, in ms since 1970. */
  remember(cause: string, source: ImageSource, answer: Candidate, askedAt: number): void;
  /** Returns a recent answer that was given on the same behalf; undefined if the registry has to be asked. */
  recall(cause: string, source: ImageSource, tag: string): Candidate | undefined;
  /** The recent answer, or the answer of `ask`, which is called once for all simultaneous callers; undefined if the registry holds no such tag. */
  share(cause: string, source: ImageSource, tag: string, ask: () => Promise<Candidate | undefined>): Promise<Candidate | undefined>;
}

/** How long an answer is shared: shorter than a lock of the queue, so that the jobs of a killed worker ask again. */
const lastsMs = 3_000;
const maxAnswers = 10_000;

/** Creates an empty memory of answers. */
export function createSharedAnswers(now: () => number): SharedAnswers {
  const answers = new Map<string, { readonly answer: Candidate; readonly askedAt: number }>();
  const asked = new Map<string, Promise<Candidate | undefined>>();
  const remember: SharedAnswers['remember'] = (cause, source, answer, askedAt) => {
    for (const [key, known] of answers) {
      if (answers.size < maxAnswers && now() - known.askedAt < lastsMs) break;
      answers.delete(key);
    }
    answers.set(answerKeyOf(cause, source, answer.tag), { answer, askedAt });
  };
  const recall: SharedAnswers['recall'] = (cause, source, tag) => {
    const known = answers.get(answerKeyOf(cause, source, tag));
    // The age is absolute, so an answer stays old even if the clock is set back.
    const ageMs = known === undefined ? lastsMs : Math.abs(now() - known.askedAt);
    return ageMs < lastsMs ? known?.answer : undefined;
  };
  const askOnce = async (cause: string, source: ImageSource, ask: () => Promise<Candidate | undefined>) => {
    const askedAt = now();
    const answer = await ask();
    if (answer !== undefined) remember(cause, source, answer, askedAt);
    return answer;
  };
  return {
    remember,
    recall,
    async share(cause, source, tag, ask) {
      const key = answerKeyOf(cause, source, tag);
      const known = recall(cause, source, tag);
      if (known !== undefined) return known;
      const asking = asked.get(key) ?? askOnce(cause, source, ask).finally(() => asked.delete(key));
      asked.set(key, asking);
      return asking;
    },
  };
}

function answerKeyOf(cause: string, source: ImageSource, tag: string): string {
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
