import type { Spec } from '../../../service/resources/v1.ts';
import { describeError } from '../../../core/model/errors.ts';
import { formatRepository, parseImageReference, type Repository } from '../../../core/model/image-reference.ts';
import { fieldsOf, type JsonObject, textOrEmpty } from '../../../core/model/untyped.ts';
import { convertDuration } from '../go-duration.ts';
import { findAnywhere, onlyTagOf } from '../tag-patterns.ts';
import { convertConstraint } from '../version-constraint.ts';
import type { FluxAutomation, FluxPolicy, FluxRepository } from './resources.ts';

/** The converted resources of Flux, before their targets are known. */
export interface ConvertedPolicy {
  readonly repository: Repository;
  readonly spec: Omit<Spec, 'targets'>;
  /** Whether Flux writes the digest after the tag. */
  readonly hasDigest: boolean;
  /** The Secret with the credentials of the registry, and its namespace. */
  readonly secret?: { readonly name: string; readonly namespace: string };
  readonly notes: readonly string[];
}

type Part<T> = T | { readonly problem: string };
type Selected = Part<{ readonly select: Spec['select']; readonly ignore?: readonly string[]; readonly notes?: readonly string[] }>;

/** The selection of a policy of Flux in its repository, or why no policy is equivalent. */
export function convertPolicy(
  policy: FluxPolicy,
  { namespace, spec: repository }: FluxRepository,
  automations: readonly FluxAutomation[],
): Part<ConvertedPolicy> {
  try {
    const image = parseImageReference(textOrEmpty(repository['image'])).repository;
    const reflection = textOrEmpty(policy.spec['digestReflectionPolicy']) || 'Never';
    const filter = convertFilter(fieldsOf(policy.spec['filterTags']));
    if ('problem' in filter) return filter;
    const selected = convertSelection(fieldsOf(policy.spec['policy']));
    if ('problem' in selected) return selected;
    const only = onlyTagOf(textOrEmpty(fieldsOf(policy.spec['filterTags'])['pattern']));
    const follows = only !== undefined && reflection === 'Always' && selected.select.alphabetical !== undefined;
    const ignore = [...convertExclusions(repository), ...(selected.ignore ?? [])];
    const hasTags = filter.allow !== undefined || ignore.length > 0;
    const secret = textOrEmpty(fieldsOf(repository['secretRef'])['name']);
    const poll = convertPoll(policy.spec, repository, reflection);
    const pushed = automations.find(({ pushesTo }) => pushesTo !== undefined);
    const isSuspended = [policy.spec, repository].some(({ suspend }) => suspend === true) || areAllSuspended(automations);
    return {
      repository: image,
      spec: {
        image: formatRepository(image),
        select: follows ? { digest: { tag: only } } : selected.select,
        ...(hasTags && !follows && { tags: { ...filter, ...(ignore.length > 0 && { ignore }) } }),
        ...(secret !== '' && { pullSecrets: [{ name: secret }] }),
        ...(pushed !== undefined && { update: { mode: 'Approval' as const } }),
        ...(poll.interval !== undefined && { poll: { interval: poll.interval } }),
        ...(isSuspended && { suspend: true }),
      },
      hasDigest: reflection !== 'Never' && !follows,
      ...(secret !== '' && { secret: { name: secret, namespace } }),
      notes: [
        ...(selected.notes ?? []),
        ...(selected.ignore?.length && filter.extract !== undefined
          ? ['tags.ignore is compared with the whole tag, not with what tags.extract makes of it: check it.']
          : []),
        ...(reflection === 'IfNotPresent'
          ? ['Flux keeps the digest that a tag had first; here a tag that is pushed again is applied with its new digest.']
          : []),
        ...(poll.note === undefined ? [] : [poll.note]),
        ...(isSuspended ? ['It is suspended, as in Flux: `image-watcher resume` starts it.'] : []),
        ...(pushed === undefined
          ? []
          : [
              `Flux pushes to the branch ${pushed.pushesTo} (ImageUpdateAutomation ${pushed.name}), from where somebody merges; here an update waits for an approval.`,
            ]),
        ...notesOnAccess(repository, formatRepository(image)),
      ],
    };
  } catch (error) {
    return { problem: describeError(error) };
  }
}

