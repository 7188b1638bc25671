/** The causes for which policies do not proceed, from their status. Pure. */
import { decisiveCondition } from '../../core/model/decisive-condition.ts';
import { defined } from '../../core/model/defined.ts';
import { scopeOf, type ImagePolicy } from '../../core/model/image-policy.ts';
import { formatRepository } from '../../core/model/image-reference.ts';
import type { Condition, PolicyStatus } from '../../core/model/policy-status.ts';
import { maxFixes } from '../../core/model/notice.ts';
import { isReason } from '../../core/model/reasons.ts';
import { mostSevere, type Vulnerability } from '../../core/model/waiting-fix.ts';
import { compareCauses, type Cause, type CauseStep, type ReachedPolicy } from './cause.ts';
import { fixCauseOf } from './fix-causes.ts';
import { otherReason, reasonRules, type ReasonRule } from './reason-rules.ts';

type Policy = Pick<ImagePolicy, 'namespace' | 'name' | 'spec' | 'status' | 'parent'>;

/** After this time, a state that should have ended by itself counts as Blocked. */
const patienceMs = 600_000;

/** What is wrong with policies, as far as they were gathered. */
export interface GatheredCauses {
  add(policy: Policy): void;
  /** One cause for all policies that share it. */
  found(): Cause[];
}

/** Gathers the causes of policies one by one, because there may be ten thousand. `now`: in ms since 1970. */
export function gatherCauses(now: number): GatheredCauses {
  const shared = new Map<string, Shared>();
  return {
    add(policy) {
      for (const one of knownCausesOf(policy)) {
        const same = shared.get(one.id);
        const cause = atTime(one, now);
        if (same === undefined) shared.set(one.id, share(cause));
        else join(same, cause);
      }
    },
    found: () => Array.from(shared.values(), finish),
  };
}

/** The causes of policies, derived once for each version of a policy: a policy that changes is another object. */
const known = new WeakMap<Policy, readonly PolicyCause[]>();

function knownCausesOf(policy: Policy): readonly PolicyCause[] {
  let found = known.get(policy);
  if (found === undefined) known.set(policy, (found = causesOf(policy)));
  return found;
}

/** Why a policy does not proceed, and the fix that waits for that. The fix says both if the reason is about this policy alone. */
function causesOf(policy: Policy): readonly PolicyCause[] {
  const own = causeOf(policy);
  const fix = fixCauseOf(policy);
  if (fix === undefined) return own === undefined ? [] : [own];
  const isSaid = own?.kind === 'policy' && own.reason === fix.waitsFor;
  return [{ ...fix.cause, shouldEnd: false }, ...(own === undefined || isSaid ? [] : [own])];
}

/** `shouldEnd`: whether the cause is Blocked if it has not ended by itself after a while. */
interface PolicyCause extends Cause {
  readonly shouldEnd: boolean;
}

function atTime(cause: PolicyCause, now: number): PolicyCause {
  const isLasting = cause.shouldEnd && now - Date.parse(cause.since ?? '') > patienceMs;
  return isLasting ? { ...cause, urgency: 'Blocked' } : cause;
}

function causeOf({ namespace, name, spec, status, parent }: Policy): PolicyCause | undefined {
  if (spec.suspended === true) return undefined;
  const condition = decisiveCondition(status.conditions ?? []);
  const rule = condition && ruleOf(condition);
  if (condition === undefined || rule === undefined) return undefined;
  const { reason, message, lastTransitionTime: since } = condition;
  const subject = subjectOf(rule, { namespace, name, spec, status });
  const rollouts = rule.kind === 'image' ? rolloutsOf(status) : undefined;
  const runsFailed = (rollouts?.running ?? 0) > 0;
  return {
    id: [rule.kind, rule.sameAs ?? reason, subject].filter((part) => part !== '').join('/'),
    kind: rule.kind,
    urgency: runsFailed ? 'Broken' : rule.urgency,
    subject,
    reason,
    message,
    since,
    policies: [{ namespace, name, ...defined({ runsFailed: runsFailed || undefined, parent: parent?.name }) }],
    rollouts,
    step: runsFailed ? 'rollBack' : rule.step,
    shouldEnd: !runsFailed && rule.urgency === 'Passing' && rule.step !== 'wait',
  };
}

/** The rule for the condition that every view shows first. What waits for approval has a list of its own. */
function ruleOf({ type, reason }: Condition): ReasonRule | undefined {
  if (type !== 'Stalled' && type !== 'Reconciling' && type !== 'Held') return undefined;
  const rule = isReason(reason) ? reasonRules[reason] : undefined;
  return rule ?? (type === 'Stalled' ? otherReason : undefined);
}

