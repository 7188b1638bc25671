/** The sources and what they import, for the tests of the layout. */
import { globSync, readFileSync } from 'node:fs';
import { basename, dirname, join, normalize } from 'node:path';

/** The folder of the project. */
export const root = join(import.meta.dirname, '../..');

interface Import {
  readonly file: string;
  readonly from: string;
  readonly isType: boolean;
}

/** The sources: `src/core/model/errors.ts`. */
export const files = globSync('src/**/*.ts', { cwd: root }).map((file) => file.replaceAll('\\', '/'));
export const read = (file: string): string => readFileSync(join(root, file), 'utf8');
export const imports = files.flatMap(importsOf);

function importsOf(file: string): Import[] {
  const text = read(file);
  const statements = text.matchAll(/^(?:import|export)\s+(type\s)?[^'";]*?from\s+'([^']+)'/gm);
  const others = text.matchAll(/\bimport\(?\s*'([^']+)'/g);
  return [
    ...[...statements].map(([, type, from = '']) => ({ file, from, isType: type !== undefined })),
    ...[...others].map(([, from = '']) => ({ file, from, isType: false })),
  ];
}

/** `src/core/model/errors.ts` for a relative import, the package's name for another. */
export function resolve({ file, from }: Import): string {
  if (from.startsWith('.')) return normalize(join(dirname(file), from)).replaceAll('\\', '/');
  const [scope = '', name] = from.split('/');
  return scope.startsWith('@') ? `${scope}/${name}` : scope;
}

/** Whether a source is below one of these folders of `src`. */
export const isIn = (path: string, folders: readonly string[]): boolean => folders.some((folder) => path.startsWith(`src/${folder}/`));
export const describeImport = (one: Import): string => `${one.file} imports ${one.from}`;

/** What is decided there hangs on the arguments alone. */
export const pureRooms = ['core/model', 'core/select', 'core/plan', 'core/rollout', 'core/status', 'service/doctor'];

/** The files of a folder whose exports are the members of a list; the others there only serve them. */
export function membersIn(folder: string, marker: RegExp): string[] {
  return globSync(`src/${folder}/*.ts`, { cwd: root })
    .filter((file) => basename(file) !== 'index.ts' && marker.test(read(file)))
    .map((file) => basename(file, '.ts'))
    .sort();
}
