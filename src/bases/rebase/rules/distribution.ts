import type { FileSigns } from '../file-signs.ts';
import type { Rule } from './rule.ts';

const names: Readonly<Record<keyof FileSigns, string>> = { libc: 'C library', packages: 'package manager' };

/** Refuses a base of another distribution, on which programs of the application may not start, and whose packages it cannot change. */
export const distribution: Rule = {
  id: 'DistributionChanged',
  about:
    'The files of the base show another C library (glibc, musl) or package manager (apk, dpkg, pacman, rpm). They are read from its lowest layers, at most 48 MiB, and only if the two bases have no layer in common; a base that shows neither is not compared.',
  check({ files }) {
    if (files === undefined) return undefined;
    const { oldBase, newBase } = files;
    const changed = (['libc', 'packages'] as const).find(
      (sign) => oldBase[sign] !== undefined && newBase[sign] !== undefined && oldBase[sign] !== newBase[sign],
    );
    return changed && `the ${names[changed]} of the base changes from ${oldBase[changed]} to ${newBase[changed]}`;
  },
};
