/** The digests of the images of workloads, each image once. */
import { inParallel } from '../../../core/async/in-parallel.ts';
import type { Judged, Recognition } from '../../recognize/recognize-base.ts';
import type { RunningImage } from '../../recognize/recognize-images.ts';
import { describeError } from '../../../core/model/errors.ts';
import { formatRepository, type ImageReference, type Repository } from '../../../core/model/image-reference.ts';
import type { RegistryClient } from '../../../service/registry/client.ts';
import type { ListedImage } from './list-images.ts';

/** An image, and the workloads that run it. */
export interface WorkloadImage {
  /** The name of the image: `registry/repository:tag`, or with `@digest` if there is no tag. */
  readonly name: string;
  readonly source: Repository;
  /** The digest of the image. Absent if the registry does not have its tag, or does not answer. */
  readonly digest?: string;
  /** The workloads in order, each as `Deployment shop/web`. */
  readonly workloads: readonly string[];
}

/** An image, and what is known about its base. */
export interface ExaminedImage {
  readonly image: WorkloadImage;
  readonly recognition: Recognition;
}

/** An image, and its relation to the selected version of the base. */
export interface JudgedImage extends Judged {
  readonly image: WorkloadImage;
}

interface Resolving {
  readonly registry: Pick<RegistryClient, 'headManifest'>;
  readonly signal: AbortSignal;
  /** Called for each tag that the registry was asked for. */
  readonly onRead: (done: number, total: number) => void;
}

const parallelReads = 8;

/**
 * Each digest of a repository once: that of the reference, else those that pods run, else that of the tag at the registry. `unreadable` are images whose tag
 * the registry does not resolve.
 */
export async function resolveImages(
  listed: readonly ListedImage[],
  { registry, signal, onRead }: Resolving,
): Promise<{ readonly images: readonly (WorkloadImage & RunningImage)[]; readonly unreadable: readonly ExaminedImage[] }> {
  const byDigest = new Map<string, { reference: ImageReference; digest: string; workloads: Set<string> }>();
  const byTag = new Map<string, { reference: ImageReference; workloads: Set<string> }>();
  const add = (reference: ImageReference, digest: string, workloads: Iterable<string>) => {
    const key = `${formatRepository(reference.repository)}@${digest}`;
    const entry = byDigest.get(key) ?? { reference, digest, workloads: new Set<string>() };
    for (const workload of workloads) entry.workloads.add(workload);
    byDigest.set(key, entry);
  };
  for (const { reference, digests, workload } of listed) {
    const known = reference.digest === undefined ? digests : [reference.digest];
    for (const digest of known) add(reference, digest, [workload]);
    if (known.length > 0) continue;
    const name = nameOf(reference);
    const entry = byTag.get(name) ?? { reference, workloads: new Set<string>() };
    entry.workloads.add(workload);
    byTag.set(name, entry);
  }
  const tags = [...byTag.values()];
  let done = 0;
  const heads = await inParallel(tags, parallelReads, async ({ reference: { repository, tag = 'latest' } }) => {
    const head = await registry.headManifest(repository, tag, signal);
    onRead(++done, tags.length);
    return head?.digest;
  });
  signal.throwIfAborted();
  const unreadable = tags.flatMap(({ reference, workloads }, index): ExaminedImage[] => {
    const head = heads[index];
    if (head?.status === 'fulfilled' && head.value !== undefined) {
      add(reference, head.value, workloads);
      return [];
    }
    const name = nameOf(reference);
    const why =
      head?.status === 'rejected' ? `its digest cannot be read: ${describeError(head.reason)}` : `the registry does not have ${name}`;
    const image = { name, source: reference.repository, workloads: [...workloads].toSorted() };
    return [{ image, recognition: { kind: 'unknown', reason: why } }];
  });
  const images = [...byDigest.values()].map(({ reference, digest, workloads }) => {
    return { name: nameOf(reference), source: reference.repository, digest, workloads: [...workloads].toSorted() };
  });
  return { images, unreadable };
}

function nameOf({ repository, tag, digest }: ImageReference): string {
  const version = tag === undefined && digest !== undefined ? `@${digest}` : `:${tag ?? 'latest'}`;
  return `${formatRepository(repository)}${version}`;
}
