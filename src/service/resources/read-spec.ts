/** Reads `spec` of v1 into the form that the program works with. */
import type { z } from 'zod';
import { BoundedMap } from '../../core/async/bounded-map.ts';
import { artifactOf, type Artifact } from '../../core/model/artifact.ts';
import type { Alongside } from '../../core/model/companions.ts';
import { defined } from '../../core/model/defined.ts';
import { parseDuration } from '../../core/model/text.ts';
import { PermanentError } from '../../core/model/errors.ts';
import { checkFields, type FieldContext } from '../../core/model/field-rules.ts';
import type {
  ApprovalRules,
  PolicySpec,
  PolicyTarget,
  ProofRules,
  RolloutSettings,
  TargetFields,
  TargetParts,
  WaveSettings,
} from '../../core/model/image-policy.ts';
import { parseImageReference, type RegistryAliases, type Repository } from '../../core/model/image-reference.ts';
import {
  builtInSettings,
  type DefaultedSetting,
  type Origin,
  type Origins,
  rolloutOf,
  type SettingValues,
} from '../../core/model/policy-defaults.ts';
import type { TagStrategy } from '../../core/model/tag-strategy.ts';
import { isCustomVersion } from '../../core/model/workload.ts';
import { filterTags } from '../../core/select/filter-tags.ts';
import { withoutRebased } from '../../core/select/without-rebased.ts';
import { readCheck } from './read-check.ts';
import { readVerify } from './read-verify.ts';
import { buildStrategy, oneWay } from './build-strategy.ts';
import { inField } from './in-field.ts';
import type { OlderVersion } from './kinds.ts';
import { specSchema } from './v1.ts';
import { validateSpec } from './validate.ts';
import { pinOf } from './validation/check-target-fields.ts';
import { unknownFields } from './validation/spec-problems.ts';
import { withoutNulls } from './validation/walk-schema.ts';

/** The context that the meaning of a policy depends on besides its text. Defaults are added later (`withDefaults`). */
export interface ReadContext extends FieldContext {
  /** The versions other than v1 that the policy's author may have written. */
  readonly olderVersions: readonly OlderVersion[];
  /** Whether an admission policy makes sure that nobody approves in the name of somebody else. Otherwise nobody could count approvals. */
  readonly verifiesApprovers?: boolean;
}

type Spec = z.output<typeof specSchema>;
type Target = Spec['targets'][number];

/** The namespace and the version that a spec comes from. */
export interface SpecSource {
  /** The namespace of the policy. */
  readonly namespace: string;
  /** The version that the policy's author writes, in whose words problems are reported: `v1`, or the name of an older one. */
  readonly writtenIn: string;
}

/** Reads a spec in the shape of v1, with the built-in values for missing settings; throws a PermanentError that names everything that is wrong with it. */
export function readSpec(raw: unknown, { namespace, writtenIn }: SpecSource, context: ReadContext): PolicySpec {
  const spec = parseValid(raw, { namespace, writtenIn }, context);
  const strategy = readStrategy(spec);
  const repository = inField('spec.image', () => readRepository(spec.image, context.aliases));
  const written = readSettings(spec, spec.update?.windows, 'spec.');
  const { platforms = [] } = spec;
  // Mistakes are reported before unknown fields, because a newer version would not accept them either.
  const unknown = unknownFields(specSchema, withoutNulls(raw), ['spec']);
  if (unknown.length > 0) throw notYetSupported(unknown.map(({ path }) => path));
  return {
    repository,
    ...defined({ artifact: spec.artifact }),
    ...(spec.alongside !== undefined && { alongside: readAlongside(spec.alongside, context) }),
    strategy,
    pin: pinOf(spec),
    allowDowngrade: spec.update?.allowDowngrade ?? false,
    ...(platforms.length > 0 && { platforms }),
    ...defined({ minAgeMs: written.minAge, minAgeUnless: spec.minAgeUnless, windowsUnless: spec.update?.windowsUnless }),
    mode: spec.update?.mode ?? 'Automatic',
    ...(spec.update?.approvals !== undefined && { approvals: readApprovals(spec.update.approvals, 'update.approvals', context) }),
    windows: written.windows ?? builtInSettings.windows,
    targets: spec.targets.map((target, index) =>
      readTarget(target, index, { ...context, namespace, repository, artifact: artifactOf(spec) }),
    ),
    ...defined({ after: readProof(spec, namespace) }),
    ...(spec.pullSecrets !== undefined && { pullSecrets: spec.pullSecrets.map(({ name }) => name) }),
    pollIntervalMs: written.poll ?? builtInSettings.poll,
    ...readVerify(spec.verify),
    suspended: spec.suspend,
    ...rolloutOf(written.rollout ?? builtInSettings.rollout),
    origins: originsOf(written),
  };
}

