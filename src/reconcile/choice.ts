/** What a look chooses with, and what it ends with. */
import type { Candidate } from '../model/image-reference.ts';
import type { ImagePolicy, PolicySpec } from '../model/image-policy.ts';
import type { ImageSource } from '../model/image-source.ts';
import type { CreationTimes } from '../model/tag-strategy.ts';
import type { ListTags } from './choose-tag.ts';
import type { CreationTimePorts } from './read-creation-times.ts';
import type { ReadPlatforms, WhyNoImage } from './read-images.ts';
import type { HeadManifest, Hint } from './resolve-candidate.ts';

export interface ChoosePorts extends CreationTimePorts {
  readonly headManifest: HeadManifest;
  readonly whyNoImage: WhyNoImage;
  readonly listTags: ListTags;
  readonly readPlatforms: ReadPlatforms;
  /** Where a policy's images come from, and on whose behalf the registry is asked. */
  readonly sourceOf: (policy: ImagePolicy, spec: PolicySpec) => ImageSource;
}

/** Where to look, and how much of it is believed. */
export interface ChoiceRequest {
  /** Without one the whole repository is listed. */
  readonly hint?: Hint;
  /** Whether a webhook announced the hint, so that the registry may still be about to show it. */
  readonly announced: boolean;
  /** When that was, in ms since 1970. */
  readonly announcedAt?: number;
  /** What the registry said of the hint a moment ago. */
  readonly resolved?: Candidate;
  /** What was chosen before what runs changed: what ranks equal does not take its place. */
  readonly chosenBefore?: string;
  /** Whether it is only to be found and not yet applied: then a name is enough where policies pin names. */
  readonly isOnlyFound?: boolean;
}

/** The image that should run. */
export interface Chosen {
  readonly candidate: Candidate;
  /** Whether it is the best of all tags, not just the one that somebody pointed at. */
  readonly isComplete: boolean;
  /** What it was chosen by: the policy's spec, with all that its strategy has to know. */
  readonly spec: PolicySpec;
  /** Of strategies that go by it. */
  readonly created?: CreationTimes;
  /** What a user would not understand the choice without. */
  readonly notes: readonly string[];
}

/** The candidate, with the time of its image where that is known. */
export function withTime(candidate: Candidate, { created }: Pick<Chosen, 'created'>): Candidate {
  const at = created?.get(candidate.tag);
  return at === undefined ? candidate : { ...candidate, createdAt: at.toISOString() };
}

/** Whether a policy may go back: then a pushed tag may be older than the best one, and only a look at all of them tells. */
export function mayGoBack({ allowDowngrade, strategy }: PolicySpec): boolean {
  return allowDowngrade && strategy.mutableTag === undefined;
}
