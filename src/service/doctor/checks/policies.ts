import { documentation, type Reason } from '../../../core/model/reasons.ts';
import { type Check, describeAge, failed, type Finding, ok, warning } from '../finding.ts';

/** The policies as their status shows them. It contains nothing that readers of policies do not see anyway. */
export interface PolicyFacts {
  /** The time now, in ms since 1970. */
  readonly now: number;
  readonly policies: readonly PolicySummary[];
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
  lines: ['matching', 'reconciled'],
  evaluate: ({ now, policies: all }) => [...matching(all), ...reconciled(all, now)],
};

function matching(all: readonly PolicySummary[]): Finding[] {
  const line = 'policies/matching';
  if (all.length === 0) return [warning(line, 'there are no policies', 'create an ImagePolicy: docs/quickstart.md')];
  const never = all.filter(({ isReady, reason }) => !isReady && reason !== undefined && neverMatching.has(reason));
  if (never.length === 0) return [ok(line, all.length === 1 ? 'the policy can match' : `all ${all.length} policies can match`)];
  const listed = never
    .slice(0, maxListed)
    .map(({ key, reason, message }) =>
      failed(
        line,
        `${key}: ${reason}: ${message ?? ''}`,
        `see ${documentation}/reasons.md#${reason?.toLowerCase()}, and run image-watcher explain ${key}`,
      ),
    );
  const more = never.length - listed.length;
  return more === 0 ? listed : [...listed, failed(line, `${more} more policies can never match`, 'run kubectl get ipol -A')];
}

function reconciled(all: readonly PolicySummary[], now: number): Finding[] {
  const line = 'policies/reconciled';
  const late = all.filter(
    ({ isObserved, reason, createdAt }) =>
      !isObserved && reason === undefined && createdAt !== undefined && now - createdAt > observedWithinMs,
  );
  const [first] = late;
  if (first === undefined) return all.length === 0 ? [] : [ok(line, 'workers evaluate the policies')];
  const age = describeAge(now - (first.createdAt ?? now));
  return [
    failed(
      line,
      `${late.length === 1 ? '1 policy was' : `${late.length} policies were`} never evaluated, ${first.key} for ${age}`,
      'check that workers run (role work), and their log for "watch failed"; the namespace may not be in watch.namespaces',
    ),
  ];
}
