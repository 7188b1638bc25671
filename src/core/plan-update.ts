/**
 * What would change, as a value: computed without I/O, read by apply, status, Events, metrics and dry runs alike.
 *
 * | the container runs …                      | pin: Tag                       | pin: Digest                      |
 * | ----------------------------------------- | ------------------------------ | -------------------------------- |
 * | another repository                        | not looked at                  | not looked at                    |
 * | an older candidate                        | change                         | change                           |
 * | the candidate itself                      | keep: UpToDate or Retagged     | change when the digest differs   |
 * | a newer candidate                         | keep: OlderThanRunning         | keep: OlderThanRunning           |
 * | the candidate's digest, without a tag     | keep: UpToDate                 | keep: UpToDate                   |
 * | no candidate, a lower version             | change                         | change                           |
 * | no candidate, a higher version (semver)   | keep: OlderThanRunning         | keep: OlderThanRunning           |
 * | no candidate, policy never applied a tag  | change                         | change                           |
 * | no candidate otherwise                    | keep: NotComparable            | keep: NotComparable              |
 *
 * With allowDowngrade, what would be kept as OlderThanRunning is changed.
 */
import { compareBuild, parse } from 'semver';
import { formatRepository, sameRepository, tryParseImageReference, type ImageReference, type RegistryAliases } from './image-reference.ts';
import type { PolicySpec, PolicyTarget } from './image-policy.ts';
import type { Reason } from './reasons.ts';
import { formatWorkload, type Workload, type WorkloadContainer, type WorkloadRef } from './workload.ts';

/** The image that should run. The digest is absent while the registry has not been asked yet. */
export interface Candidate {
  readonly tag: string;
  readonly digest?: string;
  /** When the image was created, where the choice hangs on that. */
  readonly createdAt?: string;
}

export interface ContainerChange {
  readonly container: string;
  readonly index: number;
  readonly from: string;
  readonly to: string;
}

/** A change that was made. */
export interface AppliedChange extends ContainerChange {
  readonly workload: WorkloadRef;
}

/** A container that stays as it is, and why. */
export interface KeptContainer {
  readonly container: string;
  readonly image: string;
  readonly reason: Reason;
  readonly message: string;
  /** The field manager that wrote the image. */
  readonly owner?: string;
}

/** A target that cannot be changed as it is. */
export interface TargetProblem {
  readonly reason: Reason;
  readonly message: string;
}

export interface TargetPlan {
  readonly target: WorkloadRef;
  readonly workload?: Workload;
  readonly changes: readonly ContainerChange[];
  readonly kept: readonly KeptContainer[];
  readonly problem?: TargetProblem;
}

export interface UpdatePlan {
  readonly candidate: Candidate;
  readonly targets: readonly TargetPlan[];
}

export interface PlanInput {
  readonly spec: PolicySpec;
  readonly candidate: Candidate;
  /** Whether the policy has ever changed something. */
  readonly hasApplied: boolean;
  readonly aliases: RegistryAliases;
  readonly supportedKinds: ReadonlySet<string>;
  readonly findWorkload: (target: WorkloadRef) => Workload | undefined;
}

/** Plans the change of every target to the candidate. */
export function planUpdate(input: PlanInput): UpdatePlan {
  return { candidate: input.candidate, targets: input.spec.targets.map((target) => planTarget(target, input)) };
}

/** Whether the plan changes anything at all. */
export function hasChanges(plan: UpdatePlan): boolean {
  return plan.targets.some((target) => target.changes.length > 0);
}

function planTarget({ containers: wanted, ...target }: PolicyTarget, input: PlanInput): TargetPlan {
  if (!input.supportedKinds.has(target.kind)) {
    const message = `targets of kind ${target.kind} cannot be updated; use one of ${[...input.supportedKinds].join(', ')}`;
    return { target, changes: [], kept: [], problem: { reason: 'UnsupportedTargetKind', message } };
  }
  const workload = input.findWorkload(target);
  if (workload === undefined) {
    return { target, changes: [], kept: [], problem: { reason: 'TargetNotFound', message: `${formatWorkload(target)} does not exist` } };
  }
  const changes: ContainerChange[] = [];
  const kept: KeptContainer[] = [];
  for (const [index, container] of workload.containers.entries()) {
    if (wanted !== undefined && !wanted.includes(container.name)) continue;
    const planned = planContainer(container, index, input);
    if (planned === undefined) continue;
    if ('to' in planned) changes.push(planned);
    else kept.push(planned);
  }
  const problem = findMissing(target, wanted, [...changes, ...kept], input);
  return { target, workload, changes, kept, ...(problem !== undefined && { problem }) };
}

