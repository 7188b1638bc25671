/** Explanations of the conditions of a policy. */
import type { ConditionType } from '../../src/core/status/condition-states.ts';
import type { Explanation } from './explanation.ts';

/** By type, in the order of the page; `meaning` is its first line. */
export const conditions = {
  Ready: {
    meaning: 'Whether every target runs what the policy selects, or is intentionally kept from it.',
    shown: 'Always, True or False; also in `kubectl get ipol`, with its reason; `-o wide` adds the message.',
    cause:
      'True: the targets are up to date and rolled out, or the policy is suspended, a dry run, waits for approval, or is held. False: `Reconciling` or ' +
      '`Stalled` is True as well, with the same reason.',
    action: '`kubectl wait --for=condition=Ready ipol/NAME` waits until what is selected runs everywhere. If it is False, read its reason.',
  },
  Reconciling: {
    meaning: 'image-watcher is at work, or waits, and continues without a user.',
    shown:
      'Only while it is True; `Ready` is then False. If attempts fail, a Warning Event is recorded after the first one, and then once an hour for each reason.',
    cause:
      'A rollout is in progress, an attempt failed and is repeated, a registry asked for a pause, or the selected image waits for its age or for a window. ' +
      '`status.waiting` shows until when.',
    action: 'Nothing, unless it lasts: then its message shows what fails.',
  },
  Stalled: {
    meaning: 'A user has to act: the policy makes no progress by itself.',
    shown: 'Only while it is True; `Ready` is then False. A Warning Event is recorded when the reason or the message changes.',
    cause: 'The policy, a target, the image, the credentials or a permission has a problem that retrying cannot solve.',
    action:
      'Do what the message and the section of its reason say. Most reasons clear as soon as the policy, its targets or its Secrets change; a push, a poll or ' +
      '`image-watcher check NS/NAME` tries again as well.',
  },
  ApprovalRequired: {
    meaning: 'An image waits for the approval of a user.',
    shown: 'Only while it is True; `Ready` stays True.',
    cause: '`spec.update.mode` is `Approval`; `status.pendingApproval` holds the tag and the digest.',
    action: 'Run `image-watcher approve NS/NAME`.',
  },
  Held: {
    meaning: 'A target keeps another image than the selected one.',
    shown: 'Only while it is True. `Ready` stays True, unless the reason is [`RolloutFailed`](#rolloutfailed).',
    cause:
      'A manual change ([`Held`](#held)), a rollback that a user requested ([`RejectedDigest`](#rejecteddigest)), a paused Deployment ' +
      '([`TargetPaused`](#targetpaused)), or a failed rollout with `onFailure: Hold`.',
    action:
      'Nothing if that is intended. Push something newer, or run `image-watcher release NS/NAME`; a paused Deployment must be resumed.',
  },
  TagGone: {
    meaning: 'The registry no longer has the tag that a target runs.',
    shown: 'Only while it is True; `Ready` does not change.',
    cause: 'See the reason [`TagGone`](#taggone).',
    action: 'Push the tag again, or a newer one.',
  },
  CrossNamespace: {
    meaning: 'The policy updates targets in other namespaces whose owners have not consented.',
    shown: 'Only while it is True; `Ready` does not change. Its reason is [`NoConsent`](#noconsent).',
    cause: 'The setting `crossNamespace` is `legacy`, which keeps policies of older versions working during an upgrade.',
    action:
      'Run `image-watcher consents` and add the consents that it lists; then set `crossNamespace: consent` ' +
      '([upgrading](upgrading.md#targets-in-other-namespaces)).',
  },
} as const satisfies Readonly<Record<ConditionType, Explanation & { readonly meaning: string }>>;
