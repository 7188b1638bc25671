/** What each reason of a policy is about, how urgent it is, and what to do. */
import type { Reason } from '../../core/model/reasons.ts';
import type { CauseKind, CauseStep, Urgency } from './cause.ts';

export interface ReasonRule {
  /** The thing that policies with this reason share. Policies that share one are one cause. */
  readonly kind: Extract<CauseKind, 'image' | 'registry' | 'repository' | 'policy' | 'namespace' | 'installation'>;
  readonly urgency: Urgency;
  readonly step: CauseStep;
  /** The reason that is the same cause: an image that failed is one, whether it is rolled back or still runs. */
  readonly sameAs?: Reason;
}

const blocked = (kind: ReasonRule['kind'], step: CauseStep): ReasonRule => ({ kind, urgency: 'Blocked', step });
const passing = (kind: ReasonRule['kind'], step: CauseStep): ReasonRule => ({ kind, urgency: 'Passing', step });

/** The rule for a policy that is stalled for a reason without a rule of its own. */
export const otherReason: ReasonRule = blocked('policy', 'explain');

/** The rules. Reasons that are no problem, such as a window that is awaited, have none. */
const rules = {
  // The image is to blame, or failed on its way.
  RolloutFailed: blocked('image', 'pushBetter'),
  RejectedDigest: { ...blocked('image', 'pushBetter'), sameAs: 'RolloutFailed' },
  RolloutRetry: { ...passing('image', 'wait'), sameAs: 'RetriesExhausted' },
  RetriesExhausted: blocked('image', 'release'),
  NotSigned: blocked('image', 'sign'),
  SignatureInvalid: blocked('image', 'sign'),
  MoreVulnerable: blocked('image', 'pushBetter'),
  VulnerabilitiesUnknown: blocked('image', 'explain'),
  NotAnImage: blocked('image', 'explain'),
  OtherArtifact: blocked('image', 'explain'),
  PlatformMissing: blocked('image', 'explain'),
  CompanionMissing: blocked('image', 'explain'),
  BaseRejected: blocked('policy', 'seeBase'),

  // The registry, and what it shows.
  RegistryUnavailable: passing('registry', 'check'),
  RegistryThrottled: passing('registry', 'wait'),
  RegistryBusy: passing('registry', 'wait'),
  RegistryDenied: blocked('registry', 'giveCredentials'),
  RegistryRefused: blocked('registry', 'allowRegistry'),
  RepositoryNotFound: blocked('repository', 'correctPolicy'),
  NoMatchingTag: blocked('repository', 'explain'),

  // Somebody has changed what the policy manages, and has to say what he wants.
  Held: { kind: 'policy', urgency: 'Warning', step: 'release' },
  OnHold: { kind: 'policy', urgency: 'Warning', step: 'release' },
  UnlikelyVersion: blocked('policy', 'release'),
  ChangeReverted: blocked('policy', 'release'),
  TooManyChanges: blocked('policy', 'release'),
  TargetPaused: { kind: 'policy', urgency: 'Warning', step: 'resume' },
  NoEarlierImage: blocked('policy', 'explain'),

  // The policy or its targets.
  InvalidPolicy: blocked('policy', 'correctPolicy'),
  InvalidTagPolicy: blocked('policy', 'correctPolicy'),
  NotComparable: blocked('policy', 'explain'),
  OtherTrack: blocked('policy', 'explain'),
  UnsupportedTargetKind: blocked('policy', 'correctPolicy'),
  TargetNotFound: blocked('policy', 'correctTarget'),
  ContainerNotFound: blocked('policy', 'correctTarget'),
  CompanionShared: blocked('policy', 'correctPolicy'),
  FieldPathMissing: blocked('policy', 'correctTarget'),
  FieldNotText: blocked('policy', 'correctTarget'),
  TooManyTargets: blocked('policy', 'correctPolicy'),
  PatchRejected: blocked('policy', 'explain'),
  VerificationKeyInvalid: blocked('policy', 'explain'),

  // The owners of a namespace, or those who operate the service.
  CrossNamespaceDenied: blocked('namespace', 'askOperator'),
  NoConsent: blocked('namespace', 'giveConsent'),
  TooManyKinds: blocked('namespace', 'correctPolicy'),
  FieldNotAllowed: blocked('namespace', 'askOperator'),
  NotYetSupported: blocked('installation', 'askOperator'),
  TargetKindUnknown: blocked('installation', 'installDefinition'),
  TargetKindForbidden: blocked('installation', 'grantAccess'),
  TrustRootMissing: blocked('installation', 'askOperator'),
  Retrying: passing('installation', 'wait'),
} as const satisfies Partial<Record<Reason, ReasonRule>>;

/** The reasons that have a rule. Pages have a sentence for each. */
export type CauseReason = keyof typeof rules;

export const reasonRules: Readonly<Partial<Record<Reason, ReasonRule>>> = rules;
