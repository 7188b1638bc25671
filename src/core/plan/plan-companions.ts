/**
 * Plans the companions of a workload: they are changed with its own image, in the same patch, and never without it. Pure.
 *
 * | the own image …                | a companion runs another image than that of the set                                           |
 * | ------------------------------ | --------------------------------------------------------------------------------------------- |
 * | is changed to the candidate    | is changed with it; nothing is changed if that were a downgrade                               |
 * | is the candidate               | is changed alone, unless somebody has replaced what we wrote: that stays until the next change |
 * | stays for another reason       | stays as well                                                                                  |
 */
import { ruleOf } from '../model/companions.ts';
import type { PolicySpec } from '../model/image-policy.ts';
import {
  formatRepository,
  sameRepository,
  tryParseImageReference,
  type ImageReference,
  type RegistryAliases,
} from '../model/image-reference.ts';
import { fieldManager, lastUpdateOf, limits, type LastUpdate } from '../model/last-update.ts';
import { listFew } from '../model/text.ts';
import {
  findContainer,
  formatWorkload,
  imagesOf,
  type CompanionChange,
  type ContainerChange,
  type ImagePosition,
  type Workload,
  type WorkloadContainer,
} from '../model/workload.ts';
import type { CompanionState, PlanInput, TargetPlan } from './plan-update.ts';

/** A container of a companion, with the image that it runs. */
export interface RunningCompanion {
  readonly container: string;
  readonly position: ImagePosition;
  readonly image: string;
  readonly reference: ImageReference;
  /** The repository of the companion: `harbor.example.com/shop/proxy`. */
  readonly repository: string;
}

/** The containers and init containers of a workload that run companions of the policy. */
export function companionsIn(
  workload: Workload,
  { alongside }: Pick<PolicySpec, 'alongside'>,
  aliases: RegistryAliases,
): RunningCompanion[] {
  if (alongside === undefined) return [];
  return imagesOf(workload).flatMap(({ container: { name: container, image }, position }): RunningCompanion[] => {
    const reference = position.list === 'volumes' ? undefined : tryParseImageReference(image, aliases);
    const rule = reference && ruleOf(alongside, reference.repository);
    if (reference === undefined || rule === undefined || rule.containers?.includes(container) === false) return [];
    return [{ container, position, image, reference, repository: formatRepository(rule.repository) }];
  });
}

type Input = Pick<PlanInput, 'spec' | 'candidate' | 'aliases'> & { readonly isForced: boolean };

/** Adds the companions to the plan of a workload. Without a set, nothing is added, and a guard blocks what is planned. */
export function withCompanions(plan: TargetPlan, input: Input): TargetPlan {
  const { workload } = plan;
  const { spec, candidate } = input;
  if (spec.alongside === undefined || workload === undefined) return plan;
  const found = companionsIn(workload, spec, input.aliases);
  const missing = missingContainers(workload, found, spec.alongside);
  if (missing !== undefined) return { ...plan, changes: [], ...uncompared(found, missing.message), problem: missing };
  if (candidate.companions === undefined) return { ...plan, ...uncompared(found, `what belongs to ${candidate.tag} is not known yet`) };
  const wanted = found.map((one) => ({ ...one, to: wantedImage(one, input) }));
  const others = wanted.filter((one) => one.to !== undefined && !isSameImage(one.image, one.to, input));
  const [first, ...rest] = plan.changes;
  if (first !== undefined) {
    const newer = others.find((one) => isNewer(one, input));
    if (newer !== undefined) return keepAll(plan, newer, wanted, candidate.tag);
    const alongside = others.map(toChange);
    return { ...plan, changes: [alongside.length === 0 ? first : { ...first, alongside }, ...rest], ...shown(wanted, others, []) };
  }
  const own = findOwn(plan, workload, input);
  if (own === undefined) return { ...plan, ...shown(wanted, [], others) };
  const record = lastUpdateOf(workload, own.container);
  const held = input.isForced ? [] : others.filter((one) => isHeld(one, workload, record, input) || isNewer(one, input));
  const changed = others.filter((one) => !held.includes(one));
  if (changed.length === 0) return { ...plan, ...shown(wanted, [], held) };
  const change: ContainerChange = { ...own, alongside: changed.map(toChange) };
  const unchanged = plan.unchanged.filter(({ container }) => container !== own.container);
  return { ...plan, changes: [change], unchanged, ...shown(wanted, changed, held) };
}

type Wanted = RunningCompanion & { readonly to: string | undefined };

function toChange({ container, position, image, to = image }: Wanted): CompanionChange {
  return { container, ...position, from: image, to };
}

/** The image of the set for a container, in the written form of the old one. */
function wantedImage({ repository, reference }: RunningCompanion, { spec, candidate }: Input): string | undefined {
  const companion = candidate.companions?.find(({ image }) => image === repository);
  return companion && `${reference.name}:${companion.tag}${spec.pin === 'Digest' ? `@${companion.digest}` : ''}`;
}