/** The policies that have to run an image first, with their namespaces. */
function readProof({ select, update }: Spec, namespace: string): ProofRules | undefined {
  const written = select.proven ?? update?.after;
  if (written === undefined) return undefined;
  const forMs = readDuration(select.proven === undefined ? 'spec.update.after.for' : 'spec.select.proven.for', written.for) ?? 0;
  return { policies: written.policies.map((policy) => ({ namespace, ...policy })), forMs };
}

/** The settings that have defaults, in the form in which a policy or the configuration writes them. */
type WrittenSettings = Partial<Pick<Spec, 'poll' | 'minAge' | 'rollout'>>;
type WrittenWindows = NonNullable<Spec['update']>['windows'];

/** Reads the settings that are written; `prefix` is the path of their parent. */
export function readSettings({ poll, minAge, rollout }: WrittenSettings, windows: WrittenWindows | undefined, prefix = ''): SettingValues {
  const pollMs = readDuration(`${prefix}poll.interval`, poll?.interval);
  const minAgeMs = readDuration(`${prefix}minAge`, minAge);
  return {
    ...defined({ poll: pollMs, minAge: minAgeMs, windows }),
    ...(rollout !== undefined && { rollout: { settings: readRollout(rollout), maxParallel: rollout.maxParallel } }),
  };
}

/** The origin of each setting: the policy, or the built-in value. */
export function originsOf(written: SettingValues): Origins {
  const origin = (setting: DefaultedSetting): Origin => (written[setting] === undefined ? 'built-in' : 'policy');
  return { poll: origin('poll'), minAge: origin('minAge'), windows: origin('windows'), rollout: origin('rollout') };
}

function parseValid(raw: unknown, { namespace, writtenIn }: SpecSource, { customTargets, aliases, olderVersions }: ReadContext): Spec {
  const found = validateSpec(raw, { namespace, customTargets, aliases });
  const older = olderVersions.find(({ version }) => version === writtenIn);
  const problems = older === undefined ? found : found.map((one) => older.inItsWords(one));
  const [first] = problems;
  if (first !== undefined) throw new PermanentError(first.reason, problems.map(({ path, message }) => `${path}: ${message}`).join('; '));
  return specSchema.parse(withoutNulls(raw));
}

/** The strategy of `select` and `tags`. */
export function readStrategy({ select, tags = {}, artifact = 'Image' }: Pick<Spec, 'select' | 'tags' | 'artifact'>): TagStrategy {
  const chosen = Object.keys(select);
  if (chosen.length !== 1) {
    const found = chosen.length === 0 ? 'nothing is chosen' : `${chosen.join(' and ')} exclude each other`;
    throw invalid(`spec.select: ${found}: ${oneWay}`);
  }
  return Object.keys(tags).length === 0
    ? sharedStrategy(select, artifact)
    : withoutRebased(inField('spec', () => filterTags(strategyOf(select, artifact), tags), '.'));
}

/** Strategies that policies share: most select in the same few ways. Without a filter, which remembers tags of its own, a strategy has no state. */
const shared = new BoundedMap<string, TagStrategy>(1_000);

function sharedStrategy(select: Spec['select'], artifact: Artifact): TagStrategy {
  const key = JSON.stringify([artifact, select]);
  const known = shared.get(key);
  if (known !== undefined) return known;
  const strategy = withoutRebased(strategyOf(select, artifact));
  shared.set(key, strategy);
  return strategy;
}

function strategyOf(select: Spec['select'], artifact: Artifact): TagStrategy {
  return inField(`spec.select.${Object.keys(select).join()}`, () => buildStrategy(select, artifact), '.');
}

/** Reads the repository of the field `image`. */
export function readRepository(image: string, aliases: RegistryAliases): Repository {
  const { repository, tag, digest } = parseImageReference(image, aliases);
  if (tag === undefined && digest === undefined) return repository;
  throw invalid('write only the repository, without a tag or digest: select chooses the tag');
}

