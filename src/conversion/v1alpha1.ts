/** The schema of ImagePolicy v1alpha1, which is still served. The definition is generated from it. The program itself works with v1. */
import { z } from 'zod';
import { conditions, statusSchema as v1Status } from '../core/model/policy-status.ts';
import { group } from '../service/resources/group.ts';
import { repositoryField } from '../service/resources/v1-fields/image.ts';

export const version = 'v1alpha1';
export const apiVersion = `${group}/${version}`;

const tagPolicy = z
  .object({
    strategy: z
      .enum(['SemVer', 'Latest', 'Regex'])
      .describe(
        'SemVer: the highest version. Latest: the mutable tag "latest", followed by its digest. Regex: the alphabetically last tag that matches the pattern.',
      ),
    pattern: z
      .string()
      .max(512)
      .exactOptional()
      .describe(
        'SemVer: a range such as "1.18.*" or ">=1.2 <2"; by default the highest stable version is selected. Regex: an RE2 expression that must match the whole tag.',
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

/** The schema of `spec`, as users write it. */
export const specSchema = z
  .object({
    repository: repositoryField('tagPolicy'),
    tagPolicy,
    updateTarget,
    pollIntervalMinutes: z
      .int()
      .min(1)
      .max(527_040)
      .default(60)
      .describe('How often the registry is polled for tags that no webhook announced, in minutes.'),
  })
  .describe('Which image to watch, how to choose its tag, and which workload to update.');

/** The schema of `status`: the fields that v1alpha1 shares with v1, and one field with the complete status of v1. */
export const statusSchema = z
  .object({
    observedGeneration: v1Status.shape.observedGeneration,
    lastCheckedTime: v1Status.shape.lastCheckTime,
    lastAppliedTag: v1Status.shape.lastAppliedTag,
    conditions: conditions.exactOptional().describe('Ready, and Reconciling, Stalled and others while they are true.'),
    v1: z
      .looseObject({})
      .exactOptional()
      .describe('The complete status of v1: read the policy as v1 instead.')
      .meta({ 'x-kubernetes-preserve-unknown-fields': true }),
  })
  .describe('What the service found and did.');

/** The schema of the resource except `metadata`. Clusters have stored objects without a spec. */
export const schema = z
  .object({ spec: specSchema.exactOptional(), status: statusSchema.exactOptional() })
  .describe('Keeps the image of a workload up to date: a push to the repository changes the workload when the tag policy selects the tag.');
