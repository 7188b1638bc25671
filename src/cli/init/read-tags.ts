/** The tags of the repositories that workloads run. */
import { inParallel } from '../../async/in-parallel.ts';
import { describeError } from '../../model/errors.ts';
import type { ImageReference } from '../../model/image-reference.ts';
import type { RegistryClient } from '../../registry/client.ts';
import { repositoryKey, type TagList } from './propose-policies.ts';

const maxParallel = 8;

interface Means {
  readonly registry: Pick<RegistryClient, 'listTags'>;
  readonly signal: AbortSignal;
  readonly onRead: (done: number, total: number) => void;
}

/** Asks for each repository once, by `repositoryKey`; images without a tag need no list. Rejects only with the signal's reason. */
export async function readTags(
  references: readonly ImageReference[],
  { registry, signal, onRead }: Means,
): Promise<ReadonlyMap<string, TagList>> {
  const wanted = references.filter(({ tag, digest }) => tag !== undefined || digest === undefined);
  const byKey = new Map(wanted.map((reference) => [repositoryKey(reference), reference]));
  const lists = new Map<string, TagList>();
  await inParallel([...byKey], maxParallel, async ([key, { repository }]) => {
    const list = await registry.listTags(repository, signal).then(
      (tags): TagList => (tags === undefined ? { problem: `the registry does not know ${key}: check the name` } : { tags }),
      (error: unknown): TagList => ({ problem: `its tags cannot be read: ${describeError(error)}` }),
    );
    lists.set(key, list);
    onRead(lists.size, byKey.size);
  });
  signal.throwIfAborted();
  return lists;
}
