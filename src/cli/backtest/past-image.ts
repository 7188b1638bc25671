/** The past of repositories: which image each tag pointed to, and since when. */
import { hash } from 'node:crypto';
import type { ImageList } from '../../core/model/image-list.ts';
import type { Repository } from '../../core/model/image-reference.ts';

/** A push of the past. */
export interface PastImage {
  readonly repository: Repository;
  readonly tag: string;
  readonly digest: string;
  /** When the tag was pushed, in ms since 1970. */
  readonly pushedAt: number;
  /** When the image was created, as the image itself states. */
  readonly created: Date;
  /** `linux/amd64`; undefined if nobody knows them, and then they are taken for those that the policy demands. */
  readonly platforms?: readonly string[] | undefined;
  /** The commit that the image was built from, if it is known. */
  readonly revision?: string | undefined;
  /** The list of the images that belong to it, if it has one. */
  readonly list?: ImageList | undefined;
}

/** The digest that stands for an image whose digest nobody has written: the same for the same tag and number of its pushes. */
export function standInDigest({ registry, path }: Repository, tag: string, push: number): string {
  return `sha256:${hash('sha256', JSON.stringify([registry, path, tag, push]))}`;
}