/** Whether a container runs the wanted image. As for own images, `pin: Tag` compares tags alone, and a digest without a tag is known by the set. */
function isSameImage(running: string, wanted: string, { spec, candidate, aliases }: Input): boolean {
  const [runs, wants] = [running, wanted].map((text) => tryParseImageReference(text, aliases));
  if (runs === undefined || wants === undefined || !sameRepository(runs.repository, wants.repository)) return false;
  const digest = candidate.companions?.find(({ image }) => image === formatRepository(wants.repository))?.digest;
  if (runs.tag === undefined) return runs.digest !== undefined && runs.digest === digest;
  return runs.tag === wants.tag && (spec.pin === 'Tag' || runs.digest === wants.digest);
}

/** Whether a companion runs a newer version than that of the set. Only with equal tags do its tags have an order. */
function isNewer({ reference: { tag } }: Wanted, { spec: { alongside, strategy, allowDowngrade }, candidate, isForced }: Input): boolean {
  if (isForced || allowDowngrade || alongside?.match !== 'SameTag' || tag === undefined || strategy.mutableTag !== undefined) return false;
  return strategy.reject(tag) === undefined && strategy.compare(tag, candidate.tag) > 0;
}

/** The plan that changes nothing, because a companion would be set back. */
function keepAll(plan: TargetPlan, { container, reference }: Wanted, found: readonly Wanted[], tag: string): TargetPlan {
  const message = `${container} runs ${reference.tag}, which is newer than ${tag}: nothing is set back alongside`;
  const kept = plan.changes.map(({ container, from }) => ({ container, image: from, reason: 'OlderThanRunning' as const, message }));
  return { ...plan, changes: [], unchanged: [...plan.unchanged, ...kept], ...uncompared(found, message) };
}

/** The container with the candidate itself; undefined if the workload runs it nowhere, or runs something else as well. */
function findOwn(plan: TargetPlan, workload: Workload, { candidate, aliases }: Input): ContainerChange | undefined {
  if (plan.problem !== undefined || plan.unchanged.some(({ reason }) => reason !== 'UpToDate')) return undefined;
  const [own] = plan.unchanged;
  const running = own && tryParseImageReference(own.image, aliases);
  const place = own && imagesOf(workload).find(({ container }) => container.name === own.container);
  if (own === undefined || running === undefined || place === undefined) return undefined;
  const isCandidate = running.tag === candidate.tag || (running.tag === undefined && running.digest === candidate.digest);
  return isCandidate ? { container: own.container, ...place.position, from: own.image, to: own.image } : undefined;
}

/** Whether somebody has replaced the image of a companion that we wrote with the own image, or that ran beside what was rolled back. */
function isHeld({ container, image, to = '' }: Wanted, workload: Workload, record: LastUpdate | undefined, input: Input): boolean {
  const written = record?.alongside?.find((one) => one.container === container)?.to;
  if (written === undefined) return record?.trigger === 'Rollback' && isLeftByRollback(findContainer(workload, container), record);
  return isSameText(written, to, input) || !isSameText(image, written, input);
}

/** Whether somebody set an image between a change and its rollback, which then left it alone. The API server records whole seconds. */
function isLeftByRollback(
  { imageOwner, imageSetAt = '' }: Partial<WorkloadContainer> = {},
  { before: [undone] = [] }: LastUpdate,
): boolean {
  const since = undone === undefined ? NaN : Math.floor(Date.parse(undone.at) / 1_000) * 1_000;
  return imageOwner !== fieldManager && Date.parse(imageSetAt) >= since;
}

function isSameText(a: string, b: string, { aliases }: Input): boolean {
  const [one, other] = [a, b].map((text) => tryParseImageReference(text, aliases));
  return one?.tag === other?.tag && (one?.digest === other?.digest || one?.digest === undefined || other?.digest === undefined);
}

/** How the companions are shown: those that stay other than the set, and those that are as it wants them or are about to be. */
function shown(wanted: readonly Wanted[], changed: readonly Wanted[], kept: readonly Wanted[]): Pick<TargetPlan, 'companions'> {
  const states = wanted.map((one): CompanionState => {
    const { container, image, to = '' } = one;
    if (changed.includes(one)) return { container, image, state: 'Kept', message: 'about to be changed', to };
    if (!kept.includes(one)) return { container, image, state: 'UpToDate' };
    return { container, image, state: 'Kept', message: `${to} belongs to the selected image; it is changed with the next one` };
  });
  return states.length === 0 ? {} : { companions: states };
}

/** The companions, of which none is compared. */
function uncompared(found: readonly RunningCompanion[], message: string): Pick<TargetPlan, 'companions'> {
  return found.length === 0 ? {} : { companions: found.map(({ container, image }) => ({ container, image, state: 'Kept', message })) };
}

/** The problem of named containers that do not run the companion, or of too many. */
function missingContainers(
  workload: Workload,
  found: readonly RunningCompanion[],
  { images }: NonNullable<PolicySpec['alongside']>,
): TargetPlan['problem'] {
  if (found.length > limits.maxAlongside)
    return {
      reason: 'InvalidPolicy',
      message: `${formatWorkload(workload)} has ${found.length} containers of companions, and at most ${limits.maxAlongside} are changed together`,
    };
  for (const { repository, containers = [] } of images) {
    const name = formatRepository(repository);
    const missing = containers.filter((wanted) => !found.some((one) => one.container === wanted && one.repository === name));
    if (missing.length > 0)
      return {
        reason: 'ContainerNotFound',
        message: `${formatWorkload(workload)} has no container ${listFew(missing, (one) => `"${one}"`)} that runs ${name}`,
      };
  }
  return undefined;
}
