/**
 * The track of a tag: the parts of its name besides the version. `1.0.0-alpine` and `1.1.0-alpine3.20` are of one track, `1.1.0` is of another one.
 * Prereleases, builds, dates and commits make no track.
 */

/** Usual names of prereleases; other suffixes (-alpine, -slim) may be variants. */
export const stages = /^(?:alpha|a|beta|b|rc|c|pre|preview|dev|snapshot|next|canary|nightly|milestone|m|ea)[0-9]*$/i;

const version = /^((?:[a-z][a-z0-9]*[-_])*)(v?[0-9]+(?:\.[0-9]+)*)(?:[-_.+](.*))?$/i;
/** Names that move to newer images, as versions do. */
const moving = /^(?:latest|stable|edge|main|master|develop|dev|nightly|mainline|current|lts)(?:[-_.](.*))?$/i;
/** Usual variants that images have as tags of their own, as in `nginx:alpine`. */
const variant = /^(?:alpine|slim|distroless|nonroot|debug|fpm|apache|perl|windowsservercore|nanoserver)(?:[0-9.]*|[0-9.]*[-_].*)$/i;
/** Words that identify a build of a version. */
const build = /^(?:[a-z]|final|ga|release|hotfix|fix|patch|sp|build|rev|g?[0-9a-f]{7,40})?$/i;

const commit = /^g?(?=[a-f]*[0-9])[0-9a-f]{7,40}$/i;

/** Whether two tags are of different tracks, as far as their names show it. */
export function areOtherTracks(a: string, b: string): boolean {
  const [one, other] = [trackOf(a), trackOf(b)];
  if (one !== undefined && other !== undefined) return one !== other;
  return isExtended(a, b) || isExtended(b, a) || variant.test(a) !== variant.test(b);
}

/** The prefix and variant of a tag, in lower case. Undefined for a name that is no version, no moving one, and no variant. */
function trackOf(tag: string): string | undefined {
  const versioned = version.exec(tag);
  const suffix = versioned === null ? suffixOf(tag) : (versioned[3] ?? '');
  if (suffix === undefined) return undefined;
  const words = suffix.split(/[-_.+]/).filter((word) => !stages.test(word) && !build.test(word));
  const variants = words.map((word) => word.replace(/[0-9]+$/, '')).filter((word) => !build.test(word));
  return `${prefixOf(versioned?.[1] ?? '', versioned?.[2] ?? '')}/${variants.join('-')}`.toLowerCase();
}

/** What is before the number of a tag, without commits, and without the moving name that a number of builds follows: `main-3f2a1bc-17` has none. */
function prefixOf(text: string, number: string): string {
  const words = text.split(/[-_]/).filter((word) => word !== '' && !commit.test(word));
  return words.filter((word, index) => index > 0 || number.includes('.') || !moving.test(word)).join('-');
}

/** What follows a moving name, or the whole of a tag that names a variant alone. */
function suffixOf(tag: string): string | undefined {
  const moved = moving.exec(tag);
  if (moved !== null) return moved[1] ?? '';
  return variant.test(tag) ? tag : undefined;
}

/** Whether a name extends another one: `production-slim` extends `production`. */
function isExtended(longer: string, shorter: string): boolean {
  const rest = longer.startsWith(shorter) ? longer.slice(shorter.length) : longer.endsWith(shorter) ? longer.slice(0, -shorter.length) : '';
  return /^[-_.].|.[-_.]$/.test(rest);
}
