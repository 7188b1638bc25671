/** Reads the file of the configuration, or the files of a folder, and knows where each setting is written. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type Document, LineCounter, parseDocument, visit } from 'yaml';
import { placeIn } from '../resources/validation/offset-of.ts';
import type { Keys } from '../resources/validation/problem.ts';
import { describeAlias, describeYaml } from '../resources/validation/yaml-problem.ts';
import { isObject } from '../../core/model/untyped.ts';
import { ConfigError, type WrittenSettings } from './config-error.ts';
import { describeReadError } from './read-error.ts';
import { recognizeFile } from './recognize-file.ts';

/** The content of the files, and the places of settings: `config.yaml:12`, or only the file if no part of the setting is written. */
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
 * Reads a file, or the `*.yaml` files of a folder in the order of their names. Later mappings are merged over earlier ones; other values replace them. Throws
 * ConfigError if one of them cannot be read.
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

/** The place of a setting: the last of the files that contain most of its path, because that file is merged over the others. */
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
  // Besides duplicate keys, only the first syntax error of a file is reported, because the others may be consequences of it.
  const errors = document.errors.filter(({ code }, index) => index === 0 || code === 'DUPLICATE_KEY');
  if (errors.length > 0)
    throw new ConfigError(errors.map((error) => ({ where: lineAt(error.pos[0]), path: '', message: describeYaml(error) })));
  const value: unknown = toValue(document, (message) => new ConfigError([{ where: lineAt(findAlias(document)), path: '', message }])) ?? {};
  if (!isObject(value))
    throw new ConfigError([{ where: lineAt(0), path: '', message: 'must hold settings as keys and values, such as "redis: {url: …}"' }]);
  const other = recognizeFile(value);
  if (other !== undefined)
    throw new ConfigError([{ where: lineAt(placeIn(document, [other.key]).offset), path: '', message: other.message }]);
  return { file, document, lines, value };
}

/** The content of a document. Throws what `toError` makes of a problem with its aliases, which shows only here. */
function toValue(document: Document.Parsed, toError: (message: string) => ConfigError): unknown {
  try {
    return document.toJS();
  } catch (error) {
    throw toError(describeAlias(error));
  }
}

/** The position of the first alias without an anchor before it; else of the first alias. */
function findAlias(document: Document.Parsed): number {
  let position: number | undefined;
  visit(document, {
    Alias(_, alias) {
      const isUnresolved = alias.resolve(document) === undefined;
      if (isUnresolved || position === undefined) position = alias.range?.[0] ?? 0;
      return isUnresolved ? visit.BREAK : undefined;
    },
  });
  return position ?? 0;
}
