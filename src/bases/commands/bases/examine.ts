/** Reads workloads, and from registries the versions of the base and the images; recognizes which are built on it. */
import { createFactsReader, type FactsReader } from '../../recognize/facts-reader.ts';
import { recognizeImages } from '../../recognize/recognize-images.ts';
import { type Config, registryAliases } from '../../../service/config/settings.ts';
import type { KubeClient } from '../../../service/kube/client.ts';
import { formatRepository } from '../../../core/model/image-reference.ts';
import type { Terminal } from '../../../service/command-line/command.ts';
import { countOf } from '../../../service/command-line/output.ts';
import { startProgress } from '../../../service/command-line/progress.ts';
import { ofRegistry, openRegistry } from '../../../service/command-line/user-registry.ts';
import { findVersions, type SelectedBase, type WantedBase } from './find-versions.ts';
import { listImages, type Where } from './list-images.ts';
import { type ExaminedImage, resolveImages } from './resolve-images.ts';

export interface Wanted extends WantedBase {
  readonly where: Where;
}

export interface Means {
  readonly client: KubeClient;
  readonly config: Config;
  /** A Docker config.json with credentials; that of the user unless given. */
  readonly dockerConfig: string | undefined;
  readonly terminal: Terminal;
}

/** Rejects with a sentence for the user if the base cannot be read, or if there are no workloads. An image that cannot be read is unknown. */
export async function examine(
  { where, ...wanted }: Wanted,
  { client, config, dockerConfig, terminal }: Means,
): Promise<{ readonly selected: SelectedBase; readonly recognized: readonly ExaminedImage[] }> {
  const { signal = new AbortController().signal } = terminal;
  const aliases = registryAliases(config);
  const { registry } = openRegistry(config, dockerConfig);
  const progress = startProgress(terminal, 'listing workloads …');
  try {
    const { images: listed, note } = await listImages(client, where, { aliases, signal });
    if (note !== undefined) terminal.err(`${note}\n`);
    progress.update(`reading the versions of ${formatRepository(wanted.base)} …`);
    const { selected, versions } = await ofRegistry(findVersions({ registry, signal }, wanted), signal);
    const onRead = (done: number, total: number) => progress.update(`reading tags: ${done} of ${total}`);
    const { images, unreadable } = await resolveImages(listed, { registry, signal, onRead });
    // A command runs once: nothing is kept for the next one.
    const store = { read: () => Promise.resolve(undefined), write: () => Promise.resolve() };
    const facts = createFactsReader({ registry, store, aliases, now: Date.now });
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
    const recognized = await ofRegistry(recognizeImages(images, { source: wanted.base, versions }, { reader, signal }), signal);
    return { selected, recognized: [...recognized, ...unreadable] };
  } finally {
    progress.stop();
    await registry.close();
  }
}
