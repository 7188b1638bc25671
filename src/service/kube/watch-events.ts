import { KubeError, kubeErrorFromStatus } from './kube-error.ts';
import { textOrEmpty, parseJson } from '../../core/model/untyped.ts';

// The limit for a line, so that an endless one does not fill the memory. etcd stores no object above 1.5 MiB by default.
const maxLineLength = 32 * 1024 * 1024;

/** The complete, non-empty lines of a byte stream. Text after the last newline is dropped, because it is incomplete. */
export async function* readLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of chunks) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    if (rest.length > maxLineLength) throw new Error(`a line is longer than ${maxLineLength} characters`);
    for (const line of lines) if (line.trim() !== '') yield line;
  }
}

/** One line of a watch. */
export interface WatchEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK';
  readonly object: unknown;
  readonly name: string;
  readonly namespace: string;
  readonly resourceVersion: string;
}

/** Thrown for a line that is not a watch event. Events may have been missed, so a new list is needed. */
class MalformedWatchEvent extends Error {
  override readonly name = 'MalformedWatchEvent';
}

const types: ReadonlySet<string> = new Set(['ADDED', 'MODIFIED', 'DELETED', 'BOOKMARK']);

/** Parses a line. Throws KubeError for an ERROR event and MalformedWatchEvent for any line that is not an event. */
export function parseWatchEvent(path: string, line: string): WatchEvent {
  const event = parseObject(path, line);
  if (event.type === 'ERROR') throw kubeErrorFromStatus(`watch ${path}`, event.object ?? {});
  const { name, namespace, resourceVersion } = readMetadata(event.object);
  if (!types.has(event.type ?? '') || resourceVersion === '' || (name === '' && event.type !== 'BOOKMARK')) throw malformed(path, line);
  return { type: event.type as WatchEvent['type'], object: event.object, name, namespace, resourceVersion };
}

/** The name, namespace and resourceVersion of any object; '' for those that are missing. */
export function readMetadata(object: unknown): { name: string; namespace: string; resourceVersion: string } {
  const { metadata } = (object ?? {}) as { metadata?: Record<string, unknown> | null };
  return {
    name: textOrEmpty(metadata?.['name']),
    namespace: textOrEmpty(metadata?.['namespace']),
    resourceVersion: textOrEmpty(metadata?.['resourceVersion']),
  };
}

/** Whether the watch cannot resume after this error, so that a new list is needed. */
export function needsNewList(error: unknown): boolean {
  if (error instanceof MalformedWatchEvent) return true;
  // 410: the version expired. 404: the kind was removed. 400: the version is invalid. 504: "too large resource version" after a restored backup.
  return error instanceof KubeError && [400, 404, 410, 504].includes(error.status);
}

function parseObject(path: string, line: string): { type?: string; object?: unknown } {
  const parsed = parseJson(line);
  if (typeof parsed === 'object' && parsed !== null) return parsed;
  throw malformed(path, line);
}

function malformed(path: string, line: string): MalformedWatchEvent {
  return new MalformedWatchEvent(`watch ${path}: a line is no watch event: ${line.slice(0, 100)}`);
}
