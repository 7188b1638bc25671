import { BoundedMap } from '../async/bounded-map.ts';
import { formatRepository } from '../model/image-reference.ts';
import { accessKey, type ImageSource } from '../model/image-source.ts';

/** What was found about a tag when its image was last read. */
export interface RememberedTag {
  /** Undefined where the image does not state it. */
  readonly created: Date | undefined;
  /** Whether it is an artifact that cannot run as an image. */
  readonly isArtifact: boolean;
  /** In ms since 1970. */
  readonly readAt: number;
}

/** The creation times of tagged images, as far as this process has read them, kept apart by what a reader may access. */
export interface TagMemory {
  get(source: ImageSource, tag: string): RememberedTag | undefined;
  set(source: ImageSource, tag: string, found: RememberedTag): void;
}

const maxTags = 100_000;

/** An empty memory. When it is full, it drops the least recently used entries. */
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
