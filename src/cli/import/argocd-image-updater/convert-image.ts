import type { Spec } from '../../../service/resources/v1.ts';
import { describeError } from '../../../core/model/errors.ts';
import {
  formatRepository,
  isTag,
  parseImageReference,
  type Repository,
  sameRepository,
  tryParseImageReference,
} from '../../../core/model/image-reference.ts';
import { compilePattern } from '../../../core/model/pattern.ts';
import { fieldsOf, textOrEmpty } from '../../../core/model/untyped.ts';
import { findAnywhere, globPattern } from '../tag-patterns.ts';
import { convertConstraint } from '../version-constraint.ts';
import type { ImageSettings, WriteBack } from './settings.ts';

/** The converted settings of an image, before its targets are known. */
export interface ConvertedImage {
  readonly repository: Repository;
  readonly spec: Omit<Spec, 'targets'>;
  /** The Secrets that the policy names, each with its namespace. */
  readonly secrets: readonly { readonly name: string; readonly namespace: string }[];
  readonly notes: readonly string[];
}

type OrProblem<T> = T | { readonly problem: string };

/** The policy for an image, without targets, or why no policy is equivalent. */
export function convertImage(settings: ImageSettings, { isMerged }: WriteBack): OrProblem<ConvertedImage> {
  try {
    const { repository } = parseImageReference(settings.image);
    const selected = convertSelection(settings);
    if ('problem' in selected) return selected;
    const secret = convertPullSecret(settings.pullSecret);
    const verify = convertVerification(settings);
    const [platform, ...others] = settings.platforms;
    const readsPlatform = platform !== undefined && others.length === 0 && platform.includes('/') && selected.select.semver === undefined;
    const isPaused = settings.ignoreTags.includes('*');
    return {
      repository,
      spec: {
        image: formatRepository(repository),
        select: selected.select,
        ...(selected.tags && Object.keys(selected.tags).length > 0 && { tags: selected.tags }),
        ...(readsPlatform && { platforms: [platform] }),
        ...(secret.name !== undefined && { pullSecrets: [{ name: secret.name }] }),
        ...(isMerged && { update: { mode: 'Approval' as const } }),
        ...(verify && { verify: { cosign: { keys: [{ secretRef: verify }] } } }),
        ...(isPaused && { suspend: true }),
      },
      secrets: secret.name === undefined ? [] : [{ name: secret.name, namespace: secret.namespace }],
      notes: [
        ...selected.notes,
        ...(isPaused ? ['All tags are ignored, which pauses the image; here the policy is suspended.'] : []),
        ...(secret.note === undefined ? [] : [secret.note]),
        ...(isMerged ? ['An update is merged by somebody (pull request or branch); here it waits for an approval.'] : []),
        ...(verify ? [`Copy the Secret ${verify.name} with the public key into the namespace of the policy.`] : []),
        ...notesOn(settings, repository, readsPlatform),
      ],
    };
  } catch (error) {
    return { problem: describeError(error) };
  }
}

interface Selected {
  readonly select: Spec['select'];
  readonly tags?: NonNullable<Spec['tags']>;
  readonly notes: readonly string[];
}

function convertSelection(settings: ImageSettings): OrProblem<Selected> {
  const { constraint, allowTags, ignoreTags } = settings;
  const allowed = convertAllowed(allowTags);
  if ('problem' in allowed) return allowed;
  const ignored = ignoreTags.filter((glob) => glob !== '*').map(globPattern);
  const wrong = ignored.find((one) => 'problem' in one);
  if (wrong !== undefined && 'problem' in wrong) return wrong;
  const ignore = ignored.flatMap((one) => ('allow' in one && one.allow !== undefined ? [one.allow] : []));
  const tags = { ...allowed, ...(ignore.length > 0 && { ignore }) };
  switch (settings.strategy) {
    case 'digest':
      if (!isTag(constraint))
        return { problem: 'the strategy "digest" needs a tag behind the name of the image, and does nothing without one' };
      return { select: { digest: { tag: constraint } }, notes: [] };
    case 'newest-build':
    case 'latest':
      return { select: { newest: {} }, tags, notes: [] };
    case 'alphabetical':
    case 'name':
      return { select: { alphabetical: {} }, tags, notes: [] };
    default:
      return convertVersions(settings, tags);
  }
}