function readAlongside({ images, match, within }: NonNullable<Spec['alongside']>, { aliases }: ReadContext): Alongside {
  return {
    images: images.map(({ image, containers }, index) => ({
      repository: inField(`spec.alongside.images[${index}].image`, () => readRepository(image, aliases)),
      ...defined({ containers }),
    })),
    match,
    withinMs: readDuration('spec.alongside.within', within) ?? 0,
  };
}

/** Reads a duration; throws for one that is none. `field`: its path in the spec. */
function readDuration(field: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const milliseconds = parseDuration(text);
  if (milliseconds !== undefined && milliseconds > 0) return milliseconds;
  throw invalid(`${field}: "${text}" is not a duration such as 30s, 10m or 1h30m`);
}

/** Reads whose approvals an image or a base needs; throws where names cannot be trusted. `field`: its path in the spec. */
export function readApprovals(
  { count, within, notByAuthor }: NonNullable<NonNullable<Spec['update']>['approvals']>,
  field: string,
  { verifiesApprovers }: Pick<ReadContext, 'verifiesApprovers'>,
): ApprovalRules {
  const withinMs = readDuration(`spec.${field}.within`, within) ?? 0;
  if (verifiesApprovers === true) return { count, withinMs, notByAuthor };
  throw new PermanentError(
    'ApproversUnverified',
    `${field} counts people, and this installation cannot know who approves: install the admission policy of the chart (admissionPolicy.enabled, permissions.clusterWide), or remove ${field}`,
  );
}

/** Reads the settings of rollouts; undefined if rollouts are not watched. */
function readRollout({ watch, timeout, onFailure, waves, checks }: NonNullable<Spec['rollout']>): RolloutSettings | undefined {
  if (!watch) return undefined;
  const timeoutMs = parseDuration(timeout) ?? builtInSettings.rollout.settings.timeoutMs;
  return {
    timeoutMs,
    onFailure,
    ...(waves !== undefined && { waves: readWaves(waves) }),
    ...(checks && { checks: checks.map(readCheck) }),
  };
}

/** Reads the order in which workloads are changed, with its defaults; also for a BaseImagePolicy. */
export function readWaves({ maxParallel = 5, canaries, pause, maxFailures = 1 }: NonNullable<Spec['rollout']>['waves'] = {}): WaveSettings {
  const pauseMs = (pause === undefined ? undefined : parseDuration(pause)) ?? 600_000;
  return { maxParallel, maxFailures, pauseMs, ...defined({ canaries }) };
}

interface TargetContext extends FieldContext {
  /** The namespace of the policy. */
  readonly namespace: string;
  readonly repository: Repository;
  readonly artifact: Artifact;
}

/** Reads a target. Its API version is kept only for custom resources, which it identifies. */
export function readTarget(target: Target, index: number, context: TargetContext): PolicyTarget {
  const { apiVersion, kind, name, selector, namespace = context.namespace } = target;
  const ref = { ...(isCustomVersion(apiVersion) && { apiVersion }), kind };
  const workload = { ...ref, namespace, ...readParts(target, { ...ref, namespace, ...defined({ name }) }, context) };
  if (selector !== undefined) return { ...workload, selector };
  if (name !== undefined) return { ...workload, name };
  throw invalid(`spec.targets[${index}]: write either name or selector`);
}

/** The object, or the kind of objects, whose fields are written. */
type FieldsOf = Parameters<typeof checkFields>[0];

function readParts({ containers, initContainers, volumes, takeOver, fields }: Target, ref: FieldsOf, context: TargetContext): TargetParts {
  return {
    ...defined({ containers }),
    ...(initContainers && { initContainers }),
    ...(volumes === true && { volumes }),
    ...(takeOver === true && { takeOver }),
    ...(fields !== undefined && { fields: readFields(fields, ref, context) }),
  };
}

/** Reads the fields of a target, with the field of the repository even if the policy does not name it. */
function readFields(written: TargetFields, ref: FieldsOf, context: TargetContext): TargetFields {
  const allowed = checkFields(ref, written, context, context);
  if ('fields' in allowed) return allowed.fields;
  throw new PermanentError('FieldNotAllowed', allowed.message);
}

function notYetSupported(fields: readonly string[]): PermanentError {
  const what = `this version does not know ${fields.join(', ')}, so it changes nothing for this policy`;
  return new PermanentError('NotYetSupported', `${what}: remove that, or wait for a version that does`);
}

function invalid(message: string): PermanentError {
  return new PermanentError('InvalidPolicy', message);
}
