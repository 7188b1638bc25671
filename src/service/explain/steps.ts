/** Explains a policy as a chain of steps: what the service would do, what it found, and what prevents the change. Pure. */
import { resultCondition } from '../../core/model/decisive-condition.ts';
import { defined } from '../../core/model/defined.ts';
import { isUsable } from '../../core/model/image-policy.ts';
import type { Candidate } from '../../core/model/image-reference.ts';
import type { Origin } from '../../core/model/policy-defaults.ts';
import type { Condition } from '../../core/model/policy-status.ts';
import { describeHold } from '../../core/model/named-hold.ts';
import { isReason, pageOf, type Reason, reasonsInOrder } from '../../core/model/reasons.ts';
import { formatWorkload, type ContainerChange, type WorkloadRef } from '../../core/model/workload.ts';
import { deadlineOfCheck } from '../../core/model/rollout-check.ts';
import { describeState, type CheckState } from '../../core/rollout/check-states.ts';
import { isAllowed, type Opinion, type TargetExplanation } from '../../core/plan/guard-plan.ts';
import { exceptionOf } from '../../core/plan/security-rules.ts';
import type { PendingCandidate } from '../../core/plan/pending-candidate.ts';
import { findDoubt } from '../../core/plan/guards/unlikely-version.ts';
import { describePush, nameOf, unknownOf, type Planned } from './conclude.ts';
import { describePending, type PlannedNow, type Pushed } from './plan-now.ts';
import { vulnerabilitySteps } from './vulnerability-steps.ts';
import { settingRows } from './settings.ts';

/** pass: nothing prevents the change · stop: somebody must act, or something must change · wait: the service goes on by itself · note: it decides nothing. */
export type StepResult = 'pass' | 'stop' | 'wait' | 'note';

export interface Step {
  /** The stable id of the step: `namespace`, `spec`, `hold`, `status`, `tag`, a setting, `verify`, `vulnerabilities`, `check`, `target`, `container`, or the id of a guard. */
  readonly id: string;
  readonly result: StepResult;
  /** The facts of the step and, if it stops the chain, what to do. */
  readonly text: string;
  /** The origin of the value of a setting. */
  readonly origin?: Origin;
  readonly reason?: Reason;
  /** The end of the wait, in RFC 3339. */
  readonly until?: string;
  /** The page that explains the reason. */
  readonly page?: string;
}

/** The steps for one workload. */
export interface TargetSteps {
  readonly target: WorkloadRef;
  readonly steps: readonly Step[];
}

export interface Explanation {
  /** Whether nothing is blocked or wrong. */
  readonly allowed: boolean;
  /** The conclusion of all steps, in one sentence. */
  readonly summary: string;
  /** The candidate that is selected, or treated as pushed. */
  readonly candidate?: Candidate;
  /** The steps of the policy, in their order. The first one that stops ends the chain. */
  readonly steps: readonly Step[];
  readonly targets: readonly TargetSteps[];
}

/** Explains the plan for a policy, or for a push. */
export function explainPlanned(planned: PlannedNow, pushed?: Pushed): Explanation {
  const { namespace, name, spec } = planned.policy;
  if ('why' in planned) {
    const { why } = planned;
    const summary = pushed === undefined ? why : `a push of ${nameOf(pushed)} would change nothing: ${why}`;
    return { allowed: false, summary, steps: stepsUntil(planned), targets: [] };
  }
  const { candidate, targets, pending } = planned;
  const unknown = pushed && unknownOf(planned, pushed);
  const description = isUsable(spec) ? spec.strategy.description : '';
  const selected = selectedSteps(planned, pushed, unknown);
  const chains = targets.map((target) => ({ target: target.target, steps: stepsOf(target, planned) }));
  const known = new Set([...selected, ...chains.flatMap(({ steps }) => steps)].map(({ reason }) => reason));
  const last = lastReconcile(planned, pushed !== undefined).filter(({ reason }) => reason === undefined || !known.has(reason));
  return {
    allowed: isAllowed(targets) && pending === undefined && unknown === undefined && !last.some(isInTheWay),
    summary: pushed === undefined ? `${namespace}/${name} selects ${description}: ${nameOf(candidate)}` : describePush(planned, pushed),
    candidate,
    steps: [...basics(planned), ...onHold(planned), ...last, ...selected, ...planned.checks.map(stepOfCheck)],
    targets: chains,
  };
}

