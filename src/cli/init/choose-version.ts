import type { Artifact } from '../../core/model/artifact.ts';
import { readChartVersion } from '../../core/select/chart-version.ts';
import {
  laterLines,
  type NoSelection,
  rangeOf,
  type Selection,
  strategyOf,
} from '../../service/command-line/selection/choose-selection.ts';

/** The selection that fits the version of a chart, or of another artifact: the highest of its major version. Pure. */
export function chooseVersion(tag: string, tags: readonly string[], artifact: Artifact): Selection | NoSelection {
  const version = readChartVersion(tag);
  if (version === undefined) return { problem: `${tag} is no version` };
  const { range, why } = rangeOf(version);
  const select = { semver: { range, ...(version.stage !== undefined && { prereleases: true }) } };
  const strategy = strategyOf({ select, artifact });
  if (!tags.some((one) => strategy.reject(one) === undefined))
    return { problem: `the registry does not have the tag ${tag}, which is installed, nor any other that could follow it` };
  return { select, why, notes: laterLines(version, { select, artifact }, tags) };
}
