/** Explanations of the problems that a user must fix, of findings, and of problems that resolve themselves. */
import type { Reason } from '../../src/core/model/reasons.ts';
import { shownAs, type Explanation } from './explanation.ts';

type Explanations = Readonly<Partial<Record<Reason, Explanation>>>;

export const problems = {
  ChangeReverted: {
    shown: shownAs.stalled,
    cause:
      'A GitOps tool (Argo CD, Flux, Helm and others) has replaced the same image twice after image-watcher applied it. image-watcher stops, because the ' +
      'tool would do it again.',
    action:
      'Write the image where the tool reads it, target the resource that the tool reads ([targets](targets.md#who-else-writes-there)), or configure the tool ' +
      'to ignore the field. Then run `image-watcher release NS/NAME`. A newer image is tried without a release.',
  },
  InvalidPolicy: {
    shown: shownAs.stalled,
    cause: 'A field of the policy has a value that image-watcher cannot use. The message begins with the path of the field.',
    action: 'Correct the policy; it is reconciled at once. `image-watcher lint` finds these problems in files before they are applied.',
  },
  ApproversUnverified: {
    shown: shownAs.stalled,
    cause:
      'The policy has `update.approvals`, or a BaseImagePolicy `approvals`, and the setting `admissionPolicy` is false: without the admission policy of the chart, whoever may patch the policy could approve in the name of anybody.',
    action:
      'Install the chart with `admissionPolicy: {enabled: true}` and `permissions: {clusterWide: true}`, which also sets `admissionPolicy`. Otherwise remove the field: then one approval is enough.',
  },
  InvalidTagPolicy: {
    shown: shownAs.stalled,
    cause:
      'A version range or an RE2 pattern in `spec.select` or `spec.tags` cannot be parsed or can match nothing, or the patterns are too expensive for the ' +
      'number of tags in the repository.',
    action:
      'Correct the expression, or simplify the pattern (smaller repetition counts); `image-watcher lint` checks it. The policy is reconciled as soon as it is ' +
      'changed.',
  },
  NotYetSupported: {
    shown: shownAs.stalled,
    cause:
      'The policy has a field that this version of image-watcher does not know, because the CustomResourceDefinition is newer than the workers.',
    action: 'Upgrade the workers, or remove the field. image-watcher changes nothing for this policy until then.',
  },
  UnsupportedTargetKind: {
    shown: shownAs.stalled,
    cause:
      'The kind of a target cannot be updated: it is not a supported built-in kind, it is not in a namespace, or `fields` are written for a kind that has ' +
      'containers.',
    action: 'Correct `spec.targets`. [Targets](targets.md) lists the supported kinds; custom resources need `apiVersion`.',
  },
  TargetNotFound: {
    shown: shownAs.stalled,
    cause:
      'The workload does not exist, no workload matches the selector, or its namespace is not in `watch.namespaces`. The other targets of the policy are ' +
      'updated all the same.',
    action: 'Create the workload, or correct its kind, name, namespace or labels. The policy is reconciled as soon as the workload exists.',
  },
  TargetKindUnknown: {
    shown: shownAs.stalled,
    cause:
      'The API server does not serve the kind of a target: its CustomResourceDefinition is not installed, or `apiVersion` or `kind` is misspelled.',
    action:
      'Install the definition or correct the target. The policy is reconciled as soon as the kind is served; with `watch.namespaces`, image-watcher asks for it after about ten seconds, and later every five minutes, or at once after an edit.',
  },
  TargetKindForbidden: {
    shown: shownAs.stalled,
    cause: 'The service account of image-watcher may not list or watch the kind of a target.',
    action:
      'Grant `get`, `list`, `watch` and `patch` on the resource in the message ([targets](targets.md#permissions)). The policy is reconciled by itself after that.',
  },
  TooManyTargets: {
    shown: shownAs.stalled,
    cause:
      'The targets of the policy select more than 2,000 workloads. None of the target in the message is changed; the other targets are.',
    action: 'Give each part of the workloads a policy of its own, with a narrower selector. The policy is reconciled by itself after that.',
  },
  TooManyKinds: {
    shown: shownAs.stalled,
    cause: 'The policies of the namespace together name more than 32 kinds of custom resources. The kinds of the oldest policies are used.',
    action: 'Remove targets of other kinds, or move policies to another namespace. The policy is reconciled by itself after that.',
  },
  FieldNotAllowed: {
    shown: shownAs.stalled,
    cause: 'A path in `fields` of a target is neither in the built-in list of image fields nor allowed by the configuration.',
    action:
      'Use a field that is [allowed](targets.md#which-fields-may-be-written), or ask the operator to add the entry in the message to `customTargets` and to ' +
      'restart the workers. `image-watcher lint` with `--config` checks both.',
  },
  FieldPathMissing: {
    shown: shownAs.stalled,
    cause: 'The parent of a field does not exist in the resource, and image-watcher never creates parents.',
    action: 'Correct the path, or write the field once yourself. The policy is reconciled as soon as the resource changes.',
  },
  FieldNotText: {
    shown: shownAs.stalled,
    cause: 'A field that should hold an image, a tag or a registry holds something else, such as an object or a list.',
    action: 'Name the field that holds the text, or correct the resource. The policy is reconciled as soon as the resource changes.',
  },
  ContainerNotFound: {
    shown: shownAs.stalled,
    cause:
      'No container of the target runs `spec.image`, or one of those in `containers` does not. Init containers count only with `initContainers: true`, ' +
      'volumes only with `volumes: true`. For `fields`, the repository in the resource is another one, or missing.',
    action:
      'Compare `spec.image` with the images of the workload, including the host. List other host names of the registry in `registries[].aliases`. The policy ' +
      'is reconciled as soon as the workload changes.',
  },
  CompanionShared: {
    shown: shownAs.stalled,
    cause:
      'Another ImagePolicy changes a container that runs an image in `spec.alongside`. It would change that container alone, and the images would no longer belong together.',
    action: 'Take the container out of one of the two policies. The policy is reconciled as soon as either changes.',
  },
  CrossNamespaceDenied: {
    shown: shownAs.stalled,
    cause: 'A target is in another namespace than the policy, and the setting `crossNamespace` is `deny`.',
    action:
      'Create a policy in the namespace of the target. Or the operator sets `crossNamespace: consent`, so that owners can agree, and restarts the workers; then run `image-watcher check NS/NAME`.',
  },
  NoConsent: {
    shown: `${shownAs.stalled} With \`crossNamespace: legacy\`, only the condition [\`CrossNamespace\`](#condition-crossnamespace).`,
    cause:
      'A target is in another namespace whose owners have not allowed policies of this namespace, or it does not exist: the message is the same, so that it ' +
      'reveals nothing.',
    action:
      'Ask the owners to set the annotation `operator.technomad.dev/allow-policies-from` on the workload or on its Namespace. The policy is reconciled as soon ' +
      'as they do. `image-watcher consents` lists what is missing.',
  },
  NoMatchingTag: {
    shown: shownAs.stalled,
    cause:
      'The registry has the repository, but none of its tags is selected by `spec.select` and `spec.tags`. The message explains why for one tag.',
    action:
      'Push a tag that matches, or change the selection. The policy recovers with the next push, poll or edit; `image-watcher check NS/NAME` asks the ' +
      'registry at once.',
  },
  RepositoryNotFound: {
    shown: shownAs.stalled,
    cause: 'The registry answers that it does not know the repository. Some registries answer the same if the credentials may not read it.',
    action:
      'Check the spelling of `spec.image`, push a first image, or configure [credentials](credentials.md). The policy recovers when its Secrets change and at ' +
      'the next push or poll; `image-watcher check NS/NAME` asks at once.',
  },
  RegistryDenied: {
    shown: `${shownAs.stalled} While its push is retried, the outcome is \`waiting\`.`,
    cause: 'The registry refused all credentials that image-watcher could use. The message lists each and why it was refused.',
    action:
      'Correct the Secret or the permissions in the registry ([credentials](credentials.md#registrydenied)). A changed Secret takes effect at once; pushes are ' +
      'retried by themselves for 24 h.',
  },
  RegistryRefused: {
    shown: shownAs.stalled,
    cause:
      'image-watcher may not send requests to this host: it is not in `allowedRegistries`, the registry redirects to plain HTTP, or the address is ' +
      'link-local or a metadata service.',
    action:
      'The operator adds the host to `allowedRegistries`, or sets `insecure: true` for it in `registries`, and restarts the workers; then run ' +
      '`image-watcher check NS/NAME`. Link-local addresses are never allowed.',
  },
  PatchRejected: {
    shown: shownAs.stalled,
    cause:
      'The API server refused to change the workload: its validation, an admission webhook or policy, or a missing permission. The message is that of the API server.',
    action:
      'Fix what the message names. For a missing permission, grant `patch` on the resource. The policy is reconciled when the workload changes; otherwise run ' +
      '`image-watcher check NS/NAME`.',
  },
  NotSigned: {
    shown: '[`Reconciling`](#condition-reconciling) for the first five minutes, then [`Stalled`](#condition-stalled) with a Warning Event.',
    cause:
      'The policy has `spec.verify`, and the registry has no signature of the digest. Signatures are pushed after their image, so image-watcher waits first.',
    action:
      'Sign the digest in the message with `cosign sign`. While the policy is Reconciling, the signature is found by itself; after that, at the next push or poll, or ' +
      'with `image-watcher check NS/NAME`.',
  },
  SignatureInvalid: {
    shown: shownAs.stalled,
    cause:
      'The image has signatures, but by another key or identity, for another digest, or invalid; or the chart has no provenance, or one that is not accepted. The message says what was found and what is required.',
    action:
      'Sign the image with an accepted key or identity, or correct `spec.verify`. If only keyless signatures of a new log are rejected, update the ' +
      '[trust root](signatures.md#signing-without-a-key). The policy recovers when its Secrets change, or at the next push or poll.',
  },
  VerificationKeyInvalid: {
    shown: shownAs.stalled,
    cause:
      'The Secret in `spec.verify` or its key does not exist, may not be read, or does not hold a public key: in PEM form for cosign, of OpenPGP for a provenance. ' +
      'Keys of OpenPGP that have expired, are revoked or may not sign do not count.',
    action: 'Create or correct the Secret in the namespace of the policy; the policy is reconciled as soon as it changes.',
  },
  TrustRootMissing: {
    shown: shownAs.stalled,
    cause: 'The policy requires keyless signatures, but the setting `verification.trustRootFile` is missing.',
    action:
      'The operator configures the file ([signatures](signatures.md#signing-without-a-key)) and restarts the workers; then run `image-watcher check NS/NAME`. Or the policy requires a key instead.',
  },
} as const satisfies Explanations;