/** Whether a step prevents the change. A rollout in progress, or a changed spec, does not prevent the present plan. */
function isInTheWay({ result, reason }: Step): boolean {
  return result === 'stop' || (result === 'wait' && reason !== undefined && reason !== 'Progressing');
}

/** The step with the result of the last reconcile, which needs the registry. The result may differ for the image of another push. */
function lastReconcile({ policy: { generation, status }, hold }: Planned, isOfPush: boolean): Step[] {
  const { conditions = [], observedGeneration = generation } = status;
  if (observedGeneration !== generation)
    return [{ id: 'status', result: 'wait', text: 'the spec was changed, and has not been reconciled since' }];
  const ready = conditions.find(({ type }) => type === 'Ready');
  const held = hold === undefined ? [] : [stepOfHold(hold)];
  if (ready?.status !== 'False') return held;
  const { type, reason, message } = resultCondition(conditions) ?? ready;
  const result = isOfPush ? 'note' : type === 'Stalled' ? 'stop' : 'wait';
  return [{ id: 'status', result, text: `since ${ready.lastTransitionTime}: ${message}`, ...linked(reason) }, ...held];
}

/** The step of a first change that is held because its image is older than the running one: only the registry, and so only the last reconcile, knows that. */
function stepOfHold({ lastTransitionTime, message, reason }: Condition): Step {
  return { id: 'status', result: 'stop', text: `since ${lastTransitionTime}: ${message}`, ...linked(reason) };
}

/** The steps before an image is selected. */
function basics({ policy: { namespace } }: PlannedNow): Step[] {
  return [
    { id: 'namespace', result: 'pass', text: `the namespace ${namespace} is selected` },
    { id: 'spec', result: 'pass', text: 'the policy can be used, and is not suspended' },
  ];
}

/** The step of a policy that somebody holds. What waits because of it says so itself. */
function onHold({ onHold: hold }: Planned): Step[] {
  if (hold === undefined) return [];
  return [{ id: 'hold', result: 'note', text: `on hold (${describeHold(hold)}): only what is promoted is applied`, ...linked('OnHold') }];
}

/** The steps of a policy whose reconcile ends before a plan. */
function stepsUntil({ policy, why, reason, isSelected }: Exclude<PlannedNow, Planned>): Step[] {
  const [namespace, spec] = basics({ policy } as PlannedNow);
  const stop = (id: string): Step => ({ id, result: 'stop', text: withoutReason(why, reason), ...linked(reason) });
  if (!isSelected || namespace === undefined || spec === undefined) return [stop('namespace')];
  if (!isUsable(policy.spec) || policy.spec.suspended) return [namespace, stop('spec')];
  return [namespace, spec, stop('tag')];
}

function selectedSteps(planned: Planned, pushed: Pushed | undefined, unknown: string | undefined): Step[] {
  const { spec, candidate, pending } = planned;
  const what = pushed === undefined ? 'is selected' : 'is taken as pushed';
  const tag: Step =
    unknown === undefined
      ? { id: 'tag', result: 'pass', text: `${nameOf(candidate)} ${what}: ${spec.strategy.description}` }
      : { id: 'tag', result: 'stop', text: `${nameOf(candidate)} changes something only if ${unknown}` };
  const settings = settingRows(spec).map(({ name, value, from }): Step =>
    name === 'minAge' && pending !== undefined
      ? {
          id: name,
          result: 'wait',
          text: `${value}: ${describePending(pending)}${whyKept(planned, pending)}`,
          origin: from,
          until: pending.until,
          ...linked('MinAge'),
        }
      : { id: name, result: 'note', text: value, origin: from },
  );
  const verify: Step[] =
    spec.verification === undefined ? [] : [{ id: 'verify', result: 'note', text: 'its signatures are verified before it is applied' }];
  return [tag, ...settings, ...verify, ...vulnerabilitySteps(planned)];
}

