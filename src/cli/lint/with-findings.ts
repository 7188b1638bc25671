import type { ClusterFinding } from './cluster-findings.ts';
import type { LintedFile } from './format-report.ts';
import { byPosition, type LintProblem } from './lint-text.ts';

/** The file with those of the findings that are about it. */
export function withFindings(file: LintedFile, findings: readonly (ClusterFinding & { readonly path: string })[]): LintedFile {
  const own = findings.filter(({ path }) => path === file.path);
  const of = (severity: ClusterFinding['severity'], before: readonly LintProblem[] = []) => {
    const added = own.filter((one) => one.severity === severity).map(({ path: _path, severity: _severity, ...problem }) => problem);
    return [...before, ...added].toSorted(byPosition);
  };
  const [problems, warnings, notes] = [of('problem', file.problems), of('warning', file.warnings), of('note')];
  return { ...file, problems, ...(warnings.length > 0 && { warnings }), ...(notes.length > 0 && { notes }) };
}
