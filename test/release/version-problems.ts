/** `node test/release/version-problems.ts v1.2.3`: whether everything is ready to be released as that; writes what the changelog says of it. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';

/** The files that name the version. */
export interface Sources {
  readonly packageJson: string;
  readonly packageLock: string;
  readonly chart: string;
  readonly changelog: string;
}

/** What keeps the tag from being released; nothing, if all agree. */
export function versionProblems(tag: string, sources: Sources): string[] {
  const [, version] = /^v(\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?)$/.exec(tag) ?? [];
  if (version === undefined) return [`the tag ${tag} is no version: v1.2.3, or v1.2.3-rc.1`];
  const lock = JSON.parse(sources.packageLock) as { version?: string; packages?: Record<string, { version?: string }> };
  const chart = parse(sources.chart) as { version?: string; appVersion?: string };
  const named = {
    'package.json: version': (JSON.parse(sources.packageJson) as { version?: string }).version,
    'package-lock.json: version': lock.version,
    'package-lock.json: packages[""].version': lock.packages?.['']?.version,
    'Chart.yaml: version': chart.version,
    'Chart.yaml: appVersion': chart.appVersion,
  };
  const wrong = Object.entries(named).filter(([, found]) => found !== version);
  return [
    ...wrong.map(([place, found]) => `${place} is ${found ?? 'missing'}, not ${version}`),
    ...(releaseNotes(version, sources.changelog) === '' ? [`CHANGELOG.md has nothing under "## ${version}"`] : []),
  ];
}

/** What the changelog says under `## 1.2.3` or `## 1.2.3 - 2026-01-31`. */
export function releaseNotes(version: string, changelog: string): string {
  const sections = changelog.split(/^## /m).slice(1);
  const section = sections.find((text) => text.split(/\s/, 1)[0] === version) ?? '';
  return section.split('\n').slice(1).join('\n').trim();
}

/** As they are in this checkout. */
export function readSources(): Sources {
  const read = (path: string) => readFileSync(join(import.meta.dirname, '../..', path), 'utf8');
  return {
    packageJson: read('package.json'),
    packageLock: read('package-lock.json'),
    chart: read('charts/image-watcher/Chart.yaml'),
    changelog: read('CHANGELOG.md'),
  };
}

if (import.meta.main) {
  const [tag = ''] = process.argv.slice(2);
  const sources = readSources();
  const problems = versionProblems(tag, sources);
  if (problems.length === 0) process.stdout.write(`${releaseNotes(tag.slice(1), sources.changelog)}\n`);
  else process.stderr.write(`${problems.join('\n')}\n`);
  process.exitCode = problems.length === 0 ? 0 : 1;
}
