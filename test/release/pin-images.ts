/**
 * `node test/harness/bootstrap.mjs test/release/pin-images.ts`: writes the digests that the tags of other people's images have now into the Dockerfile, the
 * docker-compose.yml and the chart. Needs docker with buildx, and the registries.
 */
import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

const digest = '(?:@sha256:[0-9a-f]{64})?';
const image = '([a-z0-9-]+\\.[a-z0-9.-]+/[a-z0-9./_-]+:[\\w.-]+)';

/** Where each file names images: the text before, the image, and the text after. */
export const pinnedFiles: Readonly<Record<string, RegExp>> = {
  Dockerfile: new RegExp(`^(FROM (?:--platform=\\S+ )?)${image}${digest}( AS .*)$`, 'gm'),
  'docker-compose.yml': new RegExp(`^( +image: )${image}${digest}()$`, 'gm'),
};
/** The chart has repository, tag and digest as fields of their own. */
const chartFile = 'charts/image-watcher/values.yaml';
const chartImage = /(repository: )(\S+)(, tag: )(\S+)(, digest: )'[^']*'/g;

export type DigestOf = (image: string) => Promise<string>;

/** The text of a file with the digests of all images that it names. */
export async function pinText(file: string, text: string, digestOf: DigestOf): Promise<string> {
  const pattern = pinnedFiles[file] ?? chartImage;
  const found = [...text.matchAll(pattern)];
  if (found.length === 0) throw new Error(`${file} names no image`);
  let pinned = text;
  for (const parts of found) pinned = pinned.replace(parts[0], await pinOne(file, parts, digestOf));
  return pinned;
}

async function pinOne(file: string, [, before = '', ...rest]: readonly string[], digestOf: DigestOf): Promise<string> {
  const [name = '', after = '', tag = '', last = ''] = rest;
  if (file !== chartFile) return `${before}${name}@${await digestOf(name)}${after}`;
  return `${before}${name}${after}${tag}${last}'${await digestOf(`${name}:${tag}`)}'`;
}

async function askRegistry(name: string): Promise<string> {
  const { stdout } = await promisify(execFile)('docker', ['buildx', 'imagetools', 'inspect', '--format', '{{.Manifest.Digest}}', name]);
  const found = stdout.trim();
  if (!/^sha256:[0-9a-f]{64}$/.test(found)) throw new Error(`the registry gives no digest of ${name}: ${found}`);
  process.stdout.write(`${name}@${found}\n`);
  return found;
}

if (import.meta.main) {
  const root = join(import.meta.dirname, '../..');
  for (const file of [...Object.keys(pinnedFiles), chartFile]) {
    const path = join(root, file);
    writeFileSync(path, await pinText(file, readFileSync(path, 'utf8'), askRegistry));
  }
}
