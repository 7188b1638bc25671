/** ImagePolicy v1alpha1: the shape that exists in clusters today. Its zod schema is also the source of the CRD. */
import { z } from 'zod';
import { PermanentError, describeError } from '../core/errors.ts';
import { parseImageReference, type RegistryAliases } from '../core/image-reference.ts';
import type { ImagePolicy, PolicyProblem, PolicySpec, PolicyStatus } from '../core/image-policy.ts';
import { strategies } from '../core/strategies/index.ts';
import type { TagStrategy } from '../core/strategies/strategy.ts';
import { condition } from './condition.ts';
import { group } from './group.ts';

export const version = 'v1alpha1';
export const apiVersion = `${group}/${version}`;

const tagPolicy = z
  .object({
    strategy: z
      .enum(['SemVer', 'Latest', 'Regex'])
      .describe(
        'SemVer: the highest version. Latest: the moving tag "latest", followed by its digest. Regex: the alphabetically last tag that matches the pattern.',
      ),
    pattern: z
      .string()
      .max(512)
      .optional()
      .describe(
        'SemVer: a range such as "1.18.*" or ">=1.2 <2"; none means the highest stable version. Regex: an RE2 expression that must match the whole tag.',
      ),
  })
  .describe('How the tag is chosen.');

const updateTarget = z
  .object({
    kind: z.string().min(1).max(63).describe('Kind of the workload: Deployment.'),
    name: z.string().min(1).max(253).describe('Name of the workload.'),
    namespace: z.string().min(1).max(63).describe('Namespace of the workload.'),
  })
  .describe('The workload whose containers of this repository are kept up to date.');

/** `spec` as users write it. */
export const specSchema = z
  .object({
    repository: z
      .string()
      .min(1)
      .max(255)
      .describe('Image repository without a tag, for example "library/nginx" (Docker Hub) or "harbor.example.com/shop/web".'),
    tagPolicy,
    updateTarget,
    pollIntervalMinutes: z
      .int()
      .min(1)
      .max(527_040)
      .default(60)
      .describe('How often the registry is asked for tags that no webhook announced, in minutes.'),
  })
  .describe('What to watch and what to update.');

/** `status` as the service writes it. */
export const statusSchema = z
  .object({
    observedGeneration: z.int().min(0).optional().describe('The generation of the policy that was last acted on.'),
    lastCheckedTime: z.iso.datetime().optional().describe('When the registry was last asked for this policy.'),
    lastAppliedTag: z.string().max(128).optional().describe('The tag that this policy last applied.'),
    conditions: z.array(condition).max(32).optional().describe('Ready, and Reconciling and Stalled while they are true.'),
  })
  .describe('What the service found and did.');

/** The whole resource below `metadata`; clusters hold objects without a spec. */
export const schema = z
  .object({ spec: specSchema.optional(), status: statusSchema.optional() })
  .describe('Keeps the image of a workload up to date: a push to the repository changes the workload when the tag policy selects the tag.');

const metadata = z.object({
  name: z.string(),
  namespace: z.string(),
  uid: z.string(),
  resourceVersion: z.string(),
  generation: z.number().default(0),
});
const envelope = z.looseObject({ metadata, spec: z.unknown().optional(), status: z.unknown().optional() });
const readableStatus = z.object({
  observedGeneration: z.number().optional().catch(undefined),
  lastCheckedTime: z.string().optional().catch(undefined),
  lastAppliedTag: z.string().optional().catch(undefined),
  conditions: z
    .array(condition.extend({ lastTransitionTime: z.string() }))
    .optional()
    .catch(undefined),
});

/** Settings of the program that a policy is read with. */
export interface ReadContext {
  readonly aliases: RegistryAliases;
  readonly defaultPollIntervalMs: number;
}

/** Reads an object of the API server. What is wrong with the spec is kept as the policy's problem; throws only without metadata. */
export function readPolicy(raw: unknown, context: ReadContext): ImagePolicy {
  const object = envelope.parse(raw);
  return { ...object.metadata, apiVersion, spec: readSpec(object.spec, context), status: readStatus(object.status) };
}

/** Reads `status`; fields of another shape are as good as absent. */
export function readStatus(raw: unknown): PolicyStatus {
  const parsed = readableStatus.safeParse(raw ?? {});
  return parsed.success ? (JSON.parse(JSON.stringify(parsed.data)) as PolicyStatus) : {};
}

function readSpec(raw: unknown, context: ReadContext): PolicySpec | PolicyProblem {
  if (raw === undefined || raw === null)
    return problem('InvalidPolicy', 'the policy has no spec: write repository, tagPolicy and updateTarget');
  // A stored object may lack the interval: the default of the schema is applied by the API server, the configuration's only without it.
  const parsed = specSchema.extend({ pollIntervalMinutes: z.int().min(1).optional() }).safeParse(raw);
  if (!parsed.success) {
    const issues = parsed.error.issues.map((issue) => `${['spec', ...issue.path].join('.')}: ${issue.message}`);
    return problem('InvalidPolicy', issues.join('; '));
  }
  const { repository, tagPolicy: tags, updateTarget: target, pollIntervalMinutes } = parsed.data;
  try {
    const image = parseImageReference(repository, context.aliases);
    if (image.tag !== undefined || image.digest !== undefined) {
      return problem(
        'InvalidPolicy',
        `spec.repository: "${repository}" has a tag or digest: write only the repository, and the choice in tagPolicy`,
      );
    }
    return {
      repository: image.repository,
      strategy: toStrategy(tags),
      pin: tags.strategy === 'Latest' ? 'Digest' : 'Tag',
      targets: [target],
      pollIntervalMs: pollIntervalMinutes === undefined ? context.defaultPollIntervalMs : pollIntervalMinutes * 60_000,
    };
  } catch (error) {
    const reason = error instanceof PermanentError ? error.reason : 'InvalidPolicy';
    return problem(reason, `${reason === 'InvalidTagPolicy' ? 'spec.tagPolicy.pattern' : 'spec.repository'}: ${describeError(error)}`);
  }
}

function toStrategy({ strategy, pattern }: z.output<typeof tagPolicy>): TagStrategy {
  switch (strategy) {
    case 'SemVer':
      return strategies.semver(pattern === undefined ? {} : { range: pattern });
    case 'Latest':
      return strategies.digest({ tag: 'latest' });
    case 'Regex':
      if (!pattern) throw new PermanentError('InvalidTagPolicy', 'missing: the strategy Regex needs an RE2 expression');
      return strategies.alphabetical({ pattern });
  }
}

function problem(reason: PolicyProblem['problem']['reason'], message: string): PolicyProblem {
  return { problem: { reason, message: message.length > 1000 ? `${message.slice(0, 1000)}…` : message } };
}
