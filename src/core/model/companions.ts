/**
 * Images that are changed together with the one that a policy selects, such as an application and its sidecar. The policy's own image decides; a companion follows
 * it. A candidate with all its companions is a set.
 */
import { hash } from 'node:crypto';
import { formatRepository, type Candidate, type Repository } from './image-reference.ts';

/**
 * `SameTag`: those with the same tag. `SameRevision`: those that were built from the same commit, as their annotations or labels say. `SameDigestList`: those
 * that the image itself lists (`image-list.ts`).
 */
export const companionMatches = ['SameTag', 'SameRevision', 'SameDigestList'] as const;
export type CompanionMatch = (typeof companionMatches)[number];

/** The companions of a policy, and which of their images belong to an image of the policy. */
export interface Alongside {
  readonly images: readonly CompanionRule[];
  readonly match: CompanionMatch;
  /** How long an image waits for missing companions before it is passed over, in ms. */
  readonly withinMs: number;
}

/** The repository of a companion, and the containers that run it; all of them unless they are named. */
export interface CompanionRule {
  readonly repository: Repository;
  readonly containers?: readonly string[];
}

/** The image of a companion that belongs to a candidate. */
export interface Companion {
  /** The repository as a text: `docker.io/shop/proxy`. */
  readonly image: string;
  readonly tag: string;
  readonly digest: string;
}

/** The companions that a candidate waits for. */
export interface MissingCompanions {
  /** What is missing, for people: `docker.io/shop/proxy:1.5.0`. */
  readonly images: readonly string[];
  /** When the policy first saw the candidate without them; RFC 3339, whole seconds. */
  readonly since: string;
  /** When the candidate is passed over without them; RFC 3339, whole seconds. */
  readonly until: string;
}

/**
 * The digest of a set: the SHA-256 of its images, the policy's own first, each as a line `REPOSITORY@DIGEST`. It stands for all of them, in approvals and
 * rejections: `printf '%s\n' docker.io/shop/web@sha256:… docker.io/shop/proxy@sha256:… | sha256sum`.
 */
export function digestOfSet(repository: Repository, digest: string, companions: readonly Companion[]): string {
  const images = imagesOfSet(repository, digest, companions);
  return `sha256:${hash('sha256', images.map((image) => `${image}\n`).join(''))}`;
}

/** The images of a set, the policy's own first: `docker.io/shop/web@sha256:…`. */
export function imagesOfSet(repository: Repository, digest: string, companions: readonly Companion[]): string[] {
  return [`${formatRepository(repository)}@${digest}`, ...companions.map((one) => `${one.image}@${one.digest}`)];
}

/** The name of a candidate in messages, with its companions: `1.5.0 with docker.io/shop/proxy:1.5.0`. */
export function nameOfSet({ tag, companions = [] }: Candidate): string {
  if (companions.length === 0) return tag;
  const others = companions.map((one) => `${one.image}:${one.tag}`).join(' and ');
  return `${tag} with ${others}`;
}

/** The digest that stands for an image: that of its set, or its own if it has no companions. */
export function wholeDigest({ digest, setDigest }: Pick<Candidate, 'digest' | 'setDigest'>): string | undefined {
  return setDigest ?? digest;
}

/** The digest of the own image of what waits for approval, whose `digest` is that of the set if it has companions. */
export function ownDigestOf({ digest, images: [own] = [] }: { readonly digest: string; readonly images?: readonly string[] }): string {
  return own === undefined ? digest : own.slice(own.lastIndexOf('@') + 1);
}

/** Whether two records are of the same image and, if they know it, of the same set. */
export function isSameWhole(a: Pick<Candidate, 'digest' | 'setDigest'>, b: Pick<Candidate, 'digest' | 'setDigest'>): boolean {
  return a.digest === b.digest && a.setDigest === b.setDigest;
}

/** The rule for a repository; undefined if it is no companion. */
export function ruleOf(alongside: Alongside | undefined, { registry, path }: Repository): CompanionRule | undefined {
  return alongside?.images.find(({ repository }) => repository.registry === registry && repository.path === path);
}
