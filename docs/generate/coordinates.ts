/** Where the project is published: `repository` of package.json is the one place that says it, and `npm run generate` writes it wherever else it stands. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { GeneratedFile } from './files.ts';

const root = join(import.meta.dirname, '../..');
const read = (path: string) => readFileSync(join(root, path), 'utf8');

/** What may name the project; pages that are generated take it from their templates. */
const places = ['*.md', 'docs/**/*.md', 'charts/image-watcher/*.{md,yaml}', 'src/**/*.ts', 'compose/*', 'docker-compose.yml', 'Dockerfile'];

/** Who publishes the project: `technomad`, by the URL in package.json. */
export function ownerOf(packageJson: string): string {
  const { repository } = JSON.parse(packageJson) as { repository?: { url?: string } };
  const [, owner] = /^git\+https:\/\/github\.com\/([\w.-]+)\/image-watcher\.git$/.exec(repository?.url ?? '') ?? [];
  if (owner === undefined) throw new Error('package.json: repository.url is not git+https://github.com/<owner>/image-watcher.git');
  return owner;
}

/** The text with this owner in the place of any other. Names of images are in lower case, those of owners need not be. */
export function withOwner(text: string, owner: string): string {
  return text
    .replaceAll(/\bghcr\.io\/[\w.-]+\/((?:charts\/)?image-watcher)\b/g, `ghcr.io/${owner.toLowerCase()}/$1`)
    .replaceAll(/\bgithub\.com\/[\w.-]+\/image-watcher\b/g, `github.com/${owner}/image-watcher`);
}

/** Every file that names the project, as it should be. */
export function filesWithCoordinates(): readonly GeneratedFile[] {
  const owner = ownerOf(read('package.json'));
  return places
    .flatMap((pattern) => globSync(pattern, { cwd: root }))
    .map((path) => ({ path: path.replaceAll('\\', '/'), text: read(path) }))
    .filter(({ text }) => /(?:ghcr\.io|github\.com)\/[\w.-]+\/(?:charts\/)?image-watcher\b/.test(text))
    .filter(({ text }) => !text.startsWith('<!-- Generated'))
    .map(({ path, text }) => ({ path, content: withOwner(text, owner) }));
}