function planContainer(container: WorkloadContainer, index: number, input: PlanInput): ContainerChange | KeptContainer | undefined {
  const running = tryParseImageReference(container.image, input.aliases);
  if (running === undefined || !sameRepository(running.repository, input.spec.repository)) return undefined;
  const verdict = judge(running, input);
  if (verdict === 'change') return { container: container.name, index, from: container.image, to: rewrite(running, input) };
  const owner = container.imageOwner;
  return { container: container.name, image: container.image, ...verdict, ...(owner !== undefined && { owner }) };
}

/** Containers that are named have to be there, each of them; the others are brought up to date all the same. */
function findMissing(
  target: WorkloadRef,
  wanted: readonly string[] | undefined,
  found: readonly { readonly container: string }[],
  { spec }: PlanInput,
): TargetProblem | undefined {
  const missing = wanted?.filter((name) => !found.some(({ container }) => container === name)) ?? [];
  if (found.length > 0 && missing.length === 0) return undefined;
  const what = missing.length === 0 ? 'no container' : `no container ${missing.map((name) => `"${name}"`).join(' or ')}`;
  return { reason: 'ContainerNotFound', message: `${formatWorkload(target)} has ${what} that runs ${formatRepository(spec.repository)}` };
}

type Verdict = 'change' | { readonly reason: Reason; readonly message: string };

function judge(running: ImageReference, { spec, candidate, hasApplied }: PlanInput): Verdict {
  const tag = running.tag ?? (running.digest === undefined ? 'latest' : undefined);
  const isCandidate = tag !== undefined && spec.strategy.reject(tag) === undefined;
  if (isCandidate) {
    const order = spec.strategy.compare(tag, candidate.tag);
    if (order < 0) return 'change';
    if (order > 0) return older(tag, spec, candidate);
    return judgeSame(running, tag, spec, candidate);
  }
  if (tag === undefined && running.digest === candidate.digest) {
    return { reason: 'UpToDate', message: `already runs ${candidate.tag}, by its digest` };
  }
  const versions = compareVersions(spec, tag, candidate.tag);
  if (versions !== undefined && versions < 0) return 'change';
  if (versions !== undefined && versions > 0 && spec.strategy.id === 'semver') return older(tag ?? '', spec, candidate);
  if (!hasApplied) return 'change';
  const what = tag ?? running.digest ?? running.name;
  return {
    reason: 'NotComparable',
    message: `"${what}" runs, which the policy does not select${because(spec, tag)}: change the image by hand once, or the policy`,
  };
}

/** Where it is not the name that is not selected, the name alone would not tell. */
function because({ strategy }: PolicySpec, tag: string | undefined): string {
  const why = strategy.knowing === undefined || tag === undefined ? undefined : strategy.reject(tag);
  return why === undefined ? '' : ` (${why})`;
}

function judgeSame(running: ImageReference, tag: string, spec: PolicySpec, candidate: Candidate): Verdict {
  const upToDate = { reason: 'UpToDate', message: `already runs ${tag}` } as const;
  if (candidate.digest === undefined || running.digest === candidate.digest) return upToDate;
  if (spec.pin === 'Digest') return 'change';
  if (running.digest === undefined) return upToDate;
  return { reason: 'Retagged', message: `${tag} moved to ${candidate.digest}; the policy pins tags, so nothing changes` };
}

function older(tag: string, spec: PolicySpec, candidate: Candidate): Verdict {
  if (spec.allowDowngrade) return 'change';
  return { reason: 'OlderThanRunning', message: `${candidate.tag} is older than ${tag}, which runs` };
}

/** As versions, by the part that the policy compares; undefined where one of them is none. */
function compareVersions({ strategy }: PolicySpec, running: string | undefined, candidate: string): number | undefined {
  const read = (tag: string | undefined) => parse(tag === undefined || strategy.partOf === undefined ? tag : strategy.partOf(tag));
  const [a, b] = [read(running), read(candidate)];
  return a === null || b === null ? undefined : compareBuild(a, b);
}

/** The text form that the workload used is kept: `nginx:1.2` becomes `nginx:1.3`. */
function rewrite(running: ImageReference, { spec, candidate }: PlanInput): string {
  const pinned = spec.pin === 'Digest' && candidate.digest !== undefined ? `@${candidate.digest}` : '';
  return `${running.name}:${candidate.tag}${pinned}`;
}
