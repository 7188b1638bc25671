import { parse } from 'semver';
import { versionOfTag } from '../model/oci-chart.ts';

/** The numbers of a version, and the first part of its prerelease. */
export interface ChartVersion {
  readonly numbers: readonly [major: number, minor: number, patch: number];
  readonly stage?: string;
}

/** The version that the tag of a chart stands for; undefined for tags that Helm does not read as one version. */
export function readChartVersion(tag: string): ChartVersion | undefined {
  const version = parse(versionOfTag(tag));
  if (version === null) return undefined;
  const { major, minor, patch, prerelease } = version;
  return { numbers: [major, minor, patch], ...(prerelease.length > 0 && { stage: String(prerelease[0]) }) };
}
