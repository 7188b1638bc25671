import { existsSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { cacheFolder } from './binary-cache.ts';
import { withLock } from './lock.ts';
import { withProgress } from './progress.ts';
import { findOnPath, runCommand } from './run-command.ts';

const serviceVeto = '/usr/sbin/policy-rc.d';
const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', LC_ALL: 'C' };

/** Installs a package on Debian and its descendants without starting the service it may bring; throws where that is not possible. */
export async function installDebianPackage(name: string): Promise<void> {
  const aptGet = findOnPath(['apt-get']);
  if (!aptGet) throw new Error('this system has no apt-get');
  if (process.getuid?.() !== 0) throw new Error(`apt-get install ${name} needs root`);
  const run = (...args: string[]) => runCommand(aptGet, ['-o', 'DPkg::Lock::Timeout=300', ...args], { env });
  const install = () => run('install', '-y', '--no-install-recommends', name);
  await withLock(join(cacheFolder(), 'apt.lock'), `installing ${name}`, () =>
    withProgress(`installing the package ${name}`, () =>
      withoutServices(async () => {
        try {
          await install();
        } catch {
          // A fresh machine has no package lists, an old one has outdated ones.
          await run('update');
          await install();
        }
      }),
    ),
  );
}

/** The version that apt-get would install; undefined if there is none, or no right to install it. */
export async function debianCandidate(name: string): Promise<string | undefined> {
  const [aptCache, aptGet] = [findOnPath(['apt-cache']), findOnPath(['apt-get'])];
  if (!aptCache || !aptGet || process.getuid?.() !== 0) return undefined;
  const candidate = async () => /Candidate: (?:\d+:)?(\d\S*)/.exec(await runCommand(aptCache, ['policy', name], { env }))?.[1];
  const known = await candidate();
  if (known) return known;
  await runCommand(aptGet, ['update'], { env });
  return candidate();
}

// Debian starts a service as soon as it is installed, unless this file says no; it is Debian's own way for building images.
async function withoutServices(work: () => Promise<void>): Promise<void> {
  if (existsSync(serviceVeto)) return work();
  await writeFile(serviceVeto, '#!/bin/sh\nexit 101\n', { mode: 0o755 });
  try {
    await work();
  } finally {
    await rm(serviceVeto, { force: true });
  }
}
