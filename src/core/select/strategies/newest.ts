import type { CreationTimes, TagStrategy } from '../../model/tag-strategy.ts';

/** The earliest credible creation time. Reproducible builds write 1970 (Bazel, ko, Jib) or 1980 (buildpacks) for every image. */
const firstCredible = Date.parse('1980-01-02T00:00:00Z');

/** Selects the image with the latest creation time in its configuration. Until creation times are known, every tag is a candidate and none is newer. */
export function newest(created?: CreationTimes): TagStrategy {
  const timeOf = (tag: string) => {
    const at = created?.get(tag);
    return at !== undefined && isCredibleTime(at) ? at.getTime() : undefined;
  };
  return {
    id: 'newest',
    description: 'the image that was created last',
    withCreationTimes: newest,
    reject: (tag) => (created === undefined || timeOf(tag) !== undefined ? undefined : explain(tag, created)),
    compare: (a, b) => (timeOf(a) ?? 0) - (timeOf(b) ?? 0),
    compareAges(a, b) {
      const [left, right] = [timeOf(a), timeOf(b)];
      return left === undefined || right === undefined ? undefined : left - right;
    },
  };
}

/** Whether a creation time is plausible. */
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
