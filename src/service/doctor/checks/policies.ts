import { documentation, type Reason } from '../../../core/model/reasons.ts';
import { type Check, failed, type Finding, ok, warning } from '../finding.ts';
import { say, sayAge } from '../say.ts';

/** The policies as their status shows them. It contains nothing that readers of policies do not see anyway. */
export interface PolicyFacts {
  /** The time now, in ms since 1970. */
  readonly now: number;
  readonly policies: readonly PolicySummary[];
  /** The checks of policies (`rollout.checks`) that the configuration does not allow. */
  readonly refusedChecks?: readonly RefusedCheck[];
  /** What keeps policies that follow others from ever changing anything. */
  readonly unprovable?: readonly Unprovable[];
  /** The policies whose waves should begin with canaries, and have none. */
  readonly withoutCanaries?: readonly WithoutCanary[];
}

export interface WithoutCanary {
  /** The name of the policy: `NAMESPACE/NAME`. */
  readonly policy: string;
  /** How many workloads it changes. */
  readonly workloads: number;
}

export interface Unprovable {
  /** The follower, and the policy that it follows: `NAMESPACE/NAME`. */
  readonly policy: string;
  readonly followed: string;
  readonly why: string;
  /** Whether it may end without an edit of one of them: the other one may be created, or its owners may consent. */
  readonly isUncertain: boolean;
}

export interface RefusedCheck {
  /** The name of the policy: `NAMESPACE/NAME`. */
  readonly policy: string;
  readonly check: string;
  readonly why: string;
}

/** A policy and its Ready condition. */
export interface PolicySummary {
  /** The name of the policy: `NAMESPACE/NAME`. */
  readonly key: string;
  readonly isReady: boolean;
  readonly reason: string | undefined;
  readonly message: string | undefined;
  /** Whether the service has evaluated this generation of the policy. */
  readonly isObserved: boolean;
  readonly createdAt: number | undefined;
}

/** The reasons with which no push will ever change anything until somebody acts. */
const neverMatching: ReadonlySet<string> = new Set<Reason>([
  'InvalidPolicy',
  'InvalidTagPolicy',
  'NotYetSupported',
  'UnsupportedTargetKind',
  'TargetNotFound',
  'TargetKindUnknown',
  'TargetKindForbidden',
  'TooManyKinds',
  'TooManyTargets',
  'FieldNotAllowed',
  'FieldPathMissing',
  'FieldNotText',
  'ContainerNotFound',
  'CompanionShared',
  'CrossNamespaceDenied',
  'NoConsent',
  'NoMatchingTag',
  'RepositoryNotFound',
  'RegistryRefused',
  'RegistryDenied',
  'TrustRootMissing',
  'VerificationKeyInvalid',
]);

const maxListed = 50;
/** The time within which a new policy should be evaluated. A worker needs seconds, but a slow registry may take this long. */
const observedWithinMs = 120_000;

/** Checks that policies can have an effect. */
export const policies: Check<PolicyFacts> = {
  id: 'policies',
  lines: ['matching', 'reconciled', 'checks', 'following', 'canaries'],
  evaluate: ({ now, policies: all, refusedChecks = [], unprovable = [], withoutCanaries = [] }) => [
    ...matching(all),
    ...reconciled(all, now),
    ...refused(refusedChecks),
    ...following(unprovable),
    ...canaries(withoutCanaries),
  ],
};

function matching(all: readonly PolicySummary[]): Finding[] {
  const line = 'policies/matching';
  if (all.length === 0) return [warning(line, say('matching.none'), say('matching.none.do'))];
  const never = all.filter(({ isReady, reason }) => !isReady && reason !== undefined && neverMatching.has(reason));
  if (never.length === 0) return [ok(line, all.length === 1 ? say('matching.one') : say('matching.all', all.length))];
  const listed = never
    .slice(0, maxListed)
    .map(({ key, reason, message }) =>
      failed(
        line,
        `${key}: ${reason}: ${message ?? ''}`,
        say('matching.never.do', `${documentation}/reasons.md#${reason?.toLowerCase()}`, key),
      ),
    );
  const more = never.length - listed.length;
  return more === 0 ? listed : [...listed, failed(line, say('matching.more', more), say('matching.more.do'))];
}

function refused(all: readonly RefusedCheck[]): Finding[] {
  const line = 'policies/checks';
  const listed = all
    .slice(0, maxListed)
    .map(({ policy, check, why }) => warning(line, say('refused.check', policy, check, why), say('refused.check.do')));
  const more = all.length - listed.length;
  return more === 0 ? listed : [...listed, warning(line, say('refused.more', more), say('refused.check.do'))];
}

function following(all: readonly Unprovable[]): Finding[] {
  const line = 'policies/following';
  const listed = all.slice(0, maxListed).map(({ policy, followed, why, isUncertain }) => {
    const report = isUncertain ? warning : failed;
    return report(
      line,
      say('following.never', policy, followed, why),
      say('following.never.do', `${documentation}/environments.md`, policy),
    );
  });
  const more = all.length - listed.length;
  return more === 0 ? listed : [...listed, warning(line, say('following.more', more), say('following.more.do'))];
}

function canaries(all: readonly WithoutCanary[]): Finding[] {
  const line = 'policies/canaries';
  const listed = all
    .slice(0, maxListed)
    .map(({ policy, workloads }) => warning(line, say('canaries.none', policy, workloads), say('canaries.none.do')));
  const more = all.length - listed.length;
  return more === 0 ? listed : [...listed, warning(line, say('canaries.more', more), say('canaries.none.do'))];
}

function reconciled(all: readonly PolicySummary[], now: number): Finding[] {
  const line = 'policies/reconciled';
  const late = all.filter(
    ({ isObserved, reason, createdAt }) =>
      !isObserved && reason === undefined && createdAt !== undefined && now - createdAt > observedWithinMs,
  );
  const [first] = late;
  if (first === undefined) return all.length === 0 ? [] : [ok(line, say('reconciled.all'))];
  const age = sayAge(now - (first.createdAt ?? now));
  return [
    failed(
      line,
      late.length === 1 ? say('reconciled.one', first.key, age) : say('reconciled.many', late.length, first.key, age),
      say('reconciled.do'),
    ),
  ];
}
