/** Copies images with skopeo, unpacks them with tar, and reads what a container would see. */
import assert from 'node:assert/strict';
import { globSync, lstatSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { findSkopeo } from '../harness/binaries.ts';
import { runCommand } from '../harness/run-command.ts';
import { tempFolder } from '../harness/temp-folder.ts';
import type { Layout, writeReferrer } from './oci-layout.ts';

const home = tempFolder('skopeo');

async function skopeo(...args: string[]): Promise<string> {
  return runCommand(await findSkopeo(), ['--insecure-policy', ...args], { env: { ...process.env, HOME: home } });
}

/** How an image of a layout is named. */
export const inLayout = ({ path }: Pick<Layout, 'path'>): string => `oci:${path}:image`;
/** How an image of a registry is named. */
export const inRegistry = (image: string): string => `docker://${image}`;

/** Pushes an image under a name, byte by byte as it is; with `docker`, in the format of Docker. */
export async function push(layout: Pick<Layout, 'path'>, image: string, format: 'oci' | 'docker' = 'oci'): Promise<void> {
  const how = format === 'oci' ? ['--all', '--preserve-digests'] : ['--format', 'v2s2'];
  await skopeo('copy', '--quiet', '--dest-tls-verify=false', ...how, inLayout(layout), inRegistry(image));
}

/** Pushes what refers to an image: by its digest, and in the index that registries have where they lack the endpoint for referrers. */
export async function pushReferrer(of: string, repository: string, referrer: ReturnType<typeof writeReferrer>): Promise<void> {
  await push(referrer, `${repository}@${referrer.digest}`);
  const [host, ...path] = repository.split('/');
  const response = await fetch(`http://${host}/v2/${path.join('/')}/manifests/${of.replace(':', '-')}`, {
    method: 'PUT',
    headers: { 'content-type': 'application/vnd.oci.image.index.v1+json' },
    body: JSON.stringify(referrer.index),
  });
  assert.equal(response.status, 201, await response.text());
}

/** Removes the image of a tag, with all its tags. */
export async function remove(image: string): Promise<void> {
  await skopeo('delete', '--tls-verify=false', inRegistry(image));
}

/** The manifest or index of an image. */
export async function readRaw(image: string): Promise<RawManifest> {
  return JSON.parse(await skopeo('inspect', '--raw', '--tls-verify=false', inRegistry(image))) as RawManifest;
}

export interface RawManifest {
  readonly manifests?: readonly { readonly platform?: { readonly os: string; readonly architecture: string } }[];
  readonly annotations?: Readonly<Record<string, string>>;
}

export interface Config {
  readonly os: string;
  readonly architecture: string;
  readonly config: Readonly<Record<string, unknown>> & { readonly Labels?: Readonly<Record<string, string>> };
  readonly rootfs: { readonly diff_ids: readonly string[] };
}

/** What a container of the image has: its configuration, and each path with its kind, mode, owner, time and content. */
export interface Unpacked {
  readonly config: Config;
  readonly files: Readonly<Record<string, string>>;
}

interface Manifest {
  readonly config: { readonly digest: string };
  readonly layers: readonly { readonly digest: string }[];
}

/** Unpacks the image for a platform. */
export async function unpack(image: string, platform: string): Promise<Unpacked> {
  const [os = '', architecture = ''] = platform.split('/');
  const copy = join(tempFolder('copy'), 'image');
  const from = ['--override-os', os, '--override-arch', architecture, 'copy', '--quiet', '--src-tls-verify=false'];
  await skopeo(...from, '--dest-decompress', image, `dir:${copy}`);
  const blob = (digest: string) => join(copy, digest.replace('sha256:', ''));
  const manifest = JSON.parse(readFileSync(join(copy, 'manifest.json'), 'utf8')) as Manifest;
  const root = tempFolder('root');
  for (const { digest } of manifest.layers) await applyLayer(blob(digest), root);
  const unpacked = { config: JSON.parse(readFileSync(blob(manifest.config.digest), 'utf8')) as Config, files: filesOf(root) };
  for (const used of [dirname(copy), root]) rmSync(used, { recursive: true });
  return unpacked;
}

const tar = (...args: string[]): Promise<string> => runCommand('/usr/bin/env', ['tar', ...args]);

/** Whiteouts concern what the layers below have. */
async function applyLayer(archive: string, root: string): Promise<void> {
  const names = (await tar('-tf', archive)).split('\n').filter(Boolean);
  for (const name of names.filter((one) => basename(one).startsWith('.wh.'))) {
    const folder = join(root, dirname(name));
    const hidden = basename(name).slice('.wh.'.length);
    const gone = hidden === '.wh..opq' ? globSync('*', { cwd: folder }) : [hidden];
    for (const one of gone) rmSync(join(folder, one), { recursive: true, force: true });
  }
  await tar('-xpf', archive, '-C', root, '--exclude=.wh.*');
}

/** One line for each path. Hard links are shown by the first path of the same file. */
function filesOf(root: string): Record<string, string> {
  const firstPath = new Map<number, string>();
  const found: Record<string, string> = {};
  const paths = readdirSync(root, { recursive: true, encoding: 'utf8' }).toSorted();
  for (const path of paths) {
    const full = join(root, path);
    const stat = lstatSync(full);
    const about = `${(stat.mode & 0o7777).toString(8)} ${stat.uid}:${stat.gid}`;
    const first = stat.isFile() && stat.nlink > 1 ? firstPath.get(stat.ino) : undefined;
    if (stat.isFile() && stat.nlink > 1 && first === undefined) firstPath.set(stat.ino, path);
    if (stat.isSymbolicLink()) found[path] = `→ ${readlinkSync(full)}`;
    else if (stat.isDirectory()) found[path] = `${about} folder`;
    else if (first !== undefined) found[path] = `${about} the same file as ${first}`;
    else found[path] = `${about} ${stat.mtimeMs} ${readFileSync(full, 'utf8')}`;
  }
  return found;
}
