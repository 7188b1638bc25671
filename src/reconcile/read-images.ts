import type { ImageSource } from '../model/image-source.ts';

/** What an image says of itself. */
export interface ImageFacts {
  readonly digest: string;
  /** `linux/amd64`, `linux/arm/v7`; none for what is no image. */
  readonly platforms: readonly string[];
  /** When it was created, by its own word. */
  readonly created?: Date;
  /** Why it is no image that can run, for the end of a sentence; absent where it is one. */
  readonly noImage?: string;
}

/** What a tag or digest is; undefined when it is not there. What was read of a digest before costs nothing. */
export type ReadImage = (source: ImageSource, reference: string, signal: AbortSignal) => Promise<ImageFacts | undefined>;

/** The same without the time of creation, for less requests. */
export type ReadPlatforms = (
  source: ImageSource,
  reference: string,
  signal: AbortSignal,
) => Promise<Pick<ImageFacts, 'digest' | 'platforms'> | undefined>;

/** Why a digest is no image that can run, for the end of a sentence; undefined where it is one. Rejects where it is not there. */
export type WhyNoImage = (source: ImageSource, digest: string, signal: AbortSignal) => Promise<string | undefined>;
