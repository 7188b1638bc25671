/** Explanations of the reasons of policies that are in order, of ignored webhook events, and of pushes that change nothing. */
import type { Reason } from '../../src/core/model/reasons.ts';
import { shownAs, type Explanation } from './explanation.ts';

type Explanations = Readonly<Partial<Record<Reason, Explanation>>>;

export const inOrder = {
  Updated: {
    shown: 'A Normal Event of the policy and of the workload; the push has the outcome `updated`.',
    cause: 'image-watcher patched the image of at least one workload. The Event names the old and the new image.',
    action: 'Nothing. The `Ready` condition is False until the [rollout](rollouts.md) is complete, unless rollouts are not watched.',
  },
  UpToDate: {
    shown: '`Ready` is True; a push has the outcome `unchanged`.',
    cause: 'No target needs a change. The message of `Ready` names what each target runs.',
    action:
      'Nothing. If you expected an update, compare `status.latest` with the tag that you pushed: `image-watcher explain NS/NAME` shows what the policy selects.',
  },
  Progressing: {
    shown: '`Ready` is False and [`Reconciling`](#condition-reconciling) is True; the message counts the pods.',
    cause:
      'A workload was changed, and the new pods are not all available yet. If pods cannot be created, for example because a quota is exhausted, the message ' +
      'says so.',
    action:
      'Wait: the state ends when the rollout completes or fails. If it lasts, read the message and run `kubectl describe` for the workload. A rollout whose ' +
      'pods cannot be created does not time out.',
  },
  RolledOut: {
    shown: 'A Normal Event of the policy and of the workload, `status.history[].result`; the push has the outcome `updated`.',
    cause: 'All pods of a changed workload run the new image and are available.',
    action: 'Nothing. Later failures of these pods are not failures of the rollout, and nothing is rolled back for them.',
  },
  RolloutNotWatched: {
    shown: 'A Normal Event of the policy and of the workload, after the change; the message of `Ready` repeats it.',
    cause:
      'The workload was changed, but cannot show whether the new image works: its kind has no rollout (a CronJob, for example), it updates only when pods ' +
      'are deleted (`OnDelete`), a partition holds all its pods, it is paused, or it has no replicas.',
    action:
      'Check the new image yourself. With `OnDelete`, delete the pods so that they are created again. A failure there is not rolled back.',
  },
} as const satisfies Explanations;

export const ignoredEvents = {
  OtherEvent: {
    shown: shownAs.ignoredEvent,
    cause: 'The registry sends more than pushes: pulls, scans, deletions, or a ping when the webhook is created.',
    action: 'Nothing. To save requests, select only the push event in the webhook of the registry.',
  },
  Malformed: {
    shown:
      'The response to the webhook (200, "not understood: …"), the log message `delivery not understood`, `image_watcher_malformed_deliveries_total`, and ' +
      'the alert `ImageWatcherSenderNotUnderstood`.',
    cause:
      'The request was authentic, but its body is not what the provider of the receiver sends: the receiver has the wrong `provider`, or the format changed.',
    action:
      'Compare `receivers[].provider` with the sender. Save a body from the delivery log of the registry and parse it with `image-watcher simulate`. Then ' +
      'deliver the push again from the registry.',
  },
  Incomplete: {
    shown: shownAs.ignoredEvent,
    cause: 'The event is a push, but does not name its repository, tag or resource, or they have another type than expected.',
    action:
      'If the sender is a template of your own (`generic`), send `repository` and `tag` as in [receivers](receivers.md). Otherwise parse the body with ' +
      '`image-watcher simulate` and report it as a bug.',
  },
  NoRegistry: {
    shown: shownAs.ignoredEvent,
    cause: 'The payload does not contain the host of its registry, and the receiver does not configure one.',
    action:
      'Set `receivers[].registry` to the host in the image names of your workloads, restart the receivers, and deliver the push again.',
  },
  NoTag: {
    shown: shownAs.ignoredEvent,
    cause: 'The image was pushed by digest, without a tag. Build tools push the platforms of an image like this, before the tag.',
    action: 'Nothing if a tag follows. Policies select tags: an image that is pushed only by digest is never selected.',
  },
  Referrer: {
    shown: shownAs.ignoredEvent,
    cause: 'The pushed tag belongs to a signature, an attestation or an SBOM of an image, such as `sha256-….sig`.',
    action: 'Nothing. Signatures are read when the image is [verified](signatures.md).',
  },
  InvalidName: {
    shown: shownAs.ignoredEvent,
    cause: 'The repository or the tag in the payload cannot be the name of an image.',
    action:
      'Check what the sender names: with Artifactory and Nexus, map the keys of repositories with `receivers[].repositories`. `image-watcher simulate` shows ' +
      'what a body becomes.',
  },
} as const satisfies Explanations;

