/** What proposed policies would change now. It runs the stages of the service, with the current state of the registry instead of a status. */
import { inParallel } from '../../core/async/in-parallel.ts';
import { defined } from '../../core/model/defined.ts';
import type { Config } from '../../service/config/settings.ts';
import type { KubeClient } from '../../service/kube/client.ts';
import { describeError, PermanentError } from '../../core/model/errors.ts';
import { parseImageReference, type Candidate } from '../../core/model/image-reference.ts';
import type { ImageSource } from '../../core/model/image-source.ts';
import type { RegistryClient } from '../../service/registry/client.ts';
import { naturalOrder, selectTag } from '../../core/select/select-tag.ts';
import { changesOf, type Change } from '../diff/changes.ts';
import { planPolicy } from '../explain/plan-policy.ts';
import { strategyOf } from '../../service/command-line/selection/choose-selection.ts';
import type { Proposal, TagList } from './propose-policies.ts';

/** The policy as the API server would return it after its first reconcile. */
export function withStatus({ policy }: Proposal, { tag, digest }: Candidate): object {
  const { metadata } = policy;
  const latest = { tag, ...defined({ digest }), selectedAt: new Date(0).toISOString() };
  return { ...policy, metadata: { ...metadata, uid: metadata.name, resourceVersion: '0', generation: 1 }, status: { latest } };
}

interface Means {
  readonly client: KubeClient;
  readonly registry: RegistryClient;
  readonly config: Config;
  readonly tagsOf: (repository: string) => TagList | undefined;
  /** The repositories, with the credentials of their workloads. */
  readonly sources: ReadonlyMap<string, ImageSource>;
  readonly signal: AbortSignal;
  readonly onDone: (done: number) => void;
}

const maxParallel = 8;
/** The maximum number of images to ask for their creation time, the likely newest first. Needed for tags that names do not order. */
const maxTimes = 100;

/** The changes of each policy, and why other images stay. An image that cannot be read is such a reason. */
export async function previewChanges(proposals: readonly Proposal[], means: Means): Promise<readonly Change[]> {
  let done = 0;
  const results = await inParallel(proposals, maxParallel, async (proposal) => {
    const { namespace, name } = proposal.policy.metadata;
    const candidate = await selectNow(proposal, means).catch((error: unknown) => unreadable(error, means.signal));
    const planned = 'why' in candidate ? candidate : await planPolicy(means.client, withStatus(proposal, candidate), means.config);
    means.onDone(++done);
    return changesOf(`${namespace}/${name}`, planned);
  });
  return results.flatMap((result) => {
    if (result.status === 'rejected') throw result.reason;
    return result.value;
  });
}

function unreadable(error: unknown, signal: AbortSignal): { readonly why: string; readonly reason?: string } {
  signal.throwIfAborted();
  return { why: describeError(error), ...(error instanceof PermanentError && { reason: error.reason }) };
}

/** The image that the policy would select, with its digest. */
async function selectNow(proposal: Proposal, means: Means): Promise<Candidate | { readonly why: string }> {
  const { registry, signal } = means;
  const { image } = proposal.policy.spec;
  const repository = sourceOf(image, means);
  const tag = proposal.selects ?? (await selectNewest(proposal, means));
  const head = tag === undefined ? undefined : await registry.headManifest(repository, tag, signal);
  if (tag === undefined || head === undefined) return { why: `the registry does not have ${image}:${tag ?? ''} any more` };
  return { tag, digest: head.digest };
}

function sourceOf(image: string, { sources }: Means): ImageSource {
  return sources.get(image) ?? parseImageReference(image).repository;
}

async function selectNewest({ policy: { spec } }: Proposal, means: Means): Promise<string | undefined> {
  const { registry, signal, tagsOf } = means;
  const list = tagsOf(spec.image);
  if (list === undefined || 'problem' in list) return undefined;
  const repository = sourceOf(spec.image, means);
  const strategy = strategyOf(spec);
  const tags = list.tags.filter((tag) => strategy.reject(tag) === undefined);
  const first = tags.toSorted((a, b) => naturalOrder(b, a)).slice(0, maxTimes);
  const created = new Map<string, Date | undefined>();
  await inParallel(first, maxParallel, async (tag) => created.set(tag, (await registry.readImage(repository, tag, signal))?.created));
  signal.throwIfAborted();
  return selectTag(strategy.withCreationTimes?.(created) ?? strategy, created.keys());
}
