/** Tags of rebased images: `1.2.3-base.20261123` is 1.2.3 on a newer base, and is compared as 1.2.3. */
const suffix = /-base\.\d{8}(?:[.-][A-Za-z0-9]+)?$/;

/** The tag of the image that was rebased; the tag itself if it is not that of a rebased image. */
export function originTag(tag: string): string {
  return tag.replace(suffix, '');
}

/** Whether the tag is that of a rebased image. */
export function isRebasedTag(tag: string): boolean {
  return suffix.test(tag);
}
