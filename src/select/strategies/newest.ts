import type { CreationTimes, TagStrategy } from '../../model/tag-strategy.ts';

/** Reproducible builds say 1970 (Bazel, ko, Jib) or 1980 (buildpacks) of every image: they do not say when it was created. */
const firstCredible = Date.parse('1980-01-02T00:00:00Z');

/** The image that was created last, by its own word. Until it is told when the images were created, every tag is a candidate and none is newer. */
export function newest(created?: CreationTimes): TagStrategy {
  const timeOf = (tag: string) => {
    const at = created?.get(tag);
    return at !== undefined && isCredibleTime(at) ? at.getTime() : undefined;
  };
  return {
    id: 'newest',
    description: 'the image that was created last',
    knowing: newest,
    reject: (tag) => (created === undefined || timeOf(tag) !== undefined ? undefined : explain(tag, created)),
    compare: (a, b) => (timeOf(a) ?? 0) - (timeOf(b) ?? 0),
  };
}

/** Whether an image can have been created then. */
export function isCredibleTime(time: Date): boolean {
  return time.getTime() >= firstCredible;
}

function explain(tag: string, created: CreationTimes): string {
  if (!created.has(tag)) return `of "${tag}" it is not known when it was created`;
  const at = created.get(tag);
  if (at === undefined || Number.isNaN(at.getTime())) return `the image of "${tag}" does not say when it was created`;
  const hint = 'let the build write the annotation or label org.opencontainers.image.created, or select by the tag';
  return `the image of "${tag}" says that it was created in ${at.getUTCFullYear()}, as reproducible builds do: ${hint}`;
}
