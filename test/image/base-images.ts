/** The images that the Dockerfile builds on: pulled, or made of what this machine has. */
import { chmodSync, copyFileSync, cpSync, existsSync, mkdirSync, readFileSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { withProgress } from '../harness/progress.ts';
import { findOnPath, runCommand } from '../harness/run-command.ts';
import { tempFolder } from '../harness/temp-folder.ts';
import type { Engine } from './engine.ts';

/** Build arguments of the Dockerfile. */
export type BaseImages = Readonly<Record<string, string>>;

export const dockerfile = join(import.meta.dirname, '../../Dockerfile');

/** What the Dockerfile names, by the name of the argument. */
export function namedBases(): BaseImages {
  const text = readFileSync(dockerfile, 'utf8');
  const stages = new Map(
    [...text.matchAll(/^FROM (?:--platform=\S+ )?(\S+) AS (named-\w+)$/gm)].map(([, image = '', stage = '']) => [stage, image]),
  );
  const defaults = text.matchAll(/^ARG (\w+_IMAGE)=(\S+)$/gm);
  return Object.fromEntries([...defaults].map(([, name = '', stage = '']) => [name, stages.get(stage) ?? stage]));
}

/** The images that the Dockerfile names, where they can be pulled; otherwise images of our own, with as little in them. */
export async function findBases(engine: Engine): Promise<BaseImages> {
  const named = namedBases();
  try {
    for (const image of Object.values(named)) await withProgress(`pulling ${image}`, () => engine.docker(['pull', image], 180_000));
    return named;
  } catch (error) {
    process.stderr.write(
      `no base images from outside (${(error as Error).message.trim().split('\n').at(-1)}): making our own of this machine's files\n`,
    );
    const node = await makeNodeImage(engine);
    return { NODE_IMAGE: node, BUILD_IMAGE: node, BASE_IMAGE: await makeBaseImage(engine) };
  }
}

/** Node, npm, and the programs that the Dockerfile runs. */
async function makeNodeImage(engine: Engine): Promise<string> {
  const root = tempFolder('node-image');
  for (const name of ['sh', 'env', 'find', 'rm', 'touch']) await addProgram(root, needed(name), `/usr/bin/${name}`);
  symlinkSync('usr/bin', join(root, 'bin'));
  await addProgram(root, realpathSync(process.execPath), '/usr/local/bin/node');
  const npm = dirname(dirname(realpathSync(needed('npm'))));
  cpSync(npm, join(root, 'usr/local/lib/node_modules/npm'), { recursive: true });
  symlinkSync('../lib/node_modules/npm/bin/npm-cli.js', join(root, 'usr/local/bin/npm'));
  return importImage(engine, root, 'image-watcher-test/node');
}

/** What Node is linked with, and nothing that could be run. */
async function makeBaseImage(engine: Engine): Promise<string> {
  const root = tempFolder('base-image');
  await addLibraries(root, realpathSync(process.execPath));
  const certificates = '/etc/ssl/certs/ca-certificates.crt';
  if (existsSync(certificates)) addFile(root, certificates, certificates);
  writeFileSync(join(root, 'etc/passwd'), 'root:x:0:0::/root:/sbin/nologin\nnonroot:x:65532:65532::/home/nonroot:/sbin/nologin\n');
  mkdirSync(join(root, 'tmp'));
  chmodSync(join(root, 'tmp'), 0o1777);
  return importImage(engine, root, 'image-watcher-test/base');
}

async function importImage(engine: Engine, root: string, name: string): Promise<string> {
  // The folder of a temporary folder is closed to others, and would be the root of the image.
  chmodSync(root, 0o755);
  const archive = join(tempFolder('archive'), 'root.tar');
  await runCommand('tar', ['--create', '--file', archive, '--directory', root, '--owner=0', '--group=0', '--numeric-owner', '.']);
  await withProgress(`making the image ${name}`, () => engine.docker(['import', archive, name]));
  return name;
}

function needed(name: string): string {
  return findOnPath([name]) ?? missing(name);
}

function missing(name: string): never {
  throw new Error(`${name} is not on the PATH, so that no base image can be made`);
}

async function addProgram(root: string, from: string, to: string): Promise<void> {
  addFile(root, from, to);
  await addLibraries(root, from);
}

/** `ldd` names them as `libc.so.6 => /lib/…/libc.so.6 (0x…)`, and the loader as `/lib64/ld-linux… (0x…)`. */
async function addLibraries(root: string, program: string): Promise<void> {
  const text = await runCommand('ldd', [program]);
  for (const [, path = ''] of text.matchAll(/(\/\S+) \(0x/g)) addFile(root, path, path);
}

function addFile(root: string, from: string, to: string): void {
  const target = join(root, to);
  mkdirSync(dirname(target), { recursive: true });
  copyFileSync(realpathSync(from), target);
}
