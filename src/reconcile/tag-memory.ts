import { BoundedMap } from '../async/bounded-map.ts';
import { formatRepository } from '../model/image-reference.ts';
import { accessKey, type ImageSource } from '../model/image-source.ts';

/** What was found of a tag when its image was read last. */
export interface RememberedTag {
  /** Undefined where the image does not say. */
  readonly created: Date | undefined;
  /** Whether it is no image that can run. */
  readonly isArtifact: boolean;
  /** In ms since 1970. */
  readonly readAt: number;
}

/** When the images of tags were created, as far as this process has read them; each for those who may see the same. */
export interface TagMemory {
  get(source: ImageSource, tag: string): RememberedTag | undefined;
  set(source: ImageSource, tag: string, found: RememberedTag): void;
}

const maxTags = 100_000;

/** An empty memory, which forgets what was not asked for the longest. */
export function createTagMemory(): TagMemory {
  const tags = new BoundedMap<string, RememberedTag>(maxTags);
  return {
    get: (source, tag) => tags.get(keyOf(source, tag)),
    set: (source, tag, found) => void tags.set(keyOf(source, tag), found),
  };
}

function keyOf(source: ImageSource, tag: string): string {
  return `${formatRepository(source)}:${tag} ${accessKey(source)}`;
}