/** Why the policy makes no exception for the image that waits for its age; empty if it makes none at all. */
function whyKept({ spec, assessment, policy: { status } }: Planned, pending: PendingCandidate): string {
  const known = [...(assessment === undefined ? [] : [assessment]), ...(status.vulnerabilities ?? [])];
  const exception = exceptionOf('MinAge', spec, pending, known);
  return exception === undefined ? '' : `; it does not skip that wait: ${exception.why}`;
}

/** What a check has answered about the image. It decides nothing by itself: the guard `checks` and the rollout do. */
function stepOfCheck(state: CheckState): Step {
  const { check, record } = state;
  const step: Step = { id: 'check', result: record?.state === 'Passed' ? 'pass' : 'note', text: describeState(state) };
  if (record?.state === 'Failed') return { ...step, ...linked('CheckFailed') };
  if (record?.state === 'TimedOut') return { ...step, ...linked('CheckTimedOut') };
  // A check that goes on with the rollout has no end of its own.
  if (record?.state !== 'Running' || check.phase === 'during') return step;
  return { ...step, until: new Date(deadlineOfCheck(check, record)).toISOString() };
}

function stepsOf({ target, changes, unchanged, problem, guards }: TargetExplanation, planned: Planned): Step[] {
  const found: Step =
    problem === undefined
      ? { id: 'target', result: 'pass', text: `${formatWorkload(target)} is there` }
      : { id: 'target', result: 'stop', text: problem.message, ...linked(problem.reason) };
  return [
    found,
    ...unchanged.map(({ container, image, reason, message }): Step => ({
      id: 'container',
      result: reason === 'UpToDate' ? 'pass' : 'stop',
      text: `${container} stays at ${image}: ${message}`,
      ...linked(reason),
    })),
    ...changes.flatMap((change) => describeChange(change, planned)).map((text): Step => ({ id: 'container', result: 'pass', text })),
    ...guards.map(stepOfGuard),
  ];
}

/** What would be changed in one patch: the own image and, below it, its companions. Where the own image runs already, its companions alone are changed. */
function describeChange({ container, from, to, alongside = [] }: ContainerChange, planned: Planned): string[] {
  const doubt = findDoubt({ from, to }, planned);
  const own = from === to ? [] : [`${toText({ container, from, to })}${doubt === undefined ? '' : `, but ${doubt}`}`];
  return [...own, ...alongside.map(toText)];
}

function toText({ container, from, to }: Pick<ContainerChange, 'container' | 'from' | 'to'>): string {
  return `${container} would be changed from ${from} to ${to}`;
}

const results: Readonly<Record<Opinion['result'], StepResult>> = { pass: 'pass', refused: 'stop', blocked: 'stop', waits: 'wait' };

function stepOfGuard({ guard, result, reason, message, until }: Opinion): Step {
  return {
    id: guard,
    result: results[result],
    text: message ?? 'pass',
    ...linked(reason),
    ...defined({ until }),
  };
}

function linked(reason: string | undefined): Pick<Step, 'reason' | 'page'> {
  if (!isReason(reason)) return {};
  return { reason, ...(!reasonsInOrder.has(reason) && { page: pageOf(reason) }) };
}

function withoutReason(why: string, reason: string | undefined): string {
  return reason !== undefined && why.startsWith(`${reason}: `) ? why.slice(reason.length + 2) : why;
}
