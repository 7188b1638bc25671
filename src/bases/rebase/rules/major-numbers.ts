/** The major versions that a tag names, by the word that each belongs to. Pure. */

/** Parts of tags that name a build or a stage and no version: dates, commits, `b08`, `rc1`. */
const build =
  /^(?:[0-9]{6,}|(?=[0-9a-f]*[a-f])(?=[0-9a-f]*[0-9])[0-9a-f]{7,64}|[a-z][0-9]+|(?:alpha|beta|rc|pre|preview|dev|snapshot|nightly|ea|build|rev)[0-9]*)$/;
const part = /^([a-z]*)([0-9]+)/;
const word = /^[a-z]+$/;

/** The first number of each word: `{'': 21, alpine: 3}` of `21.0.1-alpine3.20`, and `{jre: 17}` of `jre-17`. */
export function majorsOf(tag: string): ReadonlyMap<string, number> {
  const majors = new Map<string, number>();
  let before = '';
  // A dot begins no part: 3.20 belongs to alpine.
  for (const text of tag
    .toLowerCase()
    .replace(/^v(?=[0-9])/, '')
    .split(/[-_+]/)) {
    const [, own = '', number] = part.exec(text) ?? [];
    const name = own === '' ? before : own;
    if (number !== undefined && !build.test(text) && !majors.has(name)) majors.set(name, Number(number));
    before = word.test(text) ? text : before;
  }
  return majors;
}

/** A part of a tag with two numbers of a version: `21.0.1`, `alpine3.20`, `8u392`. */
const versioned = /^[a-z]*([0-9]+)(?:\.[0-9]+|u[0-9]+)/;
/** Words before the number of a run of a pipeline, which is no version. */
const run = /^(?:main|master|trunk|develop|dev|nightly|edge|snapshot|build|ci|run|pr|sha)$/;
/** Larger numbers are years, dates and runs of pipelines. */
const maxMajor = 1_900;

/** The major versions of all tags that name a version with at least two numbers, by the word that each belongs to. */
function majorsOfVersions(tags: readonly string[]): ReadonlyMap<string, ReadonlySet<number>> {
  const majors = new Map<string, Set<number>>();
  for (const tag of tags) {
    const parts = tag
      .toLowerCase()
      .replace(/^v(?=[0-9])/, '')
      .split(/[-_+]/);
    if (!parts.some((text) => Number(versioned.exec(text)?.[1] ?? maxMajor) < maxMajor)) continue;
    for (const [name, major] of majorsOf(tag)) {
      if (major < maxMajor && !run.test(name)) majors.set(name, new Set([...(majors.get(name) ?? []), major]));
    }
  }
  return majors;
}

/** Whether the tags of two images name other major versions of the same word, whichever of them are compared. Tags that name no version say nothing. */
export function haveOtherMajors(before: readonly string[], after: readonly string[]): boolean {
  const [old, next] = [majorsOfVersions(before), majorsOfVersions(after)];
  return [...old].some(([name, majors]) => {
    const others = next.get(name);
    return others !== undefined && ![...majors].some((major) => others.has(major));
  });
}

/** Whether two tags name the same major versions. Words that only one of them has are not compared, unless they have no word in common. */
export function sameMajors(before: ReadonlyMap<string, number>, after: ReadonlyMap<string, number>): boolean {
  if (before.size === 0 || after.size === 0) return true;
  const common = [...before.keys()].filter((name) => after.has(name));
  if (common.length > 0) return common.every((name) => before.get(name) === after.get(name));
  const [first] = before.values();
  return first === [...after.values()][0];
}