function subjectOf({ kind }: ReasonRule, { namespace, name, spec, status }: Policy): string {
  const repository = scopeOf(spec)?.repository;
  switch (kind) {
    case 'installation':
      return '';
    case 'namespace':
      return namespace;
    case 'registry':
      return repository?.registry ?? '';
    case 'repository':
      return repository === undefined ? `${namespace}/${name}` : formatRepository(repository);
    case 'image':
      return repository === undefined ? `${namespace}/${name}` : `${formatRepository(repository)}:${concernedTag(status)}`;
    default:
      return `${namespace}/${name}`;
  }
}

/** The tag of the image that failed, or that may not be applied. */
function concernedTag({ history = [], latest, waiting, refused }: PolicyStatus): string {
  if (refused !== undefined) return refused.tag;
  const failed = history.find(({ result, trigger }) => trigger !== 'Rollback' && (result === 'Failed' || result === 'RolledBack'));
  return failed?.tag ?? waiting?.tag ?? latest?.tag ?? '?';
}

function rolloutsOf({ rollouts }: PolicyStatus): Cause['rollouts'] {
  if (rollouts === undefined || rollouts.failed + rollouts.rolledBack === 0) return undefined;
  return { rolledBack: rollouts.rolledBack, running: rollouts.failed };
}

/** Causes of several policies with the same id, which become one. */
interface Shared {
  /** The most urgent one. */
  first: PolicyCause;
  since: string | undefined;
  readonly policies: ReachedPolicy[];
  rollouts: Cause['rollouts'];
  readonly fixes: Map<string, Vulnerability>;
  isSameStep: boolean;
}

function share(first: PolicyCause): Shared {
  const shared: Shared = {
    first,
    since: first.since,
    policies: [...first.policies],
    rollouts: first.rollouts,
    fixes: new Map(),
    isSameStep: true,
  };
  addFixes(shared, first);
  return shared;
}

function join(same: Shared, cause: PolicyCause): void {
  same.isSameStep &&= cause.step === same.first.step;
  if (compareCauses(cause, same.first) < 0) same.first = cause;
  if ((cause.since ?? '') <= (same.since ?? '')) same.since = cause.since;
  same.policies.push(...cause.policies);
  same.rollouts = sumOf(same.rollouts, cause.rollouts);
  addFixes(same, cause);
}

/** Each vulnerability is kept once, however many policies wait for its fix. */
function addFixes({ fixes: known }: Shared, { fixes = [] }: PolicyCause): void {
  for (const fix of fixes) {
    const before = known.get(fix.id);
    known.set(fix.id, before === undefined ? fix : (mostSevere([before, fix])[0] ?? fix));
  }
}

function finish({ first: { shouldEnd: _shouldEnd, ...first }, since, policies, rollouts, fixes, isSameStep }: Shared): Cause {
  const cause: Cause = {
    ...first,
    since,
    policies,
    rollouts,
    // Policies may keep the same fix for different reasons: each says its own.
    ...(first.fixes && { fixes: mostSevere([...fixes.values()]).slice(0, maxFixes), step: isSameStep ? first.step : 'explain' }),
  };
  return { ...cause, command: commandOf(cause) };
}

function sumOf(a: Cause['rollouts'], b: Cause['rollouts']): Cause['rollouts'] {
  if (a === undefined || b === undefined) return a ?? b;
  return { rolledBack: a.rolledBack + b.rolledBack, running: a.running + b.running };
}

/** The command for the first policy of a cause. */
function commandOf({ step, policies }: Cause): string | undefined {
  const first = step === 'rollBack' ? policies.find(({ runsFailed }) => runsFailed) : policies[0];
  return first && commands[step]?.(first);
}

const commands: Readonly<Partial<Record<CauseStep, (policy: ReachedPolicy) => string>>> = {
  rollBack: ({ namespace, name }) => `image-watcher rollback ${namespace}/${name}`,
  approve: ({ namespace, name }) => `image-watcher approve ${namespace}/${name}`,
  unsuspend: ({ namespace, name }) => `image-watcher resume ${namespace}/${name}`,
  skipWait: ({ namespace, name }) => `kubectl edit imagepolicy -n ${namespace} ${name}`,
  pushBetter: ({ namespace, name }) => `image-watcher release ${namespace}/${name}`,
  release: ({ namespace, name }) => `image-watcher release ${namespace}/${name}`,
  check: ({ namespace, name }) => `image-watcher check ${namespace}/${name}`,
  giveCredentials: ({ namespace, name }) => `image-watcher check ${namespace}/${name}`,
  correctPolicy: ({ namespace, name }) => `kubectl edit imagepolicy -n ${namespace} ${name}`,
  correctTarget: ({ namespace, name }) => `image-watcher explain ${namespace}/${name}`,
  giveConsent: ({ namespace, name }) => `image-watcher explain ${namespace}/${name}`,
  sign: ({ namespace, name }) => `image-watcher explain ${namespace}/${name}`,
  resume: ({ namespace, name }) => `image-watcher explain ${namespace}/${name}`,
  explain: ({ namespace, name }) => `image-watcher explain ${namespace}/${name}`,
};
