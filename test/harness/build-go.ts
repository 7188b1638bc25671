import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { debianCandidate, installDebianPackage } from './install-debian-package.ts';
import { withProgress } from './progress.ts';
import { findOnPath, runCommand } from './run-command.ts';
import { tempFolder } from './temp-folder.ts';

export type GoProgram = {
  name: string;
  module: string;
  version: string;
  package: string;
  about: string;
  ldflags?: string;
  /** Build tags. */
  tags?: string;
  hasStagingModules?: boolean;
  /** The version of Kubernetes whose versions of other modules are taken: what both need is then built only once. */
  dependenciesOf?: string;
};

/** Builds a program of a published Go module and writes it to `path`. */
export async function buildGo(program: GoProgram, path: string): Promise<void> {
  const go = await findGo();
  const cwd = tempFolder('build');
  const env = {
    ...process.env,
    CGO_ENABLED: '0',
    GOWORK: 'off',
    // A compiler that collects garbage less often needs an eighth less time, and 400 MB.
    GOGC: process.env['GOGC'] ?? '300',
    // Where a build that is interrupted leaves nothing behind.
    GOTMPDIR: cwd,
    // An older Go fetches the one that the module asks for; Go's container images forbid that by default.
    GOTOOLCHAIN: process.env['GOTOOLCHAIN']?.includes('auto') ? process.env['GOTOOLCHAIN'] : 'auto',
  };
  const run = (...args: string[]) => runCommand(go, args, { cwd, env });
  await withProgress(`building ${program.name} ${program.version} (${program.about}, only once)`, async () => {
    await writeFile(join(cwd, 'go.mod'), await moduleFile(program, run));
    const { ldflags = '', tags = '' } = program;
    await run('build', '-mod=mod', '-tags', tags, '-o', path, '-ldflags', `-s -w ${ldflags}`, program.package);
  });
}

async function moduleFile(program: GoProgram, run: (...args: string[]) => Promise<string>): Promise<string> {
  const { module, version, hasStagingModules, dependenciesOf } = program;
  const original = await readModuleFile(module, version, run);
  const goVersion = /^go (\S+)/m.exec(original)?.[1] ?? '1.21';
  const lines = ['module image-watcher-testenv', `go ${goVersion}`, `require ${module} ${version}`];
  if (hasStagingModules) lines.push(...stagingReplacements(original, version));
  if (dependenciesOf !== undefined) {
    const kubernetes = await readModuleFile('k8s.io/kubernetes', dependenciesOf, run);
    lines.push(...stagingReplacements(kubernetes, dependenciesOf), ...sameVersions(kubernetes, module));
  }
  return `${lines.join('\n')}\n`;
}

async function readModuleFile(module: string, version: string, run: (...args: string[]) => Promise<string>): Promise<string> {
  const output = await run('mod', 'download', '-json', `${module}@${version}`);
  const { GoMod } = JSON.parse(output.slice(output.indexOf('{'), output.lastIndexOf('}') + 1)) as { GoMod: string };
  return readFile(GoMod, 'utf8');
}

/** The replacements that give other modules the versions that are required here. */
function sameVersions(original: string, except: string): string[] {
  return [...original.matchAll(/^\t(\S+) (v\S+)/gm)]
    .filter(([, module, version]) => module !== except && version !== 'v0.0.0')
    .map(([, module, version]) => `replace ${module} => ${module} ${version}`);
}

// Kubernetes points at folders of its own repository, which are published as modules too: v1.36.3 there is v0.36.3 here.
function stagingReplacements(original: string, version: string): string[] {
  const published = version.replace(/^v1\./, 'v0.');
  return [...original.matchAll(/^\s*(?:replace )?(k8s\.io\/\S+) => \.\/staging\//gm)].map(
    ([, name]) => `replace ${name} => ${name} ${published}`,
  );
}

async function findGo(): Promise<string> {
  const installed = findOnPath(['go'], ['/usr/local/go/bin']);
  if (installed && (await isNewEnough(installed))) return installed;
  const [, major, minor] = /(\d+)\.(\d+)/.exec((await debianCandidate('golang-go')) ?? '') ?? [];
  if (!fetchesNewer(Number(major), Number(minor))) throw new Error(installed ? `${installed} is too old` : 'Go is not installed');
  await installDebianPackage('golang-go');
  const fromDebian = findOnPath(['go']);
  if (fromDebian && (await isNewEnough(fromDebian))) return fromDebian;
  throw new Error('the Go of this distribution is too old');
}

async function isNewEnough(go: string): Promise<boolean> {
  const [, major, minor] = /go(\d+)\.(\d+)/.exec(await runCommand(go, ['version'], { cwd: '/' })) ?? [];
  return fetchesNewer(Number(major), Number(minor));
}

// Since 1.21 Go can fetch a newer version of itself.
function fetchesNewer(major: number, minor: number): boolean {
  return major > 1 || (major === 1 && minor >= 21);
}
