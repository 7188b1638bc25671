/** A cause: one thing that is wrong, with everything that it reaches. Policies that cannot proceed for the same reason have one cause. */
import type { Vulnerability } from '../../core/model/waiting-fix.ts';
import type { Said } from '../doctor/say.ts';

/** What a cause is about. Its subject names one of these. */
export const causeKinds = [
  'image',
  'registry',
  'repository',
  'policy',
  'namespace',
  'base',
  'receiver',
  'notification',
  'installation',
] as const;
export type CauseKind = (typeof causeKinds)[number];

/**
 * How urgent a cause is, the most urgent first. Broken: workloads still run an image that failed. Blocked: nothing goes on until somebody acts. Warning: everything goes
 * on, and somebody should act. Passing: it ends by itself.
 */
export const urgencies = ['Broken', 'Blocked', 'Warning', 'Passing'] as const;
export type Urgency = (typeof urgencies)[number];

/** The one thing to do about a cause. */
export const causeSteps = [
  'rollBack',
  'approve',
  'unsuspend',
  'skipWait',
  'pushBetter',
  'release',
  'check',
  'correctPolicy',
  'correctTarget',
  'giveCredentials',
  'allowRegistry',
  'giveConsent',
  'sign',
  'resume',
  'seeBase',
  'installDefinition',
  'grantAccess',
  'askOperator',
  'seeReceiver',
  'seeTarget',
  'followDoctor',
  'explain',
  'wait',
] as const;
export type CauseStep = (typeof causeSteps)[number];

export interface ReachedPolicy {
  readonly namespace: string;
  readonly name: string;
  /** Whether workloads of it still run an image that failed. Only these are rolled back. */
  readonly runsFailed?: boolean;
  /** The name of the BaseImagePolicy that has created the policy. */
  readonly parent?: string;
}

export interface Cause {
  /** The id of the cause, which stays the same while the cause lasts: `registry/RegistryUnavailable/ghcr.io`. */
  readonly id: string;
  readonly kind: CauseKind;
  readonly urgency: Urgency;
  /** What it is about: the host of a registry, a repository with its tag, a policy, a line of the doctor. */
  readonly subject: string;
  /** A reason of docs/reasons.md, or a line of docs/doctor.md. */
  readonly reason: string;
  /** The message of one of the policies, for people. */
  readonly message: string;
  /** The message as a sentence with an id, for readers of other languages; absent for a text that has none. */
  readonly said?: Said | undefined;
  /** When the cause began; RFC 3339. Absent if that is not known. */
  readonly since?: string | undefined;
  /** The policies that the cause affects, by name. */
  readonly policies: readonly ReachedPolicy[];
  /** The numbers of workloads that run the previous image again, and that still run the failed one; only of an image that failed. */
  readonly rollouts?: { readonly rolledBack: number; readonly running: number } | undefined;
  /** The vulnerabilities of what runs that the waiting image fixes, the most severe first. */
  readonly fixes?: readonly Vulnerability[] | undefined;
  readonly step: CauseStep;
  /** The command that does the next step, or shows more. */
  readonly command?: string | undefined;
}

/** Orders causes: the most urgent first, then those that reach most policies, then the oldest. What blocks the installation reaches every policy. Critical fixes come after what is broken, and before all else. */
export function orderCauses(causes: readonly Cause[]): Cause[] {
  return causes.toSorted(compareCauses);
}

/** Below zero if the first cause comes before the second one. */
export function compareCauses(a: Cause, b: Cause): number {
  return (
    rankOf(a) - rankOf(b) ||
    Number(blocksAll(b)) - Number(blocksAll(a)) ||
    b.policies.length - a.policies.length ||
    compareTexts(a.since ?? '', b.since ?? '') ||
    compareTexts(a.id, b.id)
  );
}

/** The rank of an urgency, the most urgent first. */
function rankOf({ urgency, fixes: [first] = [] }: Cause): number {
  const rank = urgencies.indexOf(urgency);
  return first?.severity === 'Critical' ? Math.min(rank, urgencies.indexOf('Blocked') - 0.5) : rank;
}

function compareTexts(a: string, b: string): number {
  return a === b ? 0 : a < b ? -1 : 1;
}

const blocksAll = ({ kind, urgency, policies }: Cause): boolean =>
  kind === 'installation' && urgency === 'Blocked' && policies.length === 0;

/** All causes without those that another one says as well, and says better. */
export function withoutRepeated(causes: readonly Cause[]): Cause[] {
  const registries = new Set(
    causes.filter(({ kind, policies }) => kind === 'registry' && policies.length > 0).map(({ subject }) => subject),
  );
  const bases = new Set(causes.filter(({ kind, reason }) => kind === 'base' && reason === 'BaseRejected').map(({ subject }) => subject));
  // The policies whose requests fail say whom the registry reaches. A base that failed says where it failed; only what still runs it needs more.
  const isRepeated = ({ kind, reason, subject, urgency, policies }: Cause) =>
    kind === 'registry'
      ? reason === 'registries/reachable' && registries.has(subject)
      : kind === 'image' &&
        urgency !== 'Broken' &&
        policies.every(({ namespace, parent }) => parent !== undefined && bases.has(`${namespace}/${parent}`));
  return causes.filter((one) => !isRepeated(one));
}
