/** Where the project is published: `repository` of package.json is the one place that says it, and `npm run generate` writes it wherever else it stands. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { GeneratedFile } from './files.ts';

const root = join(import.meta.dirname, '../..');
const read = (path: string) => readFileSync(join(root, path), 'utf8');

/** What may name the project; pages that are generated take it from their templates. */
const places = [
  '*.md',
  'docs/*.md',
  'docs/templates/*.md',
  'charts/image-watcher/*.{md,yaml}',
  'src/**/*.ts',
  'compose/*',
  'docker-compose.yml',
  'Dockerfile',
];

/** `technomad/image-watcher`, of the URL in package.json. */
export function repositoryOf(packageJson: string): string {
  const { repository } = JSON.parse(packageJson) as { repository?: { url?: string } };
  const [, path] = /^git\+https:\/\/github\.com\/([\w.-]+\/[\w.-]+)\.git$/.exec(repository?.url ?? '') ?? [];
  if (path === undefined) throw new Error('package.json: repository.url is not git+https://github.com/OWNER/NAME.git');
  return path;
}

/** The text with the coordinates of the repository in the place of any other owner's. Names of images are in lower case. */
export function withCoordinates(text: string, repository: string): string {
  const [owner = ''] = repository.toLowerCase().split('/');
  return text
    .replaceAll(/\bghcr\.io\/[\w.-]+\/((?:charts\/)?image-watcher)\b/g, `ghcr.io/${owner}/$1`)
    .replaceAll(/\bgithub\.com\/[\w.-]+\/image-watcher\b/g, `github.com/${repository}`);
}

/** Every file that names the project, as it should be. */
export function filesWithCoordinates(): readonly GeneratedFile[] {
  const repository = repositoryOf(read('package.json'));
  return places
    .flatMap((pattern) => globSync(pattern, { cwd: root }))
    .map((path) => ({ path: path.replaceAll('\\', '/'), text: read(path) }))
    .filter(({ text }) => /(?:ghcr\.io|github\.com)\/[\w.-]+\/(?:charts\/)?image-watcher\b/.test(text))
    .filter(({ text }) => !text.startsWith('<!-- Generated'))
    .map(({ path, text }) => ({ path, content: withCoordinates(text, repository) }));
}
