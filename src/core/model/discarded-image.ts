/** What is asked, and what is said, when an image that was rebased on a rejected base is taken back. */

/** Why an image is taken back, and what must stay. */
export interface Discard {
  /** Why the base of the image is rejected. */
  readonly message: string;
  /** Whether something runs the image. Then its tag stays: pods could not pull it any more, and registries remove images without a tag. */
  readonly isInUse: (image: { readonly tag: string; readonly digest: string }) => boolean;
}

/** What became of the tag of a rebased image: `Kept` by the registry, with the mark; `InUse` untouched. */
export interface Discarded {
  readonly tag: string;
  readonly result: 'Deleted' | 'Kept' | 'InUse';
}
