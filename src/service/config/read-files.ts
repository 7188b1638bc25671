/** Reads the file of the configuration, or the files of a folder, and knows where each setting is written. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type Document, LineCounter, parseDocument, type YAMLError } from 'yaml';
import { placeIn } from '../resources/validation/offset-of.ts';
import type { Keys } from '../resources/validation/problem.ts';
import { isObject } from '../../core/model/untyped.ts';
import { ConfigError, type WrittenSettings } from './config-error.ts';
import { describeReadError } from './read-error.ts';
import { recognizeFile } from './recognize-file.ts';

/** What is written, and where: `config.yaml:12`, or the file alone if nothing of the setting is written. */
export interface WrittenFiles extends WrittenSettings {
  readonly value: unknown;
}

interface ReadFile {
  readonly file: string;
  readonly document: Document.Parsed;
  readonly lines: LineCounter;
  readonly value: unknown;
}

/**
 * A file, or the `*.yaml` files of a folder in the order of their names: later mappings are merged over earlier ones, everything else replaces them.
 * Throws ConfigError if one of them cannot be read.
 */
export function readFiles(path: string): WrittenFiles {
  const isFolder = statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
  const files = isFolder ? filesOf(path).map(readYaml) : [readYaml(path)];
  return {
    value: files.map(({ value }) => value).reduce(mergeOver, {}),
    placeOf: (keys) => placeAmong(files, keys) ?? path,
  };
}

function filesOf(folder: string): string[] {
  const names = reading(folder, () => readdirSync(folder)).filter((name) => /^[^.].*\.yaml$/.test(name));
  return names.sort().map((name) => join(folder, name));
}

/** The last of the files that have most of the setting: it is merged over the others. */
function placeAmong(files: readonly ReadFile[], keys: Keys): string | undefined {
  const places = files.map((read) => ({ read, ...placeIn(read.document, keys) }));
  const deepest = Math.max(0, ...places.map(({ depth }) => depth));
  const place = deepest === 0 ? undefined : places.findLast(({ depth }) => depth === deepest);
  return place && `${place.read.file}:${place.read.lines.linePos(place.offset).line}`;
}

function mergeOver(below: unknown, above: unknown): unknown {
  if (!isObject(below) || !isObject(above)) return above;
  const merged = Object.entries(above).map(([key, value]) => [key, Object.hasOwn(below, key) ? mergeOver(below[key], value) : value]);
  return { ...below, ...Object.fromEntries(merged) };
}

function reading<T>(path: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw new ConfigError([{ where: path, path: '', message: describeReadError(error) }]);
  }
}

function readYaml(file: string): ReadFile {
  const lines = new LineCounter();
  const document = parseDocument(
    reading(file, () => readFileSync(file, 'utf8')),
    { lineCounter: lines, prettyErrors: false },
  );
  const lineAt = (offset: number) => `${file}:${Math.max(lines.linePos(offset).line, 1)}`;
  // After one error of the syntax the others only follow from it.
  const errors = document.errors.filter(({ code }, index) => index === 0 || code === 'DUPLICATE_KEY');
  if (errors.length > 0)
    throw new ConfigError(errors.map((error) => ({ where: lineAt(error.pos[0]), path: '', message: describeYaml(error) })));
  const value: unknown = document.toJS() ?? {};
  if (!isObject(value))
    throw new ConfigError([{ where: lineAt(0), path: '', message: 'must hold settings as keys and values, such as "redis: {url: …}"' }]);
  const other = recognizeFile(value);
  if (other !== undefined)
    throw new ConfigError([{ where: lineAt(placeIn(document, [other.key]).offset), path: '', message: other.message }]);
  return { file, document, lines, value };
}

function describeUnclosed(message: string): string | undefined {
  const [, end] = /(?:and end with a|Missing closing) ([\]}"'])/.exec(message) ?? [];
  return end && `a bracket, brace or quote before this line is not closed: write ${end} where it ends`;
}

function describeYaml({ code, message }: YAMLError): string {
  switch (code) {
    case 'DUPLICATE_KEY':
      return 'this key is written twice in the same place: merge the two';
    case 'MULTIPLE_DOCS':
      return 'a second document begins here: remove the line with ---, or give each document a file of its own in a folder';
    case 'TAB_AS_INDENT':
      return 'is not YAML: the line is indented with a tab; use spaces';
    case 'BLOCK_AS_IMPLICIT_KEY':
      return 'is not YAML: a second ": " in one line; put the value in quotes, or on the next line';
    default:
      return `is not YAML: ${describeUnclosed(message) ?? message}`;
  }
}
