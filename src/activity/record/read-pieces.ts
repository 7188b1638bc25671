/** Reads the durable record again, in order: from where the configuration keeps it, a folder, or one file. */
import { readFile, stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { describeReadError } from '../../service/config/read-error.ts';
import { readConfig, readProxies, readRecordSettings } from '../../service/config/settings.ts';
import { processSource } from '../../service/config/environment.ts';
import { UsageError, type Options } from '../../service/command-line/command.ts';
import { createFolderStore } from './folder-store.ts';
import { openStore } from './open-store.ts';
import { segmentName, type SegmentStore } from './store.ts';
import type { Piece } from './verify.ts';

/** The options of commands that read the durable record. */
export const recordOptions = {
  file: { value: 'FILE', completes: 'file', about: 'a file or folder with the kept record' },
  config: { value: 'FILE', completes: 'file', about: 'the configuration of the service' },
} as const satisfies Options;

export interface RecordSource {
  readonly file?: string | undefined;
  readonly config?: string | undefined;
}

/** The largest file that is read at once, in bytes. */
const maxFile = 256 * 1_048_576;

/** Reads the pieces of the record. Rejects with UsageError if it is not known where they are. */
export async function* readPieces({ file, config }: RecordSource, signal: AbortSignal): AsyncGenerator<Piece> {
  if (file !== undefined) {
    const { size, isFolder } = await inspect(file);
    if (isFolder) return yield* piecesOf(createFolderStore(file), signal);
    if (size > maxFile)
      throw new UsageError(`${file} has more than ${maxFile} bytes: put its parts into a folder, as the service writes them`);
    return yield { name: basename(file), text: await readFile(file, 'utf8') };
  }
  const source = processSource(config);
  const settings = readRecordSettings(source);
  if (settings === undefined)
    throw new UsageError('the configuration keeps no record (setting "record"): name it with --config, or the record itself with --file');
  // Imported only here, so that the help does not wait for the HTTP client.
  const { openOutbound } = await import('../../service/proxy/outbound.ts');
  const outbound = openOutbound(readProxies(readConfig(source), source));
  try {
    yield* piecesOf(await openStore(settings, outbound), signal);
  } finally {
    await outbound.close();
  }
}

async function* piecesOf(store: SegmentStore, signal: AbortSignal): AsyncGenerator<Piece> {
  for await (const segment of store.list(signal)) {
    const text = await store.read(segment, signal);
    // A segment that was removed since it was listed is missing, as a gap shows.
    if (text !== undefined) yield { name: segmentName(segment), text };
  }
}

async function inspect(file: string): Promise<{ readonly size: number; readonly isFolder: boolean }> {
  try {
    const found = await stat(file);
    return { size: found.size, isFolder: found.isDirectory() };
  } catch (error) {
    throw new UsageError(`${file} ${describeReadError(error)}`);
  }
}
