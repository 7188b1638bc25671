/** Reads what proposals for the lines of a base need: the images of workloads, the versions of the base, and the policies that there are. */
import { isArtifactTag } from '../../../core/model/artifact.ts';
import { isUsableBase } from '../../../core/model/base-policy.ts';
import { formatRepository, type RegistryAliases, type Repository, sameRepository } from '../../../core/model/image-reference.ts';
import { policyKey } from '../../../core/model/image-policy.ts';
import { selectTag } from '../../../core/select/select-tag.ts';
import { pageSize } from '../../../service/command-line/policy-client.ts';
import { startProgress } from '../../../service/command-line/progress.ts';
import { ofRegistry, openRegistry } from '../../../service/command-line/user-registry.ts';
import { registryAliases } from '../../../service/config/settings.ts';
import type { KubeClient } from '../../../service/kube/client.ts';
import { isKubeError } from '../../../service/kube/kube-error.ts';
import { listPages, listPath } from '../../../service/kube/objects.ts';
import { baseResource } from '../../../service/resources/group.ts';
import { createFactsReader, noStore } from '../../recognize/facts-reader.ts';
import { orderTags, orderVersions, readVersions } from '../../recognize/read-versions.ts';
import { readBasePolicy } from '../../resource/read-base-policy.ts';
import type { Means } from './examine.ts';
import { type Where, type WorkloadOwner, listImages } from './list-images.ts';
import type { ExistingPolicy, Proposing } from './propose-lines.ts';
import { recognizeListed } from './recognize-listed.ts';
import type { ExaminedImage } from './resolve-images.ts';

export interface WantedLines {
  readonly base: Repository;
  readonly where: Where;
  /** How many tags of the base are read. */
  readonly maxTags: number;
}

export interface ReadLines extends Pick<Proposing, 'tags' | 'known' | 'existing' | 'taken'> {
  readonly images: readonly ExaminedImage[];
  /** The owners of workloads, by `Deployment shop/web`. */
  readonly owners: ReadonlyMap<string, WorkloadOwner>;
  /** How many tags of the base are not compared. */
  readonly uncompared: number;
  /** What could not be read. */
  readonly doubts: readonly string[];
}

/** Reads everything. Rejects with a sentence for the user if the base cannot be read, or if there are no workloads. */
export async function readLines(
  { base, where, maxTags }: WantedLines,
  { client, config, dockerConfig, terminal }: Means,
): Promise<ReadLines> {
  const { signal = new AbortController().signal } = terminal;
  const aliases = registryAliases(config);
  const { registry } = openRegistry(config, dockerConfig);
  const progress = startProgress(terminal, 'listing workloads …');
  try {
    const { images: listed, note } = await listImages(client, where, { aliases, signal });
    progress.update(`reading the versions of ${formatRepository(base)} …`);
    const tags = await ofRegistry(registry.listTags(base, signal), signal);
    if (tags === undefined) throw new Error(`the registry does not know ${formatRepository(base)}: check the name`);
    const facts = createFactsReader({ registry, store: noStore, aliases, now: Date.now });
    const noLine = { own: new Set<string>(), compare: () => 0 };
    const ordered = await orderTags(
      tags.filter((tag) => !isArtifactTag(tag)),
      noLine,
      signal,
    );
    const read = await ofRegistry(readVersions(base, ordered.slice(0, maxTags), new Map(), { registry, reader: facts, signal }), signal);
    const [unread] = read.unread;
    if (unread !== undefined) throw new Error(`${formatRepository(base)}:${unread.tag} cannot be read: ${unread.why}`);
    const known = await orderVersions(read.bases, '', noLine, signal);
    const images = await recognizeListed(listed, { source: base, known }, { registry, facts, progress, signal });
    const { policies, doubt } = await readExisting(client, where.namespace, { base, aliases, tags, signal });
    return {
      images,
      tags,
      known,
      ...policies,
      owners: new Map(listed.map(({ workload, owner }) => [workload, owner])),
      uncompared: Math.max(0, ordered.length - maxTags),
      doubts: [note, doubt].filter((text) => text !== undefined),
    };
  } finally {
    progress.stop();
    await registry.close();
  }
}

interface Existing {
  readonly policies: { readonly existing: readonly ExistingPolicy[]; readonly taken: ReadonlySet<string> };
  readonly doubt?: string;
}

/** The BaseImagePolicies that may be listed. A cluster without the definition has none. */
async function readExisting(
  client: KubeClient,
  namespace: string | undefined,
  means: { readonly base: Repository; readonly aliases: RegistryAliases; readonly tags: readonly string[]; readonly signal: AbortSignal },
): Promise<Existing> {
  const { base, aliases, tags, signal } = means;
  const existing: ExistingPolicy[] = [];
  const taken = new Set<string>();
  try {
    const path = listPath(baseResource, namespace);
    for await (const { items } of listPages(client, { path, pageSize, signal })) {
      for (const raw of items) {
        const policy = readBasePolicy(raw, { aliases, customTargets: [], verifiesApprovers: true });
        const { spec } = policy;
        taken.add(policyKey(policy));
        if (!isUsableBase(spec) || !sameRepository(spec.base.repository, base)) continue;
        const { strategy } = spec.base;
        existing.push({ name: policyKey(policy), selection: { selects: selectTag(strategy, tags), mutableTag: strategy.mutableTag } });
      }
    }
    return { policies: { existing, taken } };
  } catch (error) {
    if (!isKubeError(error, 404) && !isKubeError(error, 403)) throw error;
    const doubt = 'you may not list BaseImagePolicies: a policy that there is already may be proposed again';
    return { policies: { existing: [], taken: new Set() }, ...(isKubeError(error, 403) && { doubt }) };
  }
}