const threeNumbers = 'Only tags with three numbers are candidates; Argo CD Image Updater takes 1.20 for 1.20.0.';

function convertVersions({ strategy, constraint }: ImageSettings, tags: NonNullable<Spec['tags']>): OrProblem<Selected> {
  const converted = constraint === '' ? { semver: {}, ignore: [], notes: [] } : convertConstraint(constraint);
  if ('problem' in converted) return { problem: `${converted.problem}, and the strategy "semver" does nothing with it` };
  const ignore = [...(tags.ignore ?? []), ...converted.ignore];
  const two = twoNumbers(tags.allow);
  return {
    select: { semver: converted.semver },
    tags: { ...tags, ...two, ...(ignore.length > 0 && { ignore }) },
    notes: [
      ...(['', 'semver'].includes(strategy) ? [] : [`"${strategy}" is no strategy, and "semver" is used instead.`]),
      ...converted.notes,
      two === undefined ? threeNumbers : 'A third number is added to the tags, which have two.',
    ],
  };
}

/** The pattern for versions of two numbers, which are not semantic versions. Where a pattern admits only these, a third number is appended. */
function twoNumbers(allow: string | undefined): { allow: string; extract: string } | undefined {
  if (allow === undefined || allow.includes('|') || !allow.startsWith('^') || !allow.endsWith('$')) return undefined;
  const pattern = compilePattern(allow);
  const matches = (tags: readonly string[]) => tags.some((tag) => pattern.matchWhole(tag) !== undefined);
  if (!matches(['1.2', 'v1.2', '1.20', 'v1.20']) || matches(['1.2.3', 'v1.2.3', '1.20.3', 'v1.20.3', '1.2.3-rc.1'])) return undefined;
  return { allow: `^(?P<version>${allow.slice(1, -1)})$`, extract: '${version}.0' };
}

function convertAllowed(allowTags: string): OrProblem<{ allow?: string }> {
  if (allowTags === '' || allowTags === 'any') return {};
  if (allowTags.startsWith('regexp:')) return findAnywhere(allowTags.slice('regexp:'.length));
  return { problem: `"${allowTags}" is no match function, so Argo CD Image Updater admits no tag` };
}

type PullSecret =
  | { readonly name: string; readonly namespace: string; readonly note?: never }
  | { readonly name?: never; readonly note?: string };

function convertPullSecret(written: string): PullSecret {
  if (written === '') return {};
  const colon = written.indexOf(':');
  const [namespace = '', name = '', ...more] = written.slice(colon + 1).split('/');
  if (written.startsWith('pullsecret:') && name !== '' && more.length === 0) return { name, namespace };
  if (written.startsWith('secret:'))
    return {
      note: `"${written}" is a field with USER:PASSWORD: create a Secret of type kubernetes.io/dockerconfigjson with it, and name that in pullSecrets.`,
    };
  return {
    note: `The credentials "${written}" have no counterpart: name a Secret in pullSecrets, or see docs/credentials.md; those of the pods are used anyway.`,
  };
}

function convertVerification({ verification }: ImageSettings): { name: string; key: string } | undefined {
  const { secretName, key } = fieldsOf(verification['cosignKey']);
  if (verification['enabled'] === false || typeof secretName !== 'string') return undefined;
  return { name: secretName, key: textOrEmpty(key) || 'cosign.pub' };
}

function notesOn(settings: ImageSettings, repository: Repository, readsPlatform: boolean): string[] {
  const { platforms, forceUpdate, kustomizeName, usesPlugin } = settings;
  const replaced = kustomizeName === '' ? undefined : tryParseImageReference(kustomizeName)?.repository;
  return [
    ...(platforms.length > 0 && !readsPlatform
      ? [
          `The platforms ${platforms.join(', ')} are left out: Argo CD Image Updater admits an image with one of them, and only for newest-build and digest; spec.platforms requires all.`,
        ]
      : []),
    ...(forceUpdate ? ['force-update has no counterpart: only containers and fields that have the image are changed.'] : []),
    ...(replaced !== undefined && !sameRepository(replaced, repository)
      ? [`Kustomize replaces ${kustomizeName} by this image: the workload has to run ${formatRepository(repository)}.`]
      : []),
    ...(usesPlugin ? ['The environment variables of the plugin are not written.'] : []),
  ];
}
