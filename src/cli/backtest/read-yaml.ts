/** Reads a file of one document by a schema, with the position of each problem. */
import { readFileSync } from 'node:fs';
import type { z } from 'zod';
import { UsageError } from '../../service/command-line/command.ts';
import { printable } from '../../service/command-line/printable.ts';
import { describeReadError } from '../../service/config/read-error.ts';
import { describeIssues } from '../../service/config/schema-problems.ts';
import { formatKeys } from '../../service/resources/validation/problem.ts';
import { readDocuments } from '../manifests/read-documents.ts';

/** The content of a file. Throws UsageError with all that is wrong with it. */
export function readYaml<S extends z.ZodType>(path: string, schema: S): z.output<S> {
  const documents = readDocuments(readText(path));
  const [document] = documents;
  if (document === undefined || documents.length > 1) throw new UsageError(`${path} has ${documents.length} documents: write one`);
  if ('problems' in document)
    throw new UsageError(document.problems.map(({ line, column, message }) => `${path}:${line}:${column} ${message}`).join('\n'));
  const parsed = schema.safeParse(document.value);
  if (parsed.success) return parsed.data;
  const problems = describeIssues(schema, parsed.error, document.value).map(({ keys, message }) => {
    const { line, column } = document.positionOf(keys);
    return printable(`${path}:${line}:${column} ${formatKeys(keys)} ${message}`);
  });
  throw new UsageError(problems.join('\n'));
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new UsageError(`${path} ${describeReadError(error)}`);
  }
}
