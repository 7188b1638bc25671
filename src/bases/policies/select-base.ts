/** Selects the version of the base that images should be built on, and lists the tags of the base. */
import { BoundedMap } from '../../core/async/bounded-map.ts';
import { isArtifactTag } from '../../core/model/artifact.ts';
import { PermanentError } from '../../core/model/errors.ts';
import type { BaseStatus } from '../../core/model/base-status.ts';
import type { ImagePolicy } from '../../core/model/image-policy.ts';
import type { ImageSource } from '../../core/model/image-source.ts';
import type { TagStrategy } from '../../core/model/tag-strategy.ts';
import { toSeconds } from '../../core/model/text.ts';
import { asSeenBy } from '../../core/plan/consent.ts';
import type { ClusterView, Registry } from '../../service/reconcile/ports.ts';
import { selectBest } from '../../service/reconcile/select-best.ts';
import type { FactsReader } from '../recognize/facts-reader.ts';
import type { UsableBasePolicy } from './act.ts';
import { adoptRebased } from './adopt-rebased.ts';
import type { SelectedBase } from './plan-roll-out.ts';

/** The base, as its registry has it. */
export interface BaseChoice {
  readonly source: ImageSource;
  /** The selected base; undefined while the only candidate is younger than `minAge`. */
  readonly selected: SelectedBase | undefined;
  readonly waiting?: BaseStatus['waiting'];
  /** The strategy that selects, and orders the versions. */
  readonly strategy: TagStrategy;
  /** The tags of the base that may have a version that is not known: all that the registry has, or those that were not read last time, or could not be read. */
  readonly tags: readonly string[];
  /** How many tags are not compared until the registry is asked again, because there are too many. */
  readonly givenUp?: number;
  /** Whether the registry was asked just now. */
  readonly isNew: boolean;
  /** When the registry was asked, in ms since 1970. */
  readonly checkedAt: number;
}

/** What registries have answered about bases, by policy and generation. */
export type VersionsMemory = BoundedMap<string, Answer>;

type Answer = Omit<BaseChoice, 'selected' | 'waiting' | 'isNew'> & { readonly best: SelectedBase };

const maxRemembered = 1_000;

/** Creates an empty memory of answers about bases. */
export function createVersionsMemory(): VersionsMemory {
  return new BoundedMap(maxRemembered);
}

export interface SelectBasePorts {
  readonly registry: Registry;
  readonly facts: FactsReader;
  readonly cluster: ClusterView;
  readonly versions: VersionsMemory;
}

/** Selects the base. Asks the registry if `isFresh`, after the poll interval, or if another replica selected another one. PermanentError if none fits. */
export async function selectBase(
  policy: UsableBasePolicy,
  { isFresh, signal }: { readonly isFresh: boolean; readonly signal: AbortSignal },
  ports: SelectBasePorts,
): Promise<BaseChoice> {
  const { cluster, versions: memory } = ports;
  const { spec } = policy;
  const known = memory.get(keyOf(policy));
  const isKnown =
    !isFresh &&
    known !== undefined &&
    isYounger(known.checkedAt, spec.base.pollIntervalMs, cluster.now()) &&
    isStillSelected(known, policy);
  const found = isKnown ? known : await askRegistry(policy, ports, signal);
  memory.set(keyOf(policy), found);
  return withAge({ ...found, isNew: !isKnown }, policy, cluster.now());
}

/** How far the clocks of replicas may differ. */
const maxSkewMs = 5_000;

/** Whether a time is less than `ms` ago. A time in the future was written by a clock that was wrong, and would put off the next poll, so it counts as long ago. */
export function isYounger(at: number, ms: number, now: number): boolean {
  return now - at < ms && at - now < maxSkewMs;
}

/** Keeps the tags that remain to be read, and what was given up. */
export function keepUnread(
  policy: UsableBasePolicy,
  unread: Pick<BaseChoice, 'tags' | 'givenUp'>,
  { versions: memory }: Pick<SelectBasePorts, 'versions'>,
): void {
  const known = memory.get(keyOf(policy));
  if (known !== undefined) memory.set(keyOf(policy), { ...known, ...unread });
}

function keyOf({ uid, generation }: UsableBasePolicy): string {
  return `${uid} ${generation}`;
}

/** Whether the remembered answer is still the selected one. Each push reaches one replica, so the memory of the others may be outdated. */
function isStillSelected({ best }: Answer, { status: { latest, waiting } }: UsableBasePolicy): boolean {
  return latest === undefined || latest.digest === best.digest || waiting?.digest === best.digest;
}

async function askRegistry(
  policy: UsableBasePolicy,
  { registry: asked, cluster, facts }: SelectBasePorts,
  signal: AbortSignal,
): Promise<Answer> {
  const registry = listingOnce(asked);
  const asImagePolicy = selectorOf(policy);
  const checkedAt = cluster.now();
  const selection = await selectBest(
    { policy: asImagePolicy, spec: policy.spec.base, request: { announced: false }, cluster: asSeenBy(asImagePolicy, cluster), signal },
    registry,
  );
  if (!('candidate' in selection)) throw new PermanentError(selection.reason, selection.message);
  const source = baseSourceOf(policy, registry);
  const { tag, digest = (await registry.resolveTag(source, tag, signal))?.digest } = selection.candidate;
  if (digest === undefined) throw new Error(`the registry does not have the tag ${tag} any more`);
  const tags = ((await registry.listTags(source, signal)) ?? [tag]).filter((one) => !isArtifactTag(one));
  const best = await adoptRebased({ source, tags }, { tag, digest }, { registry, facts }, signal);
  return { source, best, strategy: selection.spec.strategy, tags, checkedAt };
}

/** The registry, with one list of tags: the version is selected from it, and the others are learnt. */
function listingOnce(registry: Registry): Registry {
  let listed: ReturnType<Registry['listTags']> | undefined;
  return { ...registry, listTags: (source, signal) => (listed ??= registry.listTags(source, signal)) };
}

/** The source of the base, with the credentials for its registry. */
export function baseSourceOf(policy: UsableBasePolicy, registry: Pick<Registry, 'sourceOf'>): ImageSource {
  return registry.sourceOf(selectorOf(policy), policy.spec.base);
}

/** The policy as the stage `select` expects it: an ImagePolicy without targets. */
function selectorOf({ namespace, name, uid, generation, resourceVersion, spec }: UsableBasePolicy): ImagePolicy {
  return { namespace, name, uid, generation, resourceVersion, apiVersion: '', spec: spec.base, status: {} };
}

/** The selected version after `minAge`: a younger version waits, and the formerly selected one counts until then. */
function withAge({ best, ...found }: Answer & Pick<BaseChoice, 'isNew'>, { spec, status }: UsableBasePolicy, now: number): BaseChoice {
  const { minAgeMs } = spec.base;
  const { latest, waiting } = status;
  if (minAgeMs === undefined || latest?.digest === best.digest) return { ...found, selected: best };
  const since = waiting?.digest === best.digest ? waiting.since : toSeconds(new Date(now));
  const until = new Date(Date.parse(since) + minAgeMs);
  if (until.getTime() <= now) return { ...found, selected: best };
  const selected = latest && { tag: latest.tag, digest: latest.digest };
  return { ...found, selected, waiting: { ...best, since, until: toSeconds(until), reason: 'MinAge' } };
}
