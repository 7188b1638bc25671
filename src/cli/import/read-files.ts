import { fieldsOf, isObject, type JsonObject } from '../../core/model/untyped.ts';
import { UsageError, type Terminal } from '../../service/command-line/command.ts';
import type { FoundFile } from '../manifests/find-files.ts';
import { objectsIn, readDocuments } from '../manifests/read-documents.ts';
import { readTexts } from '../manifests/read-texts.ts';
import { printable } from '../../service/command-line/printable.ts';
import type { SourceObject } from './importer.ts';

/** Reads objects of files and folders, and `-` as the standard input. Throws UsageError for unreadable ones; invalid YAML in a folder may be a template. */
export async function readFiles(paths: readonly string[], namespace: string, terminal: Terminal): Promise<SourceObject[]> {
  const { texts, unreadable } = await readTexts(paths, terminal);
  const [failed] = unreadable;
  if (failed !== undefined) throw new UsageError(`${printable(failed.path)}: ${printable(failed.message)}`);
  return texts.flatMap(({ text, ...file }) => readObjects(text, namespace, file));
}

/** The objects of a text in YAML or JSON, with their comments. Throws UsageError if a file that the user named is not YAML. */
export function readObjects(text: string, namespace: string, file?: FoundFile): SourceObject[] {
  return readDocuments(text).flatMap((document) => {
    if ('problems' in document) {
      const [first] = document.problems;
      if (!file?.isNamed || first === undefined) return [];
      throw new UsageError(`${printable(file.path)}:${first.line}:${first.column}: ${printable(first.message)}`);
    }
    const comments = document.comments();
    return [...objectsIn(document.value)].flatMap(({ value, keys }) => {
      if (!isObject(value)) return [];
      const own = comments
        .filter((comment) => keys.every((key, index) => comment.keys[index] === key))
        .map((comment) => ({ ...comment, keys: comment.keys.slice(keys.length) }));
      return sourceObject(value, { namespace, comments: own, ...(file !== undefined && { file: file.path }) }) ?? [];
    });
  });
}

/** Makes an object of a parsed document; undefined if it has no kind. Some files, such as kustomization.yaml, have no name. */
export function sourceObject(
  value: JsonObject,
  { namespace, ...from }: Pick<SourceObject, 'namespace' | 'comments' | 'file'>,
): SourceObject | undefined {
  const { apiVersion, kind } = value;
  if (typeof apiVersion !== 'string' || typeof kind !== 'string') return undefined;
  const { name = '', namespace: own } = fieldsOf(value['metadata']);
  return {
    apiVersion,
    kind,
    name: String(name),
    namespace: typeof own === 'string' ? own : namespace,
    value,
    ...from,
    isNamespaceAssumed: typeof own !== 'string',
  };
}