function areAllSuspended(automations: readonly FluxAutomation[]): boolean {
  return automations.length > 0 && automations.every(({ isSuspended }) => isSuspended);
}

function convertSelection(policy: JsonObject): Selected {
  const { semver, alphabetical, numerical } = policy;
  if (semver !== undefined) {
    const converted = convertConstraint(textOrEmpty(fieldsOf(semver)['range']));
    return 'problem' in converted ? converted : { select: { semver: converted.semver }, ignore: converted.ignore, notes: converted.notes };
  }
  const written = alphabetical ?? numerical;
  if (written === undefined) return { problem: 'it has no policy: Flux selects nothing' };
  if (textOrEmpty(fieldsOf(written)['order']).toLowerCase() === 'desc')
    return { problem: 'its order is desc, which selects the smallest tag: a policy selects the greatest' };
  return { select: alphabetical === undefined ? { numerical: {} } : { alphabetical: {} } };
}

function convertFilter({ pattern, extract }: JsonObject): Part<NonNullable<Spec['tags']>> {
  const text = textOrEmpty(pattern);
  if (text === '') return {};
  const found = findAnywhere(text);
  if ('problem' in found) return found;
  const template = textOrEmpty(extract);
  if (template === '') return found;
  return { allow: found.allow ?? '^.*$', extract: template };
}

/** Patterns that Flux ignores by default, and that need no equivalent: signatures are never candidates in a policy. */
const always = new Set([String.raw`^.*\.sig$`]);

function convertExclusions({ exclusionList }: JsonObject): string[] {
  const list: readonly unknown[] = Array.isArray(exclusionList) ? exclusionList : [];
  return list.filter((pattern): pattern is string => typeof pattern === 'string' && !always.has(pattern));
}

/** The shorter of the two intervals of Flux, because a policy has one interval for tags and digests. */
function convertPoll(policy: JsonObject, repository: JsonObject, reflection: string): { interval?: string; note?: string } {
  const text = reflection === 'Always' && typeof policy['interval'] === 'string' ? policy['interval'] : repository['interval'];
  if (typeof text !== 'string') return {};
  const interval = convertDuration(text);
  if (interval === undefined)
    return { note: `The interval "${text}" has no counterpart: the poll is that of the configuration (poll.interval).` };
  return { interval };
}

function notesOnAccess(repository: JsonObject, image: string): string[] {
  const host = image.split('/')[0] ?? '';
  const nameOf = (field: string) => textOrEmpty(fieldsOf(repository[field])['name']);
  const provider = textOrEmpty(repository['provider']);
  const account = textOrEmpty(repository['serviceAccountName']);
  const [certificate, proxy] = [nameOf('certSecretRef'), nameOf('proxySecretRef')];
  return [
    ...(['aws', 'azure', 'gcp'].includes(provider)
      ? [
          `Flux uses its identity in a cloud (provider: ${provider}): give that of image-watcher access to ${host} (credentials.cloud of its configuration).`,
        ]
      : []),
    ...(account === ''
      ? []
      : [`The service account ${account} is not used: name its pull secrets in spec.pullSecrets; those of the pods are used anyway.`]),
    ...(certificate === ''
      ? []
      : [
          `The certificates of the Secret ${certificate} are not used: set registries: [{host: ${host}, caFile: …}] in the configuration; client certificates have no counterpart.`,
        ]),
    ...(proxy === ''
      ? []
      : [`The proxy of the Secret ${proxy} is not used: set registries: [{host: ${host}, proxy: …}] in the configuration.`]),
    ...(repository['insecure'] === true
      ? [`Set registries: [{host: ${host}, insecure: true}] in the configuration: plain http is not assumed.`]
      : []),
  ];
}
