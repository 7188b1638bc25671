/** The image that a reconcile brings its targets to, as a value: its origin, and the rules for the change to it. */
import type { Assessment } from '../../core/model/assessment.ts';
import { ruleOf } from '../../core/model/companions.ts';
import { defined } from '../../core/model/defined.ts';
import type { Guard } from '../../core/plan/guards/guard.ts';
import { suspendedOutcome, type Outcome, type SeenSet } from '../../core/plan/outcome.ts';
import { openRollback } from '../../core/plan/rollback.ts';
import type { PendingCandidate } from '../../core/plan/pending-candidate.ts';
import { isUsable, type ImagePolicy, type PolicySpec } from '../../core/model/image-policy.ts';
import { sameRepository, type Candidate } from '../../core/model/image-reference.ts';
import type { LatestImage, PolicyStatus } from '../../core/model/policy-status.ts';
import type { CreationTimes } from '../../core/model/tag-strategy.ts';
import { isSameJson } from '../../core/model/untyped.ts';
import type { KnownEvidence } from './assess.ts';
import type { Hint } from './resolve-tag.ts';

/** Which image to consider, and how far to trust the hint. */
export interface SelectRequest {
  /** The image to consider. Without a hint, the whole repository is listed. */
  readonly hint?: Hint;
  /** Whether a webhook announced the hint, so that the registry may not show it yet. */
  readonly announced: boolean;
  /** When the hint was announced, in ms since 1970. */
  readonly announcedAt?: number;
  /** The image of a companion that was announced, in place of a hint. */
  readonly companion?: Hint;
  /** The cause under which an answer of the registry about the hint may be remembered from a moment ago. */
  readonly answeredFor?: string;
  /** The tag that was selected before the running images changed: a tag of equal rank does not replace it. */
  readonly selectedBefore?: string;
  /** Whether only the targets have changed. If the last selected image changes nothing, the registry is not asked. */
  readonly isAboutTargets?: boolean;
  /** Whether the image is only to be found and not yet applied. Then a name is enough for policies that pin names. */
  readonly isOnlyFound?: boolean;
  /** Whether somebody asks what would happen. Then facts for warnings are read, which decide nothing. */
  readonly isPreview?: boolean;
  /** `previous` or a tag: a user asked to roll back to that image, which then replaces the image that the policy selects. */
  readonly rollbackTo?: string;
  /** Called with what the registry has for the tag of the hint, where that is another digest than was announced. */
  readonly onOtherDigest?: (digest: string) => void;
}

/** The image that should run, and the rules for the change to it. */
export interface Selection {
  readonly candidate: Candidate;
  /** The policy's spec, with all data that its strategy needs to compare the image. */
  readonly spec: PolicySpec;
  /**
   * AllTags: the image is the best that the registry holds · OneTag: it was compared only with what runs · UserRequest: a user asked for it by name, so it says
   * nothing about what the policy selects, and a pending candidate does not prevent it.
   */
  readonly basis: 'AllTags' | 'OneTag' | 'UserRequest';
  /** The rules for the plan. If absent, the policy's spec and history decide, with all guards. */
  readonly rules?: PlanRules;
  /** The creation times of images, for strategies that order by them. */
  readonly created?: CreationTimes;
  /** When the image and those that it replaces were created, if a first change must be likely. Images that could not be read are absent. */
  readonly ages?: CreationTimes;
  /** What is known of the vulnerabilities of the image, and of the pending one; absent unless the policy asks for evidence of them. */
  readonly assessments?: readonly Assessment[];
  /** Whether the image was selected earlier, and the registry was not asked again. */
  readonly isRemembered?: boolean;
  /** The images whose companions the registry was asked for. */
  readonly sets?: readonly SeenSet[];
  /** Remarks that a user needs to understand the selection. */
  readonly notes: readonly string[];
}

/** Rules for an image that replaces any running image. */
export interface PlanRules {
  /** How the image is compared with what runs. */
  readonly comparison: Pick<PolicySpec, 'strategy' | 'allowDowngrade'>;
  /** Whether the change is planned as the policy's first change. */
  readonly isFirst: boolean;
  /** The guards that the changes must pass. */
  readonly guards: readonly Guard[];
  /** The digest that a rollback replaces. */
  readonly left?: string;
}

/** The input of a plan. If a candidate brings no rules, the rules of the policy apply. */
export type Plannable = Pick<Selection, 'candidate' | 'spec'> & Partial<Selection>;

/** A selection, and the data that it was based on. */
export interface Selected {
  readonly selection: Selection;
  /** The images of the targets with which the selection was compared, as one text. */
  readonly running: string;
  /** When the registry was asked, in ms since 1970. */
  readonly selectedAt: number;
  /** When the registry had answered, or what was used of an earlier attempt about vulnerabilities if that is older, in ms since 1970. */
  readonly answeredAt: number;
  /** What the sources of evidence have answered, for later attempts; absent unless the policy asks for evidence of vulnerabilities. */
  readonly evidence?: KnownEvidence;
  /** The spec of the policy before the registry was asked, with the defaults of its namespace. */
  readonly policySpec: ImagePolicy['spec'];
  readonly generation: number;
  readonly status: PolicyStatus;
  /** The pending candidate of the status, if it is still valid, and the same with its companions. */
  readonly pending?: PendingCandidate;
  readonly pendingImage?: Candidate;
}

/** How long an answer of the registry may justify a change. A process that stood still goes on with the answer that it had read before. */
const answerCountsMs = 20_000;

