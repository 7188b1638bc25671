/** Raw objects of the API server, in the shape of v1 → what the program works with. */
import { hash } from 'node:crypto';
import { z } from 'zod';
import { parseDuration } from '../model/text.ts';
import { PermanentError, describeError } from '../model/errors.ts';
import { filterTags } from '../select/filter-tags.ts';
import type { FieldContext } from '../model/field-rules.ts';
import { parseImageReference, type RegistryAliases, type Repository } from '../model/image-reference.ts';
import { isUsable, type ImagePolicy, type PolicyProblem, type PolicySpec, type UpdateWindow } from '../model/image-policy.ts';
import { readStatus } from '../model/policy-status.ts';
import { readActions } from '../model/policy-actions.ts';
import type { Reason } from '../model/reasons.ts';
import { strategies } from '../select/strategies/index.ts';
import type { TagStrategy } from '../model/tag-strategy.ts';
import { type Verification, wantSigner } from '../model/verification.ts';
import { refOf } from '../model/workload.ts';
import { isOfV1alpha1 } from './conversion/is-expressible.ts';
import { readRollout } from './read-rollout.ts';
import { readTarget } from './read-target.ts';
import { apiVersion } from './v1.ts';
import { validateSpec } from './validate.ts';
import { unknownFields } from './validation/unknown-fields.ts';
import { withoutNulls } from './validation/without-nulls.ts';
import { specSchema } from './v1-spec.ts';

/** What of the program a policy is read with. */
export interface ReadContext extends FieldContext {
  readonly defaultPollIntervalMs: number;
}

type Spec = z.output<typeof specSchema>;

const metadata = z.object({
  annotations: z.record(z.string(), z.unknown()).catch({}),
  name: z.string(),
  namespace: z.string(),
  uid: z.string(),
  resourceVersion: z.string(),
  generation: z.number().default(0),
  creationTimestamp: z.string().optional().catch(undefined),
});
const envelope = z.looseObject({ metadata, spec: z.unknown().optional(), status: z.unknown().optional() });
const maxMessageLength = 1000;

/** What specs were read from, as a hash: a status changes a hundred times as often. */
const sources = new WeakMap<PolicySpec | PolicyProblem, string>();

/**
 * Reads an object. What is wrong with its spec is kept as the policy's problem, so that it hides no other policy; throws only without metadata. A spec that is
 * as it was when `before` was read (in the same context) is not read again.
 */
export function readPolicy(raw: unknown, context: ReadContext, before?: ImagePolicy): ImagePolicy {
  const object = envelope.parse(raw);
  const { annotations, creationTimestamp: createdAt, ...names } = object.metadata;
  const actions = readActions(annotations);
  const spec = readSpecOnce(object.spec, names.namespace, context, before?.namespace === names.namespace ? before.spec : undefined);
  return {
    ...names,
    apiVersion,
    ...(createdAt !== undefined && { createdAt }),
    ...legacyTargetOf(spec, object.spec, names.namespace),
    spec,
    status: readStatus(object.status, names.generation),
    ...(Object.keys(actions).length > 0 && { actions }),
  };
}

/** Most policies have no target in another namespace: those are not looked at any further. */
function legacyTargetOf(spec: ImagePolicy['spec'], raw: unknown, namespace: string): Pick<ImagePolicy, 'legacyTarget'> {
  const [target] = isUsable(spec) ? spec.targets : [];
  if (target?.name === undefined || target.namespace === namespace || !isOfV1alpha1(withoutNulls(raw))) return {};
  return { legacyTarget: refOf(target) };
}

function readSpecOnce(raw: unknown, namespace: string, context: ReadContext, before: ImagePolicy['spec'] | undefined): ImagePolicy['spec'] {
  const source = hash('sha1', JSON.stringify(raw) ?? '', 'base64');
  if (before !== undefined && sources.get(before) === source) return before;
  const spec = readSpec(raw, namespace, context);
  sources.set(spec, source);
  return spec;
}

function readSpec(raw: unknown, namespace: string, context: ReadContext): PolicySpec | PolicyProblem {
  try {
    return toSpec(checkSpec(raw, namespace, context), raw, namespace, context);
  } catch (error) {
    const reason: Reason = error instanceof PermanentError ? error.reason : 'InvalidPolicy';
    const message = describeError(error);
    const isSuspended = typeof raw === 'object' && raw !== null && 'suspend' in raw && raw.suspend === true;
    return { problem: { reason, message: cut(message) }, ...(isSuspended && { suspended: true }) };
  }
}

/** A spec in which nothing is wrong, or a PermanentError that says everything that is. */
function checkSpec(raw: unknown, namespace: string, { customTargets, aliases }: ReadContext): Spec {
  const problems = validateSpec(raw, { namespace, customTargets, aliases });
  const [first] = problems;
  if (first !== undefined) throw new PermanentError(first.reason, problems.map(({ path, message }) => `${path}: ${message}`).join('; '));
  return specSchema.parse(withoutNulls(raw));
}

