/** The images of a backtest: those of a file, or those of the registry with the recorded pushes. */
import { formatRepository, type Repository } from '../../core/model/image-reference.ts';
import type { ApiTarget } from '../../service/command-line/api-client.ts';
import type { Terminal } from '../../service/command-line/command.ts';
import { startProgress } from '../../service/command-line/progress.ts';
import { openRegistry } from '../../service/command-line/user-registry.ts';
import type { Config } from '../../service/config/settings.ts';
import { createImageListReader, createRevisionReader } from '../../service/registry/origins.ts';
import { readEvents } from '../events/list-events.ts';
import { historySchema, readPastImages } from './past-schema.ts';
import type { UsablePolicy } from './read-offline.ts';
import { readFromRegistry, type ReadPast, withRecorded } from './read-past.ts';
import { readYaml } from './read-yaml.ts';

/** What was asked for. */
export interface Sources extends ApiTarget {
  /** The file with the images; without it, they are read from the registry. */
  readonly history?: string | undefined;
  /** Whether the pushes that the service has recorded are read as well. */
  readonly events?: boolean | undefined;
  readonly 'docker-config'?: string | undefined;
  readonly config: Config;
  readonly terminal: Terminal;
}

/** Reads the images of a policy and of its companions, in the order of their times. */
export async function readSources({ spec }: UsablePolicy, sources: Sources): Promise<ReadPast> {
  const { history, events = false, config, terminal } = sources;
  if (history !== undefined) return { images: readPastImages(readYaml(history, historySchema).images, spec.repository), notes: [] };
  const { signal = new AbortController().signal } = terminal;
  const { registry } = openRegistry(config, sources['docker-config']);
  const match = spec.alongside?.match;
  const readRevision = match === 'SameRevision' ? createRevisionReader(registry) : undefined;
  const readImageList = match === 'SameDigestList' ? createImageListReader(registry) : undefined;
  const progress = startProgress(terminal, 'reading tags …');
  try {
    const read = async (repository: Repository): Promise<ReadPast> => {
      const name = formatRepository(repository);
      const onRead = (count: number, of: number) => progress.update(`reading ${name}: ${count} of ${of} tags`);
      const past = await readFromRegistry({ registry, readRevision, readImageList }, repository, signal, onRead);
      if (!events) return past;
      const recorded = await readEvents(sources, { limit: Number.POSITIVE_INFINITY, repository: name });
      return { ...past, images: withRecorded(past.images, recorded) };
    };
    const pasts: ReadPast[] = [];
    for (const { repository } of [spec, ...(spec.alongside?.images ?? [])]) pasts.push(await read(repository));
    const images = pasts.flatMap((past) => past.images).toSorted((a, b) => a.pushedAt - b.pushedAt);
    return { images, notes: pasts.flatMap(({ notes }) => notes) };
  } finally {
    progress.stop();
    await registry.close();
  }
}