/** Whether the registry must be asked again before anything is changed. */
export function isOld({ answeredAt }: Selected, now: number): boolean {
  return isAnswerOld(answeredAt, now);
}

/** Whether an answer from a time justifies no change any more. Both times in ms since 1970. */
export function isAnswerOld(answeredAt: number, now: number): boolean {
  // The age is absolute, because a clock that was set back says nothing about it.
  return Math.abs(now - answeredAt) > answerCountsMs;
}

/** Whether a selection still applies to the present state of the policy. If an image has to wait for its age, the waiting image must also be the same. */
export function isSelectedFor({ generation, policySpec, status }: Selected, policy: ImagePolicy): boolean {
  if (generation !== policy.generation || policySpec !== policy.spec) return false;
  return !isUsable(policy.spec) || policy.spec.minAgeMs === undefined || isSameJson(status.waiting, policy.status.waiting);
}

/** The result of a rollback that the user has withdrawn; undefined for any other reconcile. */
export function withdrawnRollback({ actions }: ImagePolicy, { rollbackTo }: SelectRequest): Outcome | undefined {
  if (rollbackTo === undefined || actions?.rollbackTo === rollbackTo) return undefined;
  return { kind: 'ignored', reason: 'Withdrawn', message: `the rollback to ${rollbackTo} was taken back before it was its turn` };
}

/** Why nothing else is done while a requested rollback is open; undefined if none is open. */
export function rollbackBefore(policy: ImagePolicy, { rollbackTo }: SelectRequest): Outcome | undefined {
  const open = rollbackTo === undefined ? openRollback(policy) : undefined;
  return open === undefined ? undefined : { kind: 'waiting', reason: 'RollbackRequested', message: `the rollback to ${open} comes first` };
}

/** Why a policy does not want a tag; undefined if it does. Costs no request. */
export function rejectTag({ strategy }: PolicySpec, tag: string): Outcome | undefined {
  const why = strategy.reject(tag);
  return why === undefined ? undefined : { kind: 'ignored', reason: 'NotSelected', message: why, tag };
}

/** The outcome of a push for a policy that need not be reconciled; undefined for one that must be. */
export function rejectPush(policy: ImagePolicy, hint: Hint): Outcome | undefined {
  const { spec } = policy;
  const suspended = suspendedOutcome(policy);
  if (suspended !== undefined || !isUsable(spec)) return suspended;
  // The tags of companions are those that the policy selects only where they are the same.
  return isOfCompanion(hint, spec) && spec.alongside?.match !== 'SameTag' ? undefined : rejectTag(spec, hint.tag);
}

/** Whether a hint is about none of the repositories that the policy names now. */
export function isElsewhere(hint: Hint, spec: PolicySpec): boolean {
  const { repository } = hint;
  return repository !== undefined && !sameRepository(repository, spec.repository) && !isOfCompanion(hint, spec);
}

/** Whether a hint is about a companion of the policy. */
function isOfCompanion({ repository }: Hint, { alongside }: PolicySpec): boolean {
  return repository !== undefined && ruleOf(alongside, repository) !== undefined;
}

/** The request without a hint, if that is about a companion: which image is selected does not depend on it. */
export function withCompanion<R extends SelectRequest>(request: R, spec: PolicySpec): R {
  const { hint, answeredFor: _, ...others } = request;
  return hint === undefined || !isOfCompanion(hint, spec) ? request : ({ ...others, companion: hint } as R);
}

export const namesAnother = 'the policy names another repository since';

/** The result of a push if the policy names another repository since; undefined for any other reconcile. */
export function pushedElsewhere(spec: PolicySpec, { hint }: SelectRequest): Outcome | undefined {
  if (hint === undefined || !isElsewhere(hint, spec)) return undefined;
  return { kind: 'ignored', reason: 'NotSelected', message: namesAnother };
}

/** The spec to select with, or the result of a policy that is not reconciled at all. */
export function usableSpec(policy: ImagePolicy): PolicySpec | Outcome {
  const { spec } = policy;
  return suspendedOutcome(policy) ?? (isUsable(spec) ? spec : { kind: 'stalled', ...spec.problem });
}

/** Selects the hint or, without one, the policy's last selected image, without any request (other ways: `select.ts`). Undefined if nothing was selected yet. */
export function selectKnown({ status: { latest } }: ImagePolicy, spec: PolicySpec, hint?: Hint): Selection | Outcome | undefined {
  const isLatest = latest !== undefined && (hint ?? latest).tag === latest.tag && (hint?.digest ?? latest.digest) === latest.digest;
  const candidate = isLatest ? toCandidate(latest) : hint;
  if (candidate === undefined) return undefined;
  return rejectTag(spec, candidate.tag) ?? { candidate, spec, basis: 'OneTag', notes: [] };
}

function toCandidate({ tag, digest, createdAt, companions, setDigest }: LatestImage): Candidate {
  return { tag, ...defined({ digest, createdAt, companions, setDigest }) };
}

/** The candidate, with the creation time of its image if that is known. */
export function withTime(candidate: Candidate, { created }: Selection): Candidate {
  const at = created?.get(candidate.tag);
  return at === undefined ? candidate : { ...candidate, createdAt: at.toISOString() };
}

/** Whether a policy may downgrade. A pushed tag may then be older than the best one, which only a comparison with all tags can show. */
export function mayGoBack({ allowDowngrade, strategy }: PolicySpec): boolean {
  return allowDowngrade && strategy.mutableTag === undefined;
}