export const unchanged = {
  NoPolicy: {
    shown: 'The push has the outcome `unwatched` (`image-watcher events --outcome unwatched`); `image_watcher_unwatched_pushes_total`.',
    cause: 'The worker knows no policy whose `spec.image` is the pushed repository.',
    action:
      'If a policy should match, compare the registry and repository that `image-watcher events` shows with `spec.image`. If the registry has several host ' +
      'names, list them in `registries[].aliases`, or set `receivers[].registry`. Then run `image-watcher replay ID`.',
  },
  NotSelected: {
    shown: shownAs.ignoredPush,
    cause: 'The tag is not in the range, does not match the patterns, or is not the tag that the policy follows. The message says which.',
    action:
      'Nothing if that is intended. Otherwise change `spec.select` or `spec.tags`; `image-watcher explain NS/NAME` with `--push` tries a tag without a push.',
  },
  OtherTrack: {
    shown: `${shownAs.unchangedPush} In the status, the container is \`Kept\`, with the tag in its message; \`Ready\` stays True.`,
    cause:
      'A container that the policy has never changed runs a tag of another track than the selected one: another variant (`1.0.0-alpine`, where `1.1.0` is selected), another prefix, a tag that another ' +
      'policy follows on this workload, or one that cannot be compared (a commit, a number of builds) and that another policy selects for this container. The policy may be meant for another container.',
    action:
      'Nothing, if the container is to stay. Otherwise name it in `spec.targets[].containers`, or write `takeOver: true` in the target; for a variant of its own, write a second policy whose `tags.allow` takes that variant.',
  },
  OlderThanRunning: {
    shown: `${shownAs.unchangedPush} In the status, the target is \`Kept\`; \`Ready\` stays True.`,
    cause: 'The workload runs a newer tag than the one that was pushed, by the order of `spec.select`.',
    action:
      'Nothing: image-watcher does not downgrade by itself. To return to an older image, run `image-watcher rollback NS/NAME --to TAG`. With ' +
      '`spec.update.allowDowngrade`, what the policy selects replaces newer images too.',
  },
  Retagged: {
    shown: `${shownAs.unchangedPush} The message of \`Ready\` repeats it if another digest is known.`,
    cause:
      'A tag that already runs was pushed again with another digest, or is announced with a digest of which it is not known whether it is the one that runs, as of a ' +
      'workload that was started by hand. With `spec.update.pin: Tag`, the workload would contain the same text as before.',
    action:
      'Push a new tag for each build, or set `spec.update.pin: Digest`, so that the new digest is rolled out. Pods that are created later may run either ' +
      'image, depending on what their node has cached.',
  },
  NotComparable: {
    shown: shownAs.stalled,
    cause:
      'A target runs a tag that the policy does not select and that has no order relative to the selected one, and the policy has already changed something ' +
      'before. So somebody else set this image.',
    action:
      'Set the image once yourself to a tag that the policy selects (`kubectl set image`), or change `spec.select`. The policy is reconciled again as soon ' +
      'as the workload or the policy changes.',
  },
  PlatformMissing: {
    shown: `${shownAs.ignoredPush} If none of the best ten tags has the platforms, the policy is \`Stalled\`.`,
    cause: 'The image does not have every platform in `spec.platforms`. The message lists what is missing and what the image has.',
    action:
      'Build the image for all platforms, and push it again; or remove a platform from `spec.platforms`. Until then the policy uses the next best tag that ' +
      'has them, and its message names the tag that was passed over.',
  },
  CompanionMissing: {
    shown:
      '`Reconciling`, and `status.waiting` until `spec.alongside.within` is over; `status.incomplete` lists what is missing. A push of an image that was passed over is ignored.',
    cause:
      'The registry does not hold every image in `spec.alongside` that belongs to the selected one: the same tag, one of the same commit, or the digest that it lists. Nothing is changed to a part of them. ' +
      'The message names what is missing, and what is wrong with a list.',
    action:
      'Push what is missing: the policy goes on at once. Where the image itself does not name its commit or its companions, [build it again](releases.md#which-images-belong-together) ' +
      'with them. Otherwise the image is passed over when the time is over, and the next best tag whose companions are complete is used; it is ' +
      'taken after all when they come later.',
  },
  NotAnImage: {
    shown: `${shownAs.ignoredPush} A receiver also ignores pushes that say themselves that they are signatures, attestations or SBOMs. If no tag is an image, the policy is \`Stalled\`.`,
    cause:
      'The policy selects images, and the tag points to a Helm chart, a signature or another artifact that a container cannot run. [Image volumes](targets.md#image-volumes) may use ' +
      'artifacts, as long as no container of the targets runs the same repository.',
    action:
      'Nothing if the repository contains images too: the next best tag that is an image is used. Exclude the tags of artifacts with `spec.tags.ignore`, or ' +
      'push them to a repository of their own. If the policy is meant for them, write the `spec.artifact` that the message names ([charts](charts.md)).',
  },
  OtherArtifact: {
    shown: `${shownAs.ignoredPush} If no tag is what the policy selects, the policy is \`Stalled\`.`,
    cause:
      'The policy has `spec.artifact: Chart`, and the manifest of the tag is not that of a Helm chart; or it has `spec.artifact: Any`, and the tag is a ' +
      'signature, an attestation or an SBOM, which describe another artifact. The message says what the manifest is.',
    action:
      'Nothing if the repository contains charts too: the next best tag that is one is used. If the policy is meant for what was pushed, write the ' +
      '`spec.artifact` that the message names; without the field, a policy selects images ([charts](charts.md)).',
  },
  TagGone: {
    shown: 'The condition [`TagGone`](#condition-taggone), a Warning Event of the policy.',
    cause:
      'A poll found that the registry no longer has the tag that a target runs, and has nothing newer. The running image is not changed.',
    action:
      'Push the tag again, or push a newer one: a new pod may fail to pull the image. With `spec.update.allowDowngrade`, an older tag replaces it. The ' +
      'condition clears at the next poll after that, or with the next update.',
  },
  TagNotFound: {
    shown: shownAs.ignoredPush,
    cause:
      'A webhook announced a tag, but the registry did not have it 10 s later. It was deleted at once, or image-watcher asks another registry than the one ' +
      'that sent the webhook.',
    action:
      'Check that the tag exists, and that the registry in `image-watcher events` is the one that it was pushed to (`receivers[].registry`, ' +
      '`registries[].aliases`). Then run `image-watcher replay ID`. The poll finds the tag as well.',
  },
  NamespaceNotSelected: {
    shown:
      'A push has the outcome `ignored` for the policy; `image-watcher explain NS/NAME` with the configuration as `--config` says it, and so does `image-watcher check NS/NAME --server URL`; `Ready` is False and `Stalled` is True if it is about a target in another namespace.',
    cause:
      'The labels of the Namespace do not match `watch.namespaceSelector` of the configuration. Nothing is written to policies there: ' +
      'another installation may be responsible for them.',
    action:
      'Label the Namespace as the selector asks for, or change the selector. The policies are then reconciled at once, without a restart; ' +
      'pushes need not be replayed.',
  },
  PolicyGone: {
    shown: shownAs.ignoredPush,
    cause: 'The policy was deleted, or deleted and created again, between the push and the reconcile.',
    action: 'Nothing. A policy that was created again is reconciled by itself.',
  },
  Suspended: {
    shown: '`Ready` is True; a push has the outcome `suspended`.',
    cause: '`spec.suspend` is true. The registry is not asked, and no workload is changed.',
    action:
      'Run `image-watcher resume NS/NAME`. The policy then selects from what the registry has at that time; pushes need not be replayed.',
  },
} as const satisfies Explanations;
