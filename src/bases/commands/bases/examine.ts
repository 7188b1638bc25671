/** Reads workloads, and from registries the versions of a base and the images; recognizes which images are built on the base. */
import { createFactsReader, noStore } from '../../recognize/facts-reader.ts';
import { judge } from '../../recognize/recognize-base.ts';
import { type Config, registryAliases } from '../../../service/config/settings.ts';
import type { KubeClient } from '../../../service/kube/client.ts';
import { formatRepository } from '../../../core/model/image-reference.ts';
import type { Terminal } from '../../../service/command-line/command.ts';
import { startProgress } from '../../../service/command-line/progress.ts';
import { ofRegistry, openRegistry } from '../../../service/command-line/user-registry.ts';
import { findVersions, type SelectedBase, type WantedBase } from './find-versions.ts';
import { listImages, type Where } from './list-images.ts';
import { recognizeListed } from './recognize-listed.ts';
import type { JudgedImage } from './resolve-images.ts';

export interface Wanted extends WantedBase {
  readonly where: Where;
}

export interface Means {
  readonly client: KubeClient;
  readonly config: Config;
  /** A Docker config.json with credentials; by default that of the user. */
  readonly dockerConfig: string | undefined;
  readonly terminal: Terminal;
}

export interface Examined {
  readonly selected: SelectedBase;
  /** The images, each with its relation to the selected version. */
  readonly judged: readonly JudgedImage[];
  /** How many tags of the base are not compared. */
  readonly uncompared: number;
}

/** Examines images. Rejects with a sentence for the user if the base cannot be read, or if there are no workloads. An unreadable image is unknown. */
export async function examine({ where, ...wanted }: Wanted, { client, config, dockerConfig, terminal }: Means): Promise<Examined> {
  const { signal = new AbortController().signal } = terminal;
  const aliases = registryAliases(config);
  const { registry } = openRegistry(config, dockerConfig);
  const progress = startProgress(terminal, 'listing workloads …');
  try {
    const { images: listed, note } = await listImages(client, where, { aliases, signal });
    if (note !== undefined) terminal.err(`${note}\n`);
    progress.update(`reading the versions of ${formatRepository(wanted.base)} …`);
    const facts = createFactsReader({ registry, store: noStore, aliases, now: Date.now });
    const { selected, bases, uncompared } = await ofRegistry(findVersions({ registry, reader: facts, signal }, wanted), signal);
    const images = await recognizeListed(listed, bases, { registry, facts, progress, signal });
    const standard = { digest: selected.digest, line: bases.line };
    const judged = images.map(({ image, recognition }) => ({ image, ...judge(recognition, standard) }));
    return { selected, judged, uncompared };
  } finally {
    progress.stop();
    await registry.close();
  }
}
