/** Explanations of the reasons why a rollout failed, and why an update is blocked or delayed. */
import type { Reason } from '../../src/core/model/reasons.ts';
import { shownAs, type Explanation } from './explanation.ts';

type Explanations = Readonly<Partial<Record<Reason, Explanation>>>;

export const rollouts = {
  RolloutFailed: {
    shown:
      '[`Stalled`](#condition-stalled), and [`Held`](#condition-held) with `onFailure: Hold`; a Warning Event of the policy and of the workload; the alert ' +
      '`ImageWatcherRolloutFailed`. After a rollback, only the Event remains, and the condition is [`RejectedDigest`](#rejecteddigest).',
    cause:
      'A workload that image-watcher changed did not come up, and still runs the failed image: `onFailure` is `Hold` or `Ignore` (the default of a policy ' +
      'without `spec.rollout`), or it could not be rolled back. The message contains that of the pod or of the controller.',
    action:
      'Fix the image and push a newer one, or run `image-watcher rollback NS/NAME`. The condition also clears if the rollout completes after all, for example ' +
      'because a missing Secret was created.',
  },
  ProgressDeadlineExceeded: {
    shown: shownAs.rejected,
    cause:
      'The controller of the Deployment gave up the rollout after `progressDeadlineSeconds`. Pods that an admission webhook denies end here too; a quota ' +
      'does not count.',
    action:
      'Run `kubectl describe` for the Deployment and its new pods. Then push a fixed image. If starting takes long, raise the deadline of the Deployment.',
  },
  RolloutTimedOut: {
    shown: shownAs.rejected,
    cause:
      'A new pod has existed for longer than `spec.rollout.timeout` without becoming ready, and the time since the change is longer too.',
    action:
      'Look at the readiness probe and the log of the new pod. Push a fixed image, or raise `spec.rollout.timeout` if the program starts slowly.',
  },
  ImagePullFailed: {
    shown: shownAs.rejected,
    cause:
      'The kubelet could not pull the image of a new pod for 20 s, or the name of the image is invalid. image-watcher could read the image, but the node ' +
      'cannot: it lacks credentials, a route to the registry, or trust in its certificate.',
    action:
      'Read the message of the pod. Check the `imagePullSecrets` of the workload, the platform of the image and the network of the nodes. Then push a newer ' +
      'image, or run `image-watcher release NS/NAME` to try the same one again.',
  },
  CrashLoop: {
    shown: shownAs.rejected,
    cause:
      'A changed container of a new pod is in `CrashLoopBackOff` for the second time, or has terminated three times without becoming ready.',
    action:
      'Read the log of the container: `kubectl logs POD --previous`. Push a fixed image. If the cause was something else, such as a database, run ' +
      '`image-watcher release NS/NAME` to try the same image again.',
  },
  CheckFailed: {
    shown:
      '[`Held`](#condition-held) for a check before the change. For one during or after the rollout as a failed rollout: `status.rejected` has the digest, and the message the name of the check. `status.checks` lists the verdicts.',
    cause:
      'A check of the policy ([`rollout.checks`](checks.md)) gave a bad verdict on the image: an endpoint said `fail`, a number of a query was not in its range, or a Job failed.',
    action:
      'Push a better image. If the check was wrong, correct it, which asks it anew before a change, or run `image-watcher release NS/NAME`, which asks all checks of the image again.',
  },
  CheckTimedOut: {
    shown:
      '[`Held`](#condition-held) for a check before the change. For one during or after the rollout as a failed rollout for another reason than the image: it is rolled back and tried again ([`RolloutRetry`](#rolloutretry)).',
    cause:
      'A check of the policy ([`rollout.checks`](checks.md)) gave no verdict within its `timeout`. The message is the last answer: an endpoint that is not reached or not allowed, a query without data, a Job that did not end or may not be made.',
    action: 'Do what the message says, then run `image-watcher release NS/NAME`.',
  },
  UpgradeFailed: {
    shown: shownAs.rejected,
    cause:
      'The controller of Flux or Argo CD has given up the installation of a [chart](charts.md): a HelmRelease or OCIRepository is `Stalled`, or the sync of an ' +
      'Application has failed, or left it Degraded. The message is that of the controller.',
    action:
      'Read the status of the resource. Push a fixed chart. If the cause was something else, run `image-watcher release NS/NAME` to try the same chart again.',
  },
  RolledBack: {
    shown:
      'A Warning Event of the policy and of the workload, `status.history[].result`; the push has the outcome `stalled`. The condition has the reason ' +
      '[`RejectedDigest`](#rejecteddigest).',
    cause:
      'The rollout of a new image failed, and the policy has `spec.rollout.onFailure: Rollback`. The workload runs the last image again whose rollout had succeeded, or what ran right before.',
    action: 'Fix the image and push a newer one; the same digest is not tried again. The Event contains the message of the failed pod.',
  },
  RollbackFailed: {
    shown:
      'A Warning Event of the policy and of the workload, the alert `ImageWatcherRollbackFailed`, and `status.history[].rollbackRefused` if the API server ' +
      'rejected the patch. The condition has the reason [`RolloutFailed`](#rolloutfailed).',
    cause:
      'The previous image is unknown or had the same tag, the failed change was itself a rollback, or the API server rejected the patch. The message says ' +
      'which. The failed image stays in place.',
    action: 'Run `image-watcher rollback NS/NAME --to TAG` with a tag that works, set the image yourself, or push a fixed image.',
  },
  RollbackRefused: {
    shown:
      'A Warning Event of the policy, `status.history[].rollbackRefused`, the alert `ImageWatcherRollbackFailed`. The condition has the reason ' +
      '[`RolloutFailed`](#rolloutfailed).',
    cause:
      'The policy no longer allows the change: the previous image is of another repository or lacks the signatures that the policy requires, the workload ' +
      'is no longer a target, its owners do not consent, or `spec.update.mode` is `DryRun`.',
    action:
      'Read the message. If consent or a signature is missing, add it: the rollback is retried with growing pauses for a day. Otherwise run ' +
      '`image-watcher rollback NS/NAME --to TAG`, or push a fixed image.',
  },
} as const satisfies Explanations;

