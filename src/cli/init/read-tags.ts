/** The tags of the repositories that workloads run. */
import { inParallel } from '../../core/async/in-parallel.ts';
import { describeError } from '../../core/model/errors.ts';
import type { ImageSource } from '../../core/model/image-source.ts';
import type { RegistryClient } from '../../service/registry/client.ts';
import type { TagList } from './propose-policies.ts';

const maxParallel = 8;

interface Means {
  readonly registry: Pick<RegistryClient, 'listTags'>;
  readonly signal: AbortSignal;
  readonly onRead: (done: number, total: number) => void;
}

/** Reads the tags of each repository once, by its key. Rejects only with the signal's reason. */
export async function readTags(
  sources: ReadonlyMap<string, ImageSource>,
  { registry, signal, onRead }: Means,
): Promise<ReadonlyMap<string, TagList>> {
  const lists = new Map<string, TagList>();
  await inParallel([...sources], maxParallel, async ([key, source]) => {
    const list = await registry.listTags(source, signal).then(
      (tags): TagList => (tags === undefined ? { problem: `the registry does not know ${key}: check the name` } : { tags }),
      (error: unknown): TagList => ({ problem: `its tags cannot be read: ${describeError(error)}` }),
    );
    lists.set(key, list);
    onRead(lists.size, sources.size);
  });
  signal.throwIfAborted();
  return lists;
}