function toSpec(spec: Spec, raw: unknown, namespace: string, context: ReadContext): PolicySpec {
  const strategy = readStrategy(spec);
  const repository = inField('spec.image', () => readRepository(spec.image, context.aliases));
  const pollIntervalMs = readDuration('spec.poll.interval', spec.poll?.interval) ?? context.defaultPollIntervalMs;
  const minAgeMs = readDuration('spec.minAge', spec.minAge);
  const rollout = readRollout(spec.rollout);
  const { platforms = [] } = spec;
  // What only a newer version knows is told after what is wrong for good.
  const unknown = unknownFields(specSchema, withoutNulls(raw), ['spec']);
  if (unknown.length > 0) throw notYetSupported(unknown.map(({ path }) => path));
  return {
    repository,
    strategy,
    pin: spec.update?.pin ?? (spec.select.digest === undefined && spec.verify === undefined ? 'Tag' : 'Digest'),
    allowDowngrade: spec.update?.allowDowngrade ?? false,
    ...(platforms.length > 0 && { platforms }),
    ...(minAgeMs !== undefined && { minAgeMs }),
    mode: spec.update?.mode ?? 'Automatic',
    windows: (spec.update?.windows ?? []).map(readWindow),
    targets: spec.targets.map((target, index) => readTarget(target, index, { ...context, namespace, repository })),
    ...(spec.pullSecrets !== undefined && { pullSecrets: spec.pullSecrets.map(({ name }) => name) }),
    ...(spec.rollout !== undefined && { maxParallel: spec.rollout.maxParallel }),
    pollIntervalMs,
    ...(spec.verify !== undefined && { verification: readVerification(spec.verify) }),
    suspended: spec.suspend,
    ...(rollout !== undefined && { rollout }),
  };
}

function readStrategy({ select, tags = {} }: Spec): TagStrategy {
  const chosen = Object.keys(select);
  if (chosen.length !== 1) {
    const found = chosen.length === 0 ? 'nothing is chosen' : `${chosen.join(' and ')} exclude each other`;
    throw invalid(`spec.select: ${found}: write exactly one of semver, digest, newest, alphabetical, numerical`);
  }
  const strategy = inField(`spec.select.${chosen.join()}`, () => buildStrategy(select), '.');
  return inField('spec', () => filterTags(strategy, tags), '.');
}

function buildStrategy({ semver, digest, newest, alphabetical, numerical }: Spec['select']): TagStrategy {
  if (semver !== undefined) {
    const { range, prereleases } = semver;
    return inField('range', () => strategies.semver({ prereleases, ...(range !== undefined && { range }) }));
  }
  if (digest !== undefined) return strategies.digest(digest);
  if (newest !== undefined) return strategies.newest();
  if (alphabetical !== undefined) return strategies.alphabetical(alphabetical);
  if (numerical !== undefined) return strategies.numerical(numerical);
  throw invalid('write exactly one of semver, digest, newest, alphabetical, numerical');
}

function readRepository(image: string, aliases: RegistryAliases): Repository {
  const { repository, tag, digest } = parseImageReference(image, aliases);
  if (tag === undefined && digest === undefined) return repository;
  throw invalid('write only the repository, without a tag or digest: select chooses the tag');
}

function readDuration(field: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const milliseconds = parseDuration(text);
  if (milliseconds !== undefined && milliseconds > 0) return milliseconds;
  throw invalid(`${field}: "${text}" is not a duration such as 30s, 10m or 1h30m`);
}

function readWindow({ days, from, to, timeZone }: NonNullable<NonNullable<Spec['update']>['windows']>[number]): UpdateWindow {
  return { from, to, timeZone, ...(days !== undefined && { days }) };
}

function readVerification({ cosign: { keys = [], keyless = [] } }: NonNullable<Spec['verify']>): Verification {
  if (keys.length + keyless.length === 0) throw invalid('spec.verify.cosign: write keys, keyless or both');
  return {
    keys: keys.map(({ secretRef: { name, key } }) => ({ secret: name, key })),
    signers: keyless.map((rule, index) => inField(`spec.verify.cosign.keyless[${index}]`, () => wantSigner(rule))),
  };
}

function notYetSupported(fields: readonly string[]): PermanentError {
  const what = `this version does not know ${fields.join(', ')}, so it changes nothing for this policy`;
  return new PermanentError('NotYetSupported', `${what}: remove that, or wait for a version that does`);
}

function invalid(message: string): PermanentError {
  return new PermanentError('InvalidPolicy', message);
}

/** What is thrown inside begins with the path of the field. */
function inField<T>(path: string, build: () => T, separator = ': '): T {
  try {
    return build();
  } catch (error) {
    if (!(error instanceof PermanentError)) throw error;
    throw new PermanentError(error.reason, `${path}${separator}${error.message}`, { cause: error });
  }
}

function cut(message: string): string {
  return message.length > maxMessageLength ? `${message.slice(0, maxMessageLength)}…` : message;
}
