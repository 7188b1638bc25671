/** The image that a reconcile brings its targets to, as a value: what it was selected for, and the rules for the change to it. */
import type { Guard } from '../../core/plan/guards/guard.ts';
import { suspendedOutcome, type Outcome } from '../../core/plan/outcome.ts';
import { openRollback } from '../../core/plan/rollback.ts';
import type { PendingCandidate } from '../../core/plan/pending-candidate.ts';
import { isUsable, type ImagePolicy, type PolicySpec } from '../../core/model/image-policy.ts';
import { sameRepository, type Candidate } from '../../core/model/image-reference.ts';
import type { LatestImage, PolicyStatus } from '../../core/model/policy-status.ts';
import type { CreationTimes } from '../../core/model/tag-strategy.ts';
import { isSameJson } from '../../core/model/untyped.ts';
import type { Hint } from './resolve-tag.ts';

/** Which image to consider, and how far the hint is trusted. */
export interface SelectRequest {
  /** Without a hint, the whole repository is listed. */
  readonly hint?: Hint;
  /** Whether a webhook announced the hint, so that the registry may still be about to show it. */
  readonly announced: boolean;
  /** When it was announced, in ms since 1970. */
  readonly announcedAt?: number;
  /** What the registry answered about the hint a moment ago. */
  readonly resolved?: Candidate;
  /** The tag that was selected before the running images changed: a tag of equal rank does not replace it. */
  readonly selectedBefore?: string;
  /** Whether only the targets have changed: if what was selected last changes nothing, the registry is not asked. */
  readonly isAboutTargets?: boolean;
  /** Whether the image is only to be found and not yet applied: then a name is enough where policies pin names. */
  readonly isOnlyFound?: boolean;
  /** `previous` or a tag: a user asked to roll back to that image, which then replaces what the policy selects. */
  readonly rollbackTo?: string;
}

/** The image that should run, and the rules for the change to it. */
export interface Selection {
  readonly candidate: Candidate;
  /** The policy's spec, with all that its strategy must know to compare the image. */
  readonly spec: PolicySpec;
  /**
   * AllTags: it is the best that the registry holds · OneTag: it was only compared with what runs · UserRequest: a user asked for it by name, so it says nothing
   * about what the policy selects, and no pending candidate is in its way.
   */
  readonly basis: 'AllTags' | 'OneTag' | 'UserRequest';
  /** How it is planned; where absent, as the policy's spec and history say, with all guards. */
  readonly rules?: PlanRules;
  /** Creation times, for strategies that order by them. */
  readonly created?: CreationTimes;
  /** When the image and those that it replaces were created, where a first change must be likely. */
  readonly ages?: CreationTimes;
  /** It was selected earlier, and the registry was not asked again. */
  readonly isRemembered?: boolean;
  /** Remarks that a user needs to understand the selection. */
  readonly notes: readonly string[];
}

/** Rules for an image that replaces whatever runs. */
export interface PlanRules {
  /** How it compares with what runs. */
  readonly comparison: Pick<PolicySpec, 'strategy' | 'allowDowngrade'>;
  /** Whether it is planned as the policy's first change. */
  readonly isFirst: boolean;
  /** The guards that its changes must pass. */
  readonly guards: readonly Guard[];
  /** The digest that a rollback leaves. */
  readonly left?: string;
}

/** What is planned: the rules of the policy apply to a candidate that brings none. */
export type Plannable = Pick<Selection, 'candidate' | 'spec'> & Partial<Selection>;

/** A selection, and what it was based on. */
export interface Selected {
  readonly selection: Selection;
  /** What the targets run, as far as the selection was compared with it. */
  readonly running: string;
  /** When the registry was asked, in ms since 1970. */
  readonly selectedAt: number;
  /** When it had answered, in ms since 1970. */
  readonly answeredAt: number;
  /** Of the policy, before the registry was asked; with the defaults of its namespace. */
  readonly policySpec: ImagePolicy['spec'];
  readonly generation: number;
  readonly status: PolicyStatus;
  /** The pending candidate of that status, if it is still valid. */
  readonly pending?: PendingCandidate;
}

/** For how long a change may rest on an answer of the registry. A process that stood still goes on with what it had read before. */
const answerCountsMs = 20_000;

