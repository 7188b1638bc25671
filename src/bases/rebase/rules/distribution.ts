import type { Rule } from './rule.ts';

const names = { libc: 'C library', packages: 'package manager', system: 'distribution' } as const;
const signs = ['libc', 'packages', 'system'] as const;

/** Refuses a base of another distribution, on which programs of the application may not start, and whose packages it cannot change. */
export const distribution: Rule = {
  id: 'DistributionChanged',
  about:
    'The files of the base show another C library (glibc, musl), package manager (apk, dpkg, pacman, rpm) or distribution (`ID` of os-release). They are read from its lowest layers, at most 48 MiB, and only if the two bases have no layer in common; a base that shows none is not compared.',
  check({ files }) {
    if (files === undefined) return undefined;
    const { oldBase, newBase } = files;
    const changed = signs.find((sign) => oldBase[sign] !== undefined && newBase[sign] !== undefined && oldBase[sign] !== newBase[sign]);
    return changed && `the ${names[changed]} of the base changes from ${oldBase[changed]} to ${newBase[changed]}`;
  },
};
