import type { PlatformContent } from '../content.ts';
import { type Rule, shown } from './rule.ts';

const name = 'org.opencontainers.image.version';

/** The first number of a version decides whether programs still work. */
export const majorVersion: Rule = {
  id: 'MajorVersionChanged',
  about: `The first number of the base's tag differs, or, if a tag has none, that of \`${name}\`.`,
  check({ oldBase, newBase, tags }) {
    for (const [before, after] of [
      [tags.oldBase, tags.newBase],
      [versionOf(oldBase), versionOf(newBase)],
    ]) {
      const [old, next] = [majorOf(before), majorOf(after)];
      if (old === undefined || next === undefined) continue;
      return old === next ? undefined : `the version of the base changes from ${shown(before)} to ${shown(after)}`;
    }
    return undefined;
  },
};

function versionOf({ manifest, entry, config }: PlatformContent): string | undefined {
  return manifest.annotations?.[name] ?? entry?.annotations?.[name] ?? config.config?.Labels?.[name];
}

/** `21` of `21.0.2`, `v21` and `21-jre`; undefined for `bookworm`. */
function majorOf(version: string | undefined): string | undefined {
  return /^v?0*(\d{1,9})(?![A-Za-z0-9])/.exec(version ?? '')?.[1];
}
