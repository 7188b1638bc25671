/** Selects the version of the base that images should be built on, and lists the others that they may be built on. */
import { BoundedMap } from '../../core/async/bounded-map.ts';
import { listVersions } from '../recognize/list-versions.ts';
import type { BaseVersion } from '../recognize/recognize-images.ts';
import { PermanentError } from '../../core/model/errors.ts';
import type { BaseStatus } from '../../core/model/base-policy.ts';
import type { ImagePolicy } from '../../core/model/image-policy.ts';
import type { ImageSource } from '../../core/model/image-source.ts';
import { toSeconds } from '../../core/model/text.ts';
import type { ClusterView, Registry } from '../../service/reconcile/ports.ts';
import { selectBest } from '../../service/reconcile/select-best.ts';
import type { UsableBasePolicy } from './act.ts';
import type { SelectedBase } from './plan-roll-out.ts';

/** The base, as its registry has it. */
export interface BaseChoice {
  readonly source: ImageSource;
  /** Undefined while the only candidate waits for its age. */
  readonly selected: SelectedBase | undefined;
  readonly waiting?: BaseStatus['waiting'];
  /** The selected one first. */
  readonly versions: readonly BaseVersion[];
  /** When the registry was asked, in ms since 1970. */
  readonly checkedAt: number;
}

/** What registries have answered about bases, by policy and generation. */
export type VersionsMemory = BoundedMap<string, Answer>;

type Answer = Omit<BaseChoice, 'selected' | 'waiting'> & { readonly best: SelectedBase };

const maxRemembered = 1_000;

/** An empty memory. */
export function createVersionsMemory(): VersionsMemory {
  return new BoundedMap(maxRemembered);
}

export interface SelectBasePorts {
  readonly registry: Registry;
  readonly cluster: ClusterView;
  readonly versions: VersionsMemory;
}

/** The registry is asked if `isFresh`, if the last answer is older than the interval of polls, or if another replica has selected something else since. Throws PermanentError where no version can be selected. */
export async function selectBase(
  policy: UsableBasePolicy,
  { isFresh, signal }: { readonly isFresh: boolean; readonly signal: AbortSignal },
  ports: SelectBasePorts,
): Promise<BaseChoice> {
  const { cluster, versions: memory } = ports;
  const { spec, uid, generation } = policy;
  const key = `${uid} ${generation}`;
  const known = memory.get(key);
  const isKnown =
    !isFresh && known !== undefined && cluster.now() - known.checkedAt < spec.base.pollIntervalMs && isStillSelected(known, policy);
  const found = isKnown ? known : await askRegistry(policy, ports, signal);
  memory.set(key, found);
  return withAge(found, policy, cluster.now());
}

/** Pushes reach one replica each: what the others remember may be of before. */
function isStillSelected({ best }: Answer, { status: { latest, waiting } }: UsableBasePolicy): boolean {
  return latest === undefined || latest.digest === best.digest || waiting?.digest === best.digest;
}

async function askRegistry(policy: UsableBasePolicy, { registry, cluster }: SelectBasePorts, signal: AbortSignal): Promise<Answer> {
  const asImagePolicy = selectorOf(policy);
  const checkedAt = cluster.now();
  const selection = await selectBest(
    { policy: asImagePolicy, spec: policy.spec.base, request: { announced: false }, cluster, signal },
    registry,
  );
  if (!('candidate' in selection)) throw new PermanentError(selection.reason, selection.message);
  const source = baseSourceOf(policy, registry);
  const { tag, digest = (await registry.headManifest(source, tag, signal, 'use'))?.digest } = selection.candidate;
  if (digest === undefined) throw new Error(`the registry does not have the tag ${tag} any more`);
  const best = { tag, digest };
  const tags = (await registry.listTags(source, signal)) ?? [tag];
  const versions = await listVersions({ source, tags, strategy: selection.spec.strategy, selected: best }, { registry, signal });
  return { source, best, versions, checkedAt };
}

/** Where the base comes from, and on whose behalf its registry is asked. */
export function baseSourceOf(policy: UsableBasePolicy, registry: Pick<Registry, 'sourceOf'>): ImageSource {
  return registry.sourceOf(selectorOf(policy), policy.spec.base);
}

/** The policy as the stage `select` wants it: an ImagePolicy without targets. */
function selectorOf({ namespace, name, uid, generation, resourceVersion, spec }: UsableBasePolicy): ImagePolicy {
  return { namespace, name, uid, generation, resourceVersion, apiVersion: '', spec: spec.base, status: {} };
}

/** A version that is younger than `minAge` waits; until then the version that was selected before counts. */
function withAge({ best, ...found }: Answer, { spec, status }: UsableBasePolicy, now: number): BaseChoice {
  const { minAgeMs } = spec.base;
  const { latest, waiting } = status;
  if (minAgeMs === undefined || latest?.digest === best.digest) return { ...found, selected: best };
  const since = waiting?.digest === best.digest ? waiting.since : toSeconds(new Date(now));
  const until = new Date(Date.parse(since) + minAgeMs);
  if (until.getTime() <= now) return { ...found, selected: best };
  const selected = latest && { tag: latest.tag, digest: latest.digest };
  return { ...found, selected, waiting: { ...best, since, until: toSeconds(until), reason: 'MinAge' } };
}
