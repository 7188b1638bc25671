/** The causes for which policies do not proceed, from their status. Pure. */
import { decisiveCondition } from '../../core/model/decisive-condition.ts';
import { defined } from '../../core/model/defined.ts';
import { scopeOf, type ImagePolicy } from '../../core/model/image-policy.ts';
import { formatRepository } from '../../core/model/image-reference.ts';
import type { Condition, PolicyStatus } from '../../core/model/policy-status.ts';
import { isReason } from '../../core/model/reasons.ts';
import { orderCauses, type Cause, type CauseStep, type ReachedPolicy } from './cause.ts';
import { otherReason, reasonRules, type ReasonRule } from './reason-rules.ts';

type Policy = Pick<ImagePolicy, 'namespace' | 'name' | 'spec' | 'status' | 'parent'>;

/** What should have ended by itself is Blocked after this time. */
const patienceMs = 600_000;

/** One cause for all policies that share it. `now`: in ms since 1970. */
export function policyCauses(policies: Iterable<Policy>, now: number): Cause[] {
  const found = new Map<string, Cause>();
  for (const policy of policies) {
    const one = causeOf(policy, now);
    if (one === undefined) continue;
    const before = found.get(one.id);
    found.set(one.id, before === undefined ? one : join(before, one));
  }
  return [...found.values()].map((cause) => ({ ...cause, command: commandOf(cause) }));
}

function causeOf({ namespace, name, spec, status, parent }: Policy, now: number): Cause | undefined {
  if (spec.suspended === true) return undefined;
  const condition = decisiveCondition(status.conditions ?? []);
  const rule = condition && ruleOf(condition);
  if (condition === undefined || rule === undefined) return undefined;
  const { reason, message, lastTransitionTime: since } = condition;
  const subject = subjectOf(rule, { namespace, name, spec, status });
  const rollouts = rule.kind === 'image' ? rolloutsOf(status) : undefined;
  const isLasting = rule.urgency === 'Passing' && rule.step !== 'wait' && now - Date.parse(since) > patienceMs;
  return {
    id: [rule.kind, rule.sameAs ?? reason, subject].filter((part) => part !== '').join('/'),
    kind: rule.kind,
    urgency: (rollouts?.running ?? 0) > 0 ? 'Broken' : isLasting ? 'Blocked' : rule.urgency,
    subject,
    reason,
    message,
    since,
    policies: [{ namespace, name, ...defined({ runsFailed: (rollouts?.running ?? 0) > 0 || undefined, parent: parent?.name }) }],
    rollouts,
    step: (rollouts?.running ?? 0) > 0 ? 'rollBack' : rule.step,
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
function concernedTag({ history = [], latest, waiting }: PolicyStatus): string {
  const failed = history.find(({ result, trigger }) => trigger !== 'Rollback' && (result === 'Failed' || result === 'RolledBack'));
  return failed?.tag ?? waiting?.tag ?? latest?.tag ?? '?';
}

function rolloutsOf({ rollouts }: PolicyStatus): Cause['rollouts'] {
  if (rollouts === undefined || rollouts.failed + rollouts.rolledBack === 0) return undefined;
  return { rolledBack: rollouts.rolledBack, running: rollouts.failed };
}

function join(a: Cause, b: Cause): Cause {
  const [first] = orderCauses([a, b]);
  if (first === undefined) return a;
  const sum = (key: 'rolledBack' | 'running') => (a.rollouts?.[key] ?? 0) + (b.rollouts?.[key] ?? 0);
  return {
    ...first,
    since: (a.since ?? '') < (b.since ?? '') ? a.since : b.since,
    policies: [...a.policies, ...b.policies],
    rollouts: a.rollouts === undefined && b.rollouts === undefined ? undefined : { rolledBack: sum('rolledBack'), running: sum('running') },
  };
}

/** The command for the first of the policies that it concerns. */
function commandOf({ step, policies }: Cause): string | undefined {
  const first = step === 'rollBack' ? policies.find(({ runsFailed }) => runsFailed) : policies[0];
  return first && commands[step]?.(first);
}

const commands: Readonly<Partial<Record<CauseStep, (policy: ReachedPolicy) => string>>> = {
  rollBack: ({ namespace, name }) => `image-watcher rollback ${namespace}/${name}`,
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
