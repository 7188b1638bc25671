/** Reads the images of workloads, each once, and recognizes their bases. An unreadable image is unknown. */
import { countOf } from '../../../service/command-line/output.ts';
import type { Progress } from '../../../service/command-line/progress.ts';
import { ofRegistry } from '../../../service/command-line/user-registry.ts';
import type { RegistryClient } from '../../../service/registry/client.ts';
import type { FactsReader } from '../../recognize/facts-reader.ts';
import { type KnownBases, recognizeImages } from '../../recognize/recognize-images.ts';
import type { ListedImage } from './list-images.ts';
import { type ExaminedImage, resolveImages } from './resolve-images.ts';

interface Means {
  readonly registry: Pick<RegistryClient, 'headManifest'>;
  readonly facts: FactsReader;
  readonly progress: Progress;
  readonly signal: AbortSignal;
}

export async function recognizeListed(
  listed: readonly ListedImage[],
  bases: KnownBases,
  { registry, facts, progress, signal }: Means,
): Promise<readonly ExaminedImage[]> {
  const onRead = (done: number, total: number) => progress.update(`reading tags: ${done} of ${total}`);
  const { images, unreadable } = await resolveImages(listed, { registry, signal, onRead });
  const pending = new Set(images.map(({ digest }) => digest));
  const total = pending.size;
  const reader: FactsReader = {
    async read(source, digest, signal) {
      const read = await facts.read(source, digest, signal);
      pending.delete(digest);
      progress.update(`reading: ${total - pending.size} of ${countOf(total, 'image')}`);
      return read;
    },
  };
  const recognized = await ofRegistry(recognizeImages(images, bases, { reader, signal }), signal);
  return [...recognized.images, ...unreadable];
}
