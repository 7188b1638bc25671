/** The sentences about causes in English: what is wrong, and the one thing to do. */
import type { CauseStep, Urgency } from '../../service/causes/cause.ts';
import type { CauseReason } from '../../service/causes/reason-rules.ts';
import type { TargetReason } from '../../core/model/notification-target.ts';

type FailedTarget = Exclude<TargetReason, 'Configured' | 'Delivered' | 'Suspended'>;

export const causesEn = {
  urgencies: { Broken: 'Broken', Blocked: 'Blocked', Warning: 'Warning', Passing: 'Passing' } satisfies Record<Urgency, string>,
  sentences: {
    RolloutFailed: (image: string) => `${image} fails its rollout`,
    RejectedDigest: (image: string) => `${image} failed, and is not tried again`,
    RolloutRetry: (image: string) => `${image} is tried again: its rollout failed for another reason than the image`,
    RetriesExhausted: (image: string) => `${image} failed several times for another reason than the image`,
    NotSigned: (image: string) => `${image} is not signed`,
    SignatureInvalid: (image: string) => `${image} has no signature that is accepted`,
    NotAnImage: (image: string) => `${image} is no image that can run`,
    PlatformMissing: (image: string) => `${image} lacks a platform that is asked for`,
    BaseRejected: (policy: string) => `The base of ${policy} failed, and is not used again`,
    RegistryUnavailable: (host: string) => `${host} does not answer`,
    RegistryThrottled: (host: string) => `${host} asks for a pause`,
    RegistryBusy: (host: string) => `Too many requests wait for ${host}`,
    RegistryDenied: (host: string) => `${host} refuses the credentials`,
    RegistryRefused: (host: string) => `${host} is not allowed by the configuration`,
    RepositoryNotFound: (repository: string) => `${repository} is not known to its registry`,
    NoMatchingTag: (repository: string) => `${repository} has no tag that is selected`,
    Held: (policy: string) => `${policy} keeps an image that somebody has set`,
    UnlikelyVersion: (policy: string) => `${policy} would go to a version far from what runs`,
    ChangeReverted: (policy: string) => `The changes of ${policy} are reverted by a GitOps tool`,
    TooManyChanges: (policy: string) => `${policy} changed a workload to the same image too often`,
    TargetPaused: (policy: string) => `A workload of ${policy} is paused`,
    NoEarlierImage: (policy: string) => `${policy} has no earlier image to roll back to`,
    InvalidPolicy: (policy: string) => `${policy} cannot be understood`,
    InvalidTagPolicy: (policy: string) => `${policy} has a pattern or range that cannot be used`,
    NotComparable: (policy: string) => `${policy} cannot compare what runs with its candidates`,
    OtherTrack: (policy: string) => `${policy} leaves an image of another track alone`,
    UnsupportedTargetKind: (policy: string) => `${policy} names a kind that cannot be updated`,
    TargetNotFound: (policy: string) => `A target of ${policy} does not exist`,
    ContainerNotFound: (policy: string) => `No container of ${policy} runs its repository`,
    FieldPathMissing: (policy: string) => `A field of ${policy} does not exist`,
    FieldNotText: (policy: string) => `A field of ${policy} holds no text`,
    TooManyTargets: (policy: string) => `${policy} selects too many workloads`,
    PatchRejected: (policy: string) => `The API server rejects the change of ${policy}`,
    VerificationKeyInvalid: (policy: string) => `${policy} has no key to verify signatures with`,
    CrossNamespaceDenied: (namespace: string) => `Targets outside of ${namespace} are denied by the configuration`,
    NoConsent: (namespace: string) => `Other namespaces do not allow policies from ${namespace}`,
    TooManyKinds: (namespace: string) => `The policies of ${namespace} name too many kinds`,
    FieldNotAllowed: (namespace: string) => `Policies of ${namespace} name a field that is not allowed`,
    NotYetSupported: () => 'Policies use a feature that this version does not have',
    TargetKindUnknown: () => 'The API server does not know the kind of targets',
    TargetKindForbidden: () => 'The service may not watch the kind of targets',
    TrustRootMissing: () => 'Keyless signatures are required, and no trust root is configured',
    Retrying: () => 'Attempts fail and are repeated',
    ImagesUnknown: (base: string) => `Images on the base ${base} could not be compared with it`,
    ImagesBehind: (base: string) => `Images are behind the base ${base}`,
  } satisfies Record<CauseReason | 'ImagesUnknown' | 'ImagesBehind', (subject: string) => string>,
  notifications: {
    InvalidTarget: (target: string) => `The notification target ${target} cannot be understood`,
    TooManyTargets: (target: string) => `The notification target ${target} is one too many in its namespace`,
    SecretNotUsable: (target: string) => `The Secret of the notification target ${target} cannot be used`,
    HostNotAllowed: (target: string) => `The host of the notification target ${target} is not allowed`,
    NotAccepted: (target: string) => `The notification target ${target} does not accept messages`,
  } satisfies Record<FailedTarget, (target: string) => string>,
  findings: {
    'webhooks/received': (receiver: string) => `The receiver ${receiver} gets no pushes that it accepts`,
    'webhooks/announced': (host: string) => `No webhook announces the pushes of ${host}`,
    'registries/reachable': (host: string) => `${host} cannot be read`,
  },
  finding: (line: string) => (line.startsWith('redis/') ? `Redis: ${line.slice('redis/'.length)}` : `The installation: ${line}`),
  other: (subject: string) => `${subject} does not go on`,
  rollouts: (rolledBack: number, running: number) =>
    [
      rolledBack > 0 ? `rolled back on ${rolledBack === 1 ? '1 workload' : `${rolledBack} workloads`}` : '',
      running > 0 ? `still running on ${running === 1 ? '1 workload' : `${running} workloads`}` : 'the image before it runs again',
    ]
      .filter((part) => part !== '')
      .join(', '),
  reach: (policies: number, namespaces: number) =>
    `${policies === 1 ? '1 policy' : `${policies} policies`}${namespaces > 1 ? ` in ${namespaces} namespaces` : ''}`,
  steps: {
    rollBack: 'Roll back',
    pushBetter: 'Push a better image, or release this one to try it again',
    release: 'Release it to try again',
    check: 'Test again',
    correctPolicy: 'Correct the policy',
    correctTarget: 'Create or correct the target',
    giveCredentials: 'Give credentials that may read it',
    allowRegistry: 'Allow it in the configuration (registries, allowedRegistries)',
    giveConsent: 'Ask the owners of the namespace for consent',
    sign: 'Sign the image',
    resume: 'Resume the rollout of the workload',
    seeBase: 'See the images on the base',
    installDefinition: 'Install the definition, or correct the target',
    grantAccess: 'Grant the service access to the kind',
    askOperator: 'Ask who operates image-watcher',
    seeReceiver: 'Compare the secret and the URL at the sender',
    seeTarget: 'Correct the target or its Secret',
    followDoctor: 'Do what the message says',
    explain: 'See why, step by step',
    wait: 'Nothing: it goes on by itself',
  } satisfies Record<CauseStep, string>,
  waits: (waiting: number, policies: number) =>
    `Nothing needs somebody now. ${waiting} of ${policies === 1 ? '1 policy' : `${policies} policies`} ${waiting === 1 ? 'waits' : 'wait'} for what should pass by itself.`,
  allWell: (policies: number) => `Everything goes on: ${policies === 1 ? '1 policy' : `${policies} policies`}.`,
  noPolicies: 'You see no policies.',
  verdict: (causes: number, affected: number, total: number, namespaces: number) =>
    `${causes === 1 ? '1 cause needs' : `${causes} causes need`} somebody. ${
      affected === 0
        ? `All ${total} policies go on.`
        : `${affected} of ${total} policies${namespaces > 1 ? `, in ${namespaces} namespaces,` : ''} do not go on.`
    }`,
  asOf: 'As of',
  doctorAsOf: 'installation checked',
  doctorPending: 'the installation is being checked',
  passing: (count: number) => (count === 1 ? '1 more goes on by itself' : `${count} more go on by themselves`),
  more: (count: number) => `${count} more causes are not shown.`,
  whatToDo: 'What to do',
  gone: 'This cause is gone.',
  changedLately: 'Changed lately',
  reached: 'Policies that it reaches',
  actOnChosen: (action: string) => `${action}: the chosen policies`,
};
