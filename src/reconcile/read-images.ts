import type { ImageSource } from '../model/image-source.ts';

/** What the registry says about an image. */
export interface ImageFacts {
  readonly digest: string;
  /** `linux/amd64`, `linux/arm/v7`; empty for an artifact that is no image. */
  readonly platforms: readonly string[];
  /** When it was created, as the image itself states. */
  readonly created?: Date;
  /** Why it cannot be run, for the end of a sentence; absent where it can. */
  readonly noImage?: string;
}

/** Reads what a tag or digest points to; undefined when it does not exist. A digest that was read before costs no request. */
export type ReadImage = (source: ImageSource, reference: string, signal: AbortSignal) => Promise<ImageFacts | undefined>;

/** The same without the creation time, for fewer requests. */
export type ReadPlatforms = (
  source: ImageSource,
  reference: string,
  signal: AbortSignal,
) => Promise<Pick<ImageFacts, 'digest' | 'platforms'> | undefined>;

/** Why a digest is not an image that can run, for the end of a sentence; undefined where it is one. Rejects where it does not exist. */
export type WhyNoImage = (source: ImageSource, digest: string, signal: AbortSignal) => Promise<string | undefined>;
