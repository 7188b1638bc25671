/** Tags of rebased images: `1.2.3-base.20261123` is 1.2.3 on a newer base, and is compared as 1.2.3. */
const suffix = /-base\.\d{8}(?:[.-][A-Za-z0-9]+)?$/;

/** The tag of the image that was rebased. A tag that is not of a rebased image is returned unchanged. */
export function originTag(tag: string): string {
  return tag.replace(suffix, '');
}

/** Whether the tag is that of a rebased image. */
export function isRebasedTag(tag: string): boolean {
  return suffix.test(tag);
}

/** The annotation, or the label of an image in Docker's format, that names the image that was rebased: `harbor.example.com/shop/web@sha256:…`. */
export const originAnnotation = 'operator.technomad.dev/rebased-from';