export const blocked = {
  DryRun: {
    shown: '`Ready` is True; a Normal Event for each new plan. The message lists what would be changed.',
    cause: '`spec.update.mode` is `DryRun`, and an update is available.',
    action: 'Set `spec.update.mode: Automatic` to let image-watcher apply it.',
  },
  ApprovalRequired: {
    shown: 'The condition [`ApprovalRequired`](#condition-approvalrequired), `Ready` is True, `status.pendingApproval`, a Normal Event.',
    cause: '`spec.update.mode` is `Approval`, and the selected tag and digest are not approved. An approval applies to exactly one digest.',
    action:
      'Run `image-watcher approve NS/NAME`. If a newer image was pushed meanwhile, that one is pending instead, and an approval of the older one has no effect.',
  },
  ApprovalSuperseded: {
    shown:
      'A Normal Event, the record of activity, and the notification `ApprovalEnded`. The message says which image is selected instead.',
    cause: 'While an image waited for approval, the policy selected another one. Approvals of the former do not count for the latter.',
    action: 'Approve or reject the image that waits now: `status.pendingApproval`.',
  },
  Superseded: {
    shown:
      'The record of the push (`image-watcher events`), and the state `superseded` of a [pipeline](pipelines.md#without-the-command) that waits for it.',
    cause: 'While the image waited, or rolled out, the policy selected or applied another one, or somebody set another image.',
    action: 'Nothing, if the other image is the one that should run: its own push says what becomes of it.',
  },
  ApprovalsEnded: {
    shown:
      'A Normal Event, the record of activity, and the notification `ApprovalRequired`. `status.approvals.uncounted` says why each approval does not count.',
    cause:
      'With `approvals`, the others did not approve `within` the time, the policy was changed after an approval, or somebody took his approval back.',
    action: 'Approve the image again.',
  },
  Window: {
    shown: shownAs.pending,
    cause: 'The time is outside `spec.update.windows`.',
    action: 'Wait: the update is applied when the window opens. To update earlier, change `spec.update.windows`.',
  },
  Held: {
    shown: 'The condition [`Held`](#condition-held), `Ready` is True, a Normal Event. The message names who changed the image.',
    cause:
      'Somebody changed an image that image-watcher had applied, and the policy selects nothing newer than the image that was replaced.',
    action:
      'Nothing if the manual change should stay: the next newer image replaces it. Run `image-watcher release NS/NAME` to apply the selected image now. A ' +
      'release with a time in the future is shown in `status.waiting`.',
  },
  OnHold: {
    shown: 'The condition [`Held`](#condition-held), `Ready` is True, a Normal Event. The message names since when, by whom and why.',
    cause:
      'Somebody has run `image-watcher hold NS/NAME`, or written the annotation `operator.technomad.dev/hold`, and the policy selects something else than what runs.',
    action:
      'Nothing if it should stay. `image-watcher release NS/NAME` ends the hold, and `image-watcher promote NS/NAME` applies the selected image alone. A hold whose annotation ' +
      'does not begin with a time ends when the annotation is removed.',
  },
  RejectedDigest: {
    shown:
      '[`Stalled`](#condition-stalled) after a failed rollout; [`Held`](#condition-held) after a rollback or a rejection by a user. An Event says which image.',
    cause:
      'The selected image failed its rollout, or a user rolled back from it or rejected it. It is listed in `status.rejected` with its digest and is not applied again. ' +
      'After a rollback by a user, that includes everything that is not newer.',
    action:
      'Push a newer image; the same tag with a new digest is sufficient after a failed rollout. If the image is good after all, run ' +
      '`image-watcher release NS/NAME`.',
  },
  UnlikelyVersion: {
    shown: '[`Held`](#condition-held). An Event and `image-watcher explain` say which container, and why.',
    cause:
      'The policy selects by `semver` without a `range`, or with one that contains every version (`*`), and would change a container for the first time: to a major version more than ten times as high as the running ' +
      'one (`2021.12.16` in place of `10.11.4`), or to an image that was created more than a day before the running one. A held change stays held while these times cannot be read.',
    action:
      'Write the versions that you expect into `select.semver.range` (`>=10 <12`). If the selected image is the right one, run `image-watcher release NS/NAME`. Later changes are not checked. With a written range, `numerical` or `alphabetical` nothing is held; `image-watcher lint --cluster` warns of the same changes before.',
  },
  MoreVulnerable: {
    shown: '[`Held`](#condition-held), and `status.vulnerabilities`, which names what the image adds.',
    cause:
      'From the severity of `verify.vulnerabilities.notMoreThanRunning` on, the image has more vulnerabilities than the one that it would replace, by reports of the same scanner.',
    action:
      'Push an image with fewer of them. If it is to run all the same, run `image-watcher release NS/NAME`; `image-watcher explain NS/NAME` names the vulnerabilities.',
  },
  VulnerabilitiesUnknown: {
    shown:
      '`Reconciling` for an hour, then [`Held`](#condition-held); `status.vulnerabilities` says what is missing, and what does not count.',
    cause:
      'The policy demands with `verify.vulnerabilities.notMoreThanRunning` that the vulnerabilities of an image are known. There is no report of a scanner for it or for the running image, or none that counts.',
    action:
      'Attest the scan of the image, or let the scanner of the registry or of the cluster report it. It is looked at again after 15 s, then less and less often for an hour, and then with each poll or push. `image-watcher release NS/NAME` applies it without.',
  },
  RollbackRequested: {
    shown: '`status.rejected[].reason`. The condition has the reason [`RejectedDigest`](#rejecteddigest).',
    cause:
      'A user rolled back with `image-watcher rollback` or the annotation. The image that ran before the rollback is recorded, so that it is not applied again.',
    action: 'Push a newer image, or run `image-watcher release NS/NAME` to return to the selected one.',
  },
  RejectedByUser: {
    shown:
      '`status.rejected[].reason`; its message says who rejected the image or base, and why. The condition of an ImagePolicy has the reason [`RejectedDigest`](#rejecteddigest), and [`Held`](#condition-held) of a BaseImagePolicy has this one.',
    cause: 'A user rejected the image or base with `image-watcher reject`, on the dashboard, through the API or by the annotation.',
    action: 'Push a newer image, or run `image-watcher release NS/NAME` (`bipol/NAME -n NS` for a base) to take the rejection back.',
  },
  NoEarlierImage: {
    shown:
      '`status.lastRollbackProblem` and a Warning Event of the policy; `image-watcher rollback` prints it, and exits with code 1. No workload is changed.',
    cause:
      'A rollback was requested, but all targets run the tag already, or something keeps them from being changed, `status.history` has no earlier image that ' +
      'has not failed, the registry no longer has the tag, or the annotation is neither a tag nor `previous`. The message says which. No image is rejected ' +
      'because of it, and the conditions stay as they are.',
    action: 'Name another tag that the registry has: `image-watcher rollback NS/NAME --to TAG`.',
  },
  Withdrawn: {
    shown: 'The log message `policy reconciled` at `debug`, `image_watcher_reconciles_total`. The conditions do not change.',
    cause: 'The annotation that requested a rollback was removed or replaced before a worker processed it.',
    action: 'Nothing. If the annotation was replaced, the new request is processed.',
  },
  TargetPaused: {
    shown: 'The condition [`Held`](#condition-held), `Ready` is True, a Normal Event.',
    cause: 'The rollouts of the workload are paused (by `kubectl rollout pause`, or in its own spec), and an update is available.',
    action:
      'Resume it with the command that the message names: `kubectl rollout resume` for a Deployment, `kubectl argo rollouts promote` for a Rollout. The update is applied as soon as image-watcher sees that.',
  },
  TooManyChanges: {
    shown: shownAs.pending,
    cause:
      'The same image was written to a container `guards.repeatsPerHour` times within an hour (5 by default), because something else replaces it each time: ' +
      'another policy, a script or a controller.',
    action:
      'Find out what else writes the image: `kubectl get -o yaml --show-managed-fields` shows who. The next change is allowed at the time in ' +
      '`status.waiting`. A newer image is applied at once; `image-watcher release` does not end this wait.',
  },
  RolloutRetry: {
    shown:
      '[`Reconciling`](#condition-reconciling), with the message of the pod and the time in `status.waiting`; `status.history[].failure` of the change; a Warning Event ' +
      'says when it is tried again.',
    cause:
      'The rollout of the selected image failed and was rolled back, but nothing speaks against the image: its pods could not be scheduled or created, a node ' +
      'was lost, or the registry refused or did not answer the node. See [whose fault it is](rollouts.md#whose-fault-it-is).',
    action:
      'Mend what the message names. The image is tried again by itself; `image-watcher release NS/NAME` tries it at once, and so does an edit of the policy.',
  },
  RetriesExhausted: {
    shown: '[`Stalled`](#condition-stalled), with the message of the pod.',
    cause:
      'Four rollouts of the selected image failed, one after the other, for another reason than the image: see [`RolloutRetry`](#rolloutretry). The workload ' +
      'runs the previous image.',
    action:
      'Mend what the message names, then run `image-watcher release NS/NAME`. A newer image or an edit of the policy is tried as well.',
  },
  CheckPending: {
    shown: shownAs.pending,
    cause: 'The policy has checks before the change ([`rollout.checks`](checks.md)), and not all have a verdict on this image.',
    action: 'Nothing: the checks are asked until they answer. `status.checks` shows the last answer of each.',
  },
  WavePending: {
    shown: shownAs.pending,
    cause:
      'The policy changes its workloads in waves (`rollout.waves`), and this workload comes after others: after the canaries, or after those of the wave ' +
      'that rolls out now. The message names one of them.',
    action:
      'Nothing: the next wave begins when the rollouts of this one are complete. `kubectl rollout status` (for an Argo Rollout `kubectl argo rollouts get rollout`) shows what they wait for. If a canary is blocked by ' +
      'something else, such as a manual change, `image-watcher explain` names it.',
  },
  WavePause: {
    shown: shownAs.pending,
    cause: 'The last wave of the policy (`rollout.waves`) has rolled out, and its `pause` is not over.',
    action: 'Nothing: the next wave begins at the time in `status.waiting`. To begin it now, shorten `rollout.waves.pause`.',
  },
  NotProven: {
    shown: `${shownAs.pending} Where nothing can be said of a time, the condition \`Ready\`; \`status.follows\` shows each followed policy.`,
    cause:
      'The policy follows others (`select.proven` or `update.after`), and not all of them run the image, complete and available, or not yet for long enough. Where one of ' +
      'them was rolled back, or pods of it were unavailable, its time began anew.',
    action:
      'Nothing: the next change of a followed policy, or the end of the time, reconciles this one. The message names the policy that does not run it, and why: it may pin tags, be ' +
      'suspended, or its owners may not have [consented](policies/which-workloads.md#other-namespaces). `image-watcher promote NS/NAME` applies the image without the rest of the time.',
  },
  NotCopied: {
    shown: '[`Reconciling`](#condition-reconciling); a push has the outcome `waiting`.',
    cause:
      'The followed policies run an image, and the repository of this policy does not hold it. Its digest is compared: an image that was built again, or copied with fewer platforms, is another one.',
    action:
      'Copy the image, with all its platforms, for example with `crane copy` or a replication rule. The push of the copy reconciles the policy.',
  },
} as const satisfies Explanations;
