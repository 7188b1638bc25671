/** Prints the manifest of the kubectl plugin for Krew: `node krew-manifest.ts FOLDER`, with the archives of a release in the folder. */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { ownerOf } from '../../docs/generate/coordinates.ts';

const root = join(import.meta.dirname, '../..');

/** `image-watcher-1.2.3-linux-amd64.tar.gz`. */
const archive = /^image-watcher-(?<version>.+)-(?<os>linux|darwin)-(?<arch>amd64|arm64)\.tar\.gz$/;

/** The manifest for the archives of a folder; throws if there are none, or some of another version. */
export function krewManifest(folder: string): string {
  const packageJson = readFileSync(join(root, 'package.json'), 'utf8');
  const { version, description } = JSON.parse(packageJson) as { version: string; description: string };
  const homepage = `https://github.com/${ownerOf(packageJson)}/image-watcher`;
  const platforms = readdirSync(folder)
    .sort()
    .flatMap((file) => {
      const found = archive.exec(file)?.groups;
      if (found === undefined) return [];
      if (found['version'] !== version) throw new Error(`${file} is not of version ${version}`);
      return [
        {
          selector: { matchLabels: { os: found['os'], arch: found['arch'] } },
          uri: `${homepage}/releases/download/v${version}/${file}`,
          sha256: createHash('sha256')
            .update(readFileSync(join(folder, file)))
            .digest('hex'),
          bin: 'image-watcher',
        },
      ];
    });
  if (platforms.length === 0) throw new Error(`there is no archive of a release in ${folder}`);
  return stringify({
    apiVersion: 'krew.googlecontainertools.github.com/v1alpha2',
    kind: 'Plugin',
    metadata: { name: 'image-watcher' },
    spec: {
      version: `v${version}`,
      homepage,
      shortDescription: 'Show and control image updates',
      description: `${description}. Shows what runs, what is blocked and why; checks, approves and rolls back.`,
      platforms,
    },
  });
}

if (import.meta.main) process.stdout.write(krewManifest(process.argv[2] ?? '.'));