export const findings = {
  FixAvailable: {
    shown: 'A [notification](notifications.md), and on the first page of the dashboard; no condition has this reason.',
    cause:
      'An image runs with [vulnerabilities](vulnerabilities.md), and the selected image or one that waits fixes them, of severity High or of what the policy names. ' +
      'It is not applied: it waits for its age, a window or an approval, is held, or the policy is suspended.',
    action:
      'The message says what it waits for: approve or release it, or resume the policy. To apply such images without these waits, write ' +
      '`minAgeUnless` or `update.windowsUnless`.',
  },
  WebhookMissing: {
    shown:
      'A Warning Event of the policy, a warning in the log, the alert `ImageWatcherWebhookLost`. The update itself was made by the poll.',
    cause:
      'Polls found three images of a registry that no webhook announced, and no webhook announced one in between. The Event repeats at the sixth, the twelfth ' +
      'and so on.',
    action: 'Follow [these steps](operations/polling.md). If the registry sends no webhooks and is only polled, ignore the Event.',
  },
} as const satisfies Explanations;

export const temporary = {
  MinAge: {
    shown: shownAs.pending,
    cause: 'The digest has been known for less than `spec.minAge`. A newer push does not restart the wait.',
    action: 'Wait: the image is applied at the time in `status.waiting`. To apply images earlier, lower `spec.minAge`.',
  },
  WaitsForScan: {
    shown: 'The push has the outcome `waiting`; policies do not show it.',
    cause:
      'The receiver has `waitForScan`, and the registry has not announced the end of the scan of the image. The push is stored, and starts with that announcement, or after 10 minutes.',
    action:
      'Nothing. If pushes always wait for 10 minutes, let the webhook of the project announce scans ([Harbor](receivers/harbor.md#images-that-are-scanned-first)); `image-watcher replay` starts one at once.',
  },
  NotShownYet: {
    shown: shownAs.retried,
    cause:
      'A webhook announced an image, but the registry does not serve the new digest yet. Registries announce a tag before it can be read.',
    action: 'Nothing: the registry is asked again for 10 s. After that its answer is used, and the next poll finds what was missed.',
  },
  RegistryThrottled: {
    shown: `${shownAs.retried} \`image_watcher_registry_postponed_total\`.`,
    cause: 'The registry answered 429 or sent `Retry-After`, or no pulls remain for the account (Docker Hub).',
    action:
      'Wait: the push is retried at the time in the message. If it happens often, configure [credentials](credentials.md) with a higher limit, set ' +
      '`registries[].requestsPerSecond`, or lengthen `poll.interval`.',
  },
  RegistryUnavailable: {
    shown: `${shownAs.retried} \`image_watcher_registry_circuit_open\`, the alert \`ImageWatcherRegistryFails\`.`,
    cause:
      'Five requests in a row for different repositories failed: no connection, no answer in time, or a 5xx. Requests to the host pause for up to 60 s at a time.',
    action: 'Restore the registry or the network to it. Pushes wait in the queue and continue by themselves.',
  },
  RegistryBusy: {
    shown: `${shownAs.retried} \`image_watcher_registry_postponed_total\`.`,
    cause:
      'So many requests wait for this registry that others would be delayed, or an answer was the largest of those that together took too much memory.',
    action:
      'Nothing: the push is retried within seconds, or within a minute for a large answer. If it lasts, the registry answers too slowly for the number of pushes.',
  },
  Retrying: {
    shown:
      '[`Reconciling`](#condition-reconciling) from the third failed attempt on; the push has the outcome `retrying`, and `failed` after 24 h. The log ' +
      'message `reconcile failed, will be repeated`.',
    cause:
      'An attempt failed for a reason that is usually temporary: the registry or the API server did not answer, or answered with an error. The message contains it.',
    action:
      'Wait: it is repeated after 1 s, then with growing pauses of up to 5 min, for 24 h. If it lasts, fix what the message names. Repeat a push that has ' +
      'failed with `image-watcher replay ID`.',
  },
} as const satisfies Explanations;