/** Whether the registry must be asked again before anything is changed. */
export function isOld({ answeredAt }: Selected, now: number): boolean {
  // A clock that was set back says nothing about the age.
  return Math.abs(now - answeredAt) > answerCountsMs;
}

/** Whether a selection still counts for the policy as it is now. An image that has to wait for its age is decided about by what waited before. */
export function isSelectedFor({ generation, policySpec, status }: Selected, policy: ImagePolicy): boolean {
  if (generation !== policy.generation || policySpec !== policy.spec) return false;
  return !isUsable(policy.spec) || policy.spec.minAgeMs === undefined || isSameJson(status.waiting, policy.status.waiting);
}

/** The result of a rollback that the user has taken back; undefined for any other reconcile. */
export function withdrawnRollback({ actions }: ImagePolicy, { rollbackTo }: SelectRequest): Outcome | undefined {
  if (rollbackTo === undefined || actions?.rollbackTo === rollbackTo) return undefined;
  return { kind: 'ignored', reason: 'Withdrawn', message: `the rollback to ${rollbackTo} was taken back before it was its turn` };
}

/** Why nothing else is done while a rollback that a user has asked for is open; undefined where none is. */
export function rollbackBefore(policy: ImagePolicy, { rollbackTo }: SelectRequest): Outcome | undefined {
  const open = rollbackTo === undefined ? openRollback(policy) : undefined;
  return open === undefined ? undefined : { kind: 'waiting', reason: 'RollbackRequested', message: `the rollback to ${open} comes first` };
}

/** Why a policy does not want a tag; undefined where it does. Costs no request. */
export function rejectTag({ strategy }: PolicySpec, tag: string): Outcome | undefined {
  const why = strategy.reject(tag);
  return why === undefined ? undefined : { kind: 'ignored', reason: 'NotSelected', message: why, tag };
}

/** The outcome of a push for a policy that need not be reconciled; undefined for one that must be. */
export function rejectPush(policy: ImagePolicy, { tag }: Hint): Outcome | undefined {
  return suspendedOutcome(policy) ?? (isUsable(policy.spec) ? rejectTag(policy.spec, tag) : undefined);
}

/** Whether a hint is about another repository than the one that the policy names by now. */
export function isElsewhere({ repository }: Hint, spec: PolicySpec): boolean {
  return repository !== undefined && !sameRepository(repository, spec.repository);
}

/** The result of a push where the policy names another repository since; undefined for any other reconcile. */
export function pushedElsewhere(spec: PolicySpec, { hint }: SelectRequest): Outcome | undefined {
  if (hint === undefined || !isElsewhere(hint, spec)) return undefined;
  return { kind: 'ignored', reason: 'NotSelected', message: 'the policy names another repository since' };
}

/** The spec to select with, or the result of a policy that is not reconciled at all. */
export function usableSpec(policy: ImagePolicy): PolicySpec | Outcome {
  const { spec } = policy;
  return suspendedOutcome(policy) ?? (isUsable(spec) ? spec : { kind: 'stalled', ...spec.problem });
}

/**
 * A fourth way to select (see `select.ts`), without any request: the hint or, without one, what the policy selected last. Undefined where that is nothing yet.
 */
export function selectKnown({ status: { latest } }: ImagePolicy, spec: PolicySpec, hint?: Hint): Selection | Outcome | undefined {
  const isLatest = latest !== undefined && (hint ?? latest).tag === latest.tag && (hint?.digest ?? latest.digest) === latest.digest;
  const candidate = isLatest ? toCandidate(latest) : hint;
  if (candidate === undefined) return undefined;
  return rejectTag(spec, candidate.tag) ?? { candidate, spec, basis: 'OneTag', notes: [] };
}

function toCandidate({ tag, digest, createdAt }: LatestImage): Candidate {
  return { tag, ...(digest !== undefined && { digest }), ...(createdAt !== undefined && { createdAt }) };
}

/** The candidate, with the time of its image where that is known. */
export function withTime(candidate: Candidate, { created }: Pick<Selection, 'created'>): Candidate {
  const at = created?.get(candidate.tag);
  return at === undefined ? candidate : { ...candidate, createdAt: at.toISOString() };
}

/** Whether a policy may downgrade: then a pushed tag may be older than the best one, and only a comparison with all tags can say. */
export function mayGoBack({ allowDowngrade, strategy }: PolicySpec): boolean {
  return allowDowngrade && strategy.mutableTag === undefined;
}
