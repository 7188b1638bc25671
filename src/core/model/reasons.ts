/**
 * Every reason that users can see in conditions, Events, audit records and metrics. Stable: a reason is never renamed and
 * never reused for something else, because users alert on it.
 */
export const reasons = {
  // Reasons of a policy that is in order.
  Updated: 'a workload was updated to the selected image',
  UpToDate: 'every workload already runs the selected image',
  Progressing: 'a workload was changed, and its rollout is under way',
  RolledOut: 'the rollout of a change is done',
  RolloutNotWatched: 'the kind of the workload reports no rollout, so that its success is not known',

  // Reasons to ignore a webhook event, without storing it, because it announces no push of an image.
  OtherEvent: 'an event that announces no push: a pull, a scan, a deletion, a ping',
  Malformed: 'a body that is not what the provider sends',
  Incomplete: 'a push that lacks what names it: repository, resource, or all of its shape',
  NoRegistry: 'the payload names no registry, and the receiver none either',
  NoTag: 'an image that was pushed by its digest only',
  Referrer: 'a signature or attestation of an image, by its tag',
  InvalidName: 'a repository or tag that cannot be one',

  // Reasons why a push changed nothing.
  NoPolicy: 'no ImagePolicy watches the repository',
  NotSelected: 'the policy does not select the pushed tag',
  OlderThanRunning: 'what runs is newer than what was pushed',
  Retagged: 'the tag moved to another digest, or may have moved, but the policy pins tags only',
  OtherTrack: 'what runs is of another track than the selected tag, such as another variant of the image',
  NotComparable: 'what runs cannot be compared with the candidates of the policy',
  CompanionMissing: 'the registry does not hold the companions that belong to the image',
  PlatformMissing: 'the image does not have every platform that the policy asks for',
  NotAnImage: 'what the tag points to is no image that can run: a chart, a signature or another artifact',
  OtherArtifact: 'what the tag points to is an artifact of another kind than the policy selects',
  TagGone: 'the registry does not hold the tag that runs any more; it is kept',
  TagNotFound: 'the registry does not hold the announced tag',
  NamespaceNotSelected: 'the configuration does not select the namespace',
  PolicyGone: 'the policy was deleted before it was reconciled',
  Suspended: 'the policy is suspended by its spec',

  // Reasons of a BaseImagePolicy and of the images that are built on its base.
  ImagesBehind: 'images are built on an older version of the base than the selected one',
  ImagesUnknown: 'no image is known to be behind its base, but some could not be compared with all its versions',
  BaseBetween: 'a base that the image is built on as well is brought forward first, by its own BaseImagePolicy',
  BaseRejected: 'rollouts of images on the base failed, and it is not used again',
  RebaseRefused: 'the layers of the image may not be replaced by those of the base',
  ImageHasNoTag: 'workloads name the image by its digest alone, so that a rebased image has no tag to be called after',
  SourceUnknown: 'the image does not say which source it is built from',
  RebuildPending: 'the CI system has not accepted the request for a rebuild yet',
  RebuildRefused: 'the CI system refused the request for a rebuild',
  RebuildOverdue: 'a rebuild was requested, and its image has not come in time',

  // Reasons why a rollout failed, and what happened afterwards.
  RolloutFailed: 'the rollout of a change failed',
  ProgressDeadlineExceeded: 'the controller of the workload gave up its rollout',
  RolloutTimedOut: 'the rollout took longer than the policy allows',
  ImagePullFailed: 'the new pods cannot pull the image',
  CrashLoop: 'the new pods crash repeatedly',
  CheckFailed: 'a check of the policy (rollout.checks) gave a bad verdict on the image',
  CheckTimedOut: 'a check of the policy (rollout.checks) gave no verdict in time',
  UpgradeFailed: 'the tool that installs the chart gave up its upgrade',
  RolledBack: 'the rollout failed, and the workload was rolled back to an earlier image',
  RollbackFailed: 'the rollout failed, and the workload could not be rolled back to the previous image',
  RollbackRefused: 'the rollout failed, and the policy as it is now does not allow a rollback to the previous image',

  // Reasons why an update is blocked or delayed.
  DryRun: 'the policy only reports what it would do',
  ApprovalRequired: 'the update waits until somebody approves its digest',
  ApprovalSuperseded: 'another image is selected instead of the one that waited for approval',
  ApprovalsEnded: 'approvals do not count any more, and others are needed',
  Superseded: 'another image was selected or applied before the pushed one was out',
  Window: 'the update waits for the next window of the policy',
  NotProven: 'the update waits until the policies that this one follows have run the image, complete and available, for long enough',
  NotCopied: 'the repository does not hold the image that the followed policies run',
  Held: 'a manual change replaced our image, and stays until there is a newer one',
  OnHold: 'somebody holds the policy at what it runs',
  UnlikelyVersion: 'the first change would go to a version that is far from what runs, or to an older image, and the policy names no range',
  MoreVulnerable: 'the image has more vulnerabilities than the one that runs (verify.vulnerabilities.notMoreThanRunning)',
  VulnerabilitiesUnknown:
    'the vulnerabilities of the image are not known, and the policy demands that they are (verify.vulnerabilities.notMoreThanRunning)',
  RejectedDigest: 'the image failed a rollout, was rolled back or was rejected, and is not applied',
  RollbackRequested: 'a user rolled back to an older image',
  RejectedByUser: 'a user rejected the image',
  NoEarlierImage: 'a requested rollback changed nothing',
  Withdrawn: 'the user withdrew the request before it was processed',
  TargetPaused: 'the rollouts of the workload are paused',
  RolloutRetry: 'the rollout failed for another reason than the image, and is tried again after a pause',
  RetriesExhausted: 'rollouts of the image failed several times for another reason than the image, and it is not tried again by itself',
  TooManyChanges: 'the workload was changed to the same image too often within an hour',
  CheckPending: 'the update waits for the verdict of a check of the policy (rollout.checks)',
  WavePending: 'the workload is changed when the workloads before it have rolled out',
  WavePause: 'the workload is changed when the pause after the last wave is over',

  // Problems that the user must fix.
  ChangeReverted: 'a GitOps tool reverts the image each time',
  InvalidPolicy: 'the spec cannot be understood',
  ApproversUnverified: 'the policy asks for several approvals, and nothing makes sure who approves',
  InvalidTagPolicy: 'the pattern or the range of the tag policy cannot be parsed, or the patterns are too large',
  NotYetSupported: 'the spec uses a feature that this version does not have yet',
  UnsupportedTargetKind: 'the target kind cannot be updated',
  TargetNotFound: 'the target does not exist',
  TargetKindUnknown: 'the API server does not know the kind of a target',
  TargetKindForbidden: 'the service may not list or watch the kind of a target',
  TooManyTargets: 'the targets of a policy select more workloads than one policy may have',
  TooManyKinds: 'the policies of a namespace name more kinds of custom resources than one namespace may',
  FieldNotAllowed: 'a field of the target is not one that the operator lets policies write',
  FieldPathMissing: 'a field of the target has no parent that could hold it',
  FieldNotText: 'a field of the target holds something other than text',
  ContainerNotFound: 'no container of the target runs the repository',
  CompanionShared: 'another policy changes a container that the policy changes alongside its own',
  CrossNamespaceDenied: 'the configuration denies targets in other namespaces',
  NoConsent: 'the target is in another namespace, which does not allow policies from here',
  NoMatchingTag: 'the repository holds no tag that the policy selects',
  RepositoryNotFound: 'the registry does not know the repository',
  RegistryDenied: 'the registry refused the credentials; pushes are retried for 24 h with growing pauses',
  RegistryRefused: 'the configuration does not allow this registry',
  PatchRejected: 'the API server rejected the change, and would do so again',
  NotSigned: 'the policy requires a signature, and the image has none',
  SignatureInvalid: 'the image has signatures, but none that the policy accepts',
  VerificationKeyInvalid: 'no key to verify signatures with can be read from its Secret',
  TrustRootMissing: 'the policy requires keyless signatures, and the configuration has no trust root',

  // Findings that a user should check.
  FixAvailable: 'what runs has vulnerabilities that an image fixes, and that image waits',
  WebhookMissing: 'polls found images that no webhook had announced',

  // Problems that will resolve themselves.
  MinAge: 'the image is younger than the minimum age of the policy',
  WaitsForScan: 'the push waits until the registry has scanned the image',
  NotShownYet: 'the registry does not show yet what it announced',
  RegistryThrottled: 'the registry asked for a pause (429 or Retry-After)',
  RegistryUnavailable: 'the registry fails or does not answer; requests pause for a while',
  RegistryBusy: 'too many requests wait for the registry, or its answer was the largest of too many large ones',
  Retrying: 'an attempt failed and is repeated with growing pauses',
} as const;

export type Reason = keyof typeof reasons;

/** Whether a text is a reason of ours. */
export function isReason(text: string | undefined): text is Reason {
  return text !== undefined && Object.hasOwn(reasons, text);
}

/** The pages for users, where the repository of the project shows them: reasons.md has a row for each reason, which leads to its explanation. */
export const documentation = 'https://github.com/technomad/image-watcher/blob/main/docs';

/** The reasons of a policy that is in order. Commands and pages print no links to their explanations. */
export const reasonsInOrder: ReadonlySet<string> = new Set<Reason>(['UpToDate', 'Updated', 'RolledOut']);

/** The section that explains a reason. Its anchor never changes, like the reason itself. */
export function pageOf(reason: Reason): string {
  return `${documentation}/reasons.md#${reason.toLowerCase()}`;
}

/** Reasons why a receiver ignores a webhook event: the labels of `image_watcher_ignored_pushes_total`. */
export const ignoredReasons = [
  'OtherEvent',
  'Malformed',
  'Incomplete',
  'NoRegistry',
  'NotAnImage',
  'NoTag',
  'Referrer',
  'InvalidName',
] as const satisfies readonly Reason[];

export type IgnoredReason = (typeof ignoredReasons)[number];
