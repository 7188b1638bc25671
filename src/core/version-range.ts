import { minVersion, Range } from 'semver';

/** Whether any version can be in a valid range: none is in ">2 <1". */
export function isSatisfiable(range: string): boolean {
  // One alternative at a time: minVersion judges only the one that starts lowest.
  return new Range(range).range.split('||').some((alternative) => minVersion(alternative) !== null);
}
