/** Explanations of the reasons of a BaseImagePolicy, and of the images that are built on its base. */
import type { Reason } from '../../src/core/model/reasons.ts';
import type { Explanation } from './explanation.ts';

type Explanations = Readonly<Partial<Record<Reason, Explanation>>>;

export const ofBases = {
  ImagesBehind: {
    shown: '`Ready` of the BaseImagePolicy is True; `status.images.behind` counts the images, `status.dependents` lists the first.',
    cause: 'Workloads run images that are built on an older version of the base than `status.latest`.',
    action:
      '`status.dependents[].action` and its message say what is done about each image. With `report` alone, nothing is: add an action to `onNewBase`, or rebuild the image.',
  },
  ImagesUnknown: {
    shown:
      '`Ready` of the BaseImagePolicy is True; `status.images.unknown` counts the images, `status.versions.unread` the tags of the base that images are not compared with.',
    cause:
      'No image is known to be behind, but not all are known to be current: an image begins with the lowest layers of the base and with no known version of it, names a version that the registry does not have any more, or cannot be read; or not all tags of the base could be read.',
    action:
      'Read `status.dependents[].message` of the images that are `Unknown`. Let their builds name the base (`org.opencontainers.image.base.name` and `.digest`), build them anew, or leave their workloads out of `workloads`.',
  },
  BaseBetween: {
    shown: '`status.dependents` with the state `Behind`.',
    cause:
      'The image is built on this base through another one, such as a framework, whose own BaseImagePolicy brings its applications forward. So that one is brought to the new version first, and is listed as well, with 0 workloads. Or the new version is itself built on an older version of a base below it than the image is, and waits until it is brought forward.',
    action:
      'See what is done about the base in between: it needs an action that applies to its repository, or a rebuild. Then nothing. With `basesBetween: Skip` in this policy, applications do not wait for it.',
  },
  BaseRejected: {
    shown: '[`Stalled`](#condition-stalled) of the BaseImagePolicy; the base is in `status.rejected`.',
    cause:
      'As many rollouts failed as `waves.maxFailures` allows. No further workload is changed, and those that were changed are rolled back.',
    action:
      'Read the message, and push a mended base. To try the same base again, annotate the policy with `operator.technomad.dev/release: TIME`, a time after that of the rejection.',
  },
  RebaseRefused: {
    shown: '`status.dependents` with the state `Refused`.',
    cause:
      "The base's layers cannot be replaced in this image, or the new base changes something that the image relies on. The message names the rule.",
    action: 'Rebuild the image, or, if you accept the change, name the rule in `rebase.allow`.',
  },
  ImageHasNoTag: {
    shown: '`status.dependents` with the state `Refused`.',
    cause: 'The workloads name the image by its digest alone. The tag of a rebased image is made of the tag before.',
    action: 'Name the image by tag and digest, or rebuild it.',
  },
  SourceUnknown: {
    shown: '`status.dependents` with the state `Behind` and the action `trigger`.',
    cause:
      'The image has no annotation or label `org.opencontainers.image.source`, or has inherited that of its base, and the policy says `$source`; or it names a repository on another host, or one that is none of `sources`.',
    action: 'Let the build write the annotation, or name the repository in the policy.',
  },
  RebuildPending: {
    shown: '`status.dependents` with the state `Requested`.',
    cause: 'The request for a rebuild is stored, and the CI system has not accepted it yet.',
    action: 'Nothing: it is retried for a day. If it lasts, the message says what the CI system answers.',
  },
  RebuildRefused: {
    shown: '`status.dependents` with the state `Failed`; `status.requests[].message`.',
    cause: 'The CI system refused the request: the token, the project or the workflow is wrong.',
    action: 'Correct what the message names. The request is sent again for the next base, or when the policy is changed.',
  },
  RebuildOverdue: {
    shown: '`status.dependents` with the state `RebuildOverdue`.',
    cause: 'The CI system accepted the request, and after `rebuildWithin` no workload runs an image on the new base.',
    action:
      'Look at the pipeline of the source in `status.requests`. If the image was pushed, `image-watcher explain` shows why its ImagePolicy does not use it.',
  },
} as const satisfies Explanations;
