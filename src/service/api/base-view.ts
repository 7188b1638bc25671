/**
 * BaseImagePolicies as the API shows them: the shapes of the answers and their paths. The wing of BaseImagePolicies answers them, and the dashboard, which is
 * another wing, reads them.
 */
import { requestedView } from './requested-view.ts';
import { z } from 'zod';
import type { Immutable } from '../../core/model/immutable.ts';
import { baseSteps, imageUses, type BaseStep } from '../../core/model/base-next-step.ts';
import { baseStatusSchema, dependentSchema } from '../../core/model/base-status.ts';
import { permittedIn } from './permitted-actions.ts';
import { approvalsView, changes, condition, policyState } from './policy-view.ts';
import { namespaceName, objectName } from './route.ts';

const image = z.object({ tag: z.string(), digest: z.string() }).meta({ id: 'BaseVersionName', description: 'A version of a base.' });
const selected = image.extend({ selectedAt: z.string() }).meta({ id: 'SelectedBase', description: 'The selected version of a base.' });
const stepNames = Object.keys(baseSteps) as [BaseStep, ...BaseStep[]];

/** What can be done about an image. */
const nextStep = z
  .object({ id: z.enum(stepNames).describe('A stable word for programs.'), text: z.string() })
  .meta({ id: 'NextStep', description: 'What can be done about it, or what it waits for. Absent if nothing is to be done.' });

/** The fields of a BaseImagePolicy that lists show. */
const baseSummary = z
  .object({
    namespace: namespaceName,
    name: objectName,
    uid: z.string(),
    image: z.string().exactOptional().describe('The repository of the base; absent if it cannot be read.'),
    selects: z.string().exactOptional().describe('What is selected, in words.'),
    mode: z.enum(['Automatic', 'Approval', 'DryRun']).exactOptional(),
    state: policyState.describe('As for ImagePolicies. A policy may be Ready while images are behind: see images.'),
    reason: z.string().exactOptional().describe('The reason of the state, one of docs/reasons.md.'),
    message: z.string().exactOptional(),
    since: z.string().exactOptional().describe('When the condition that gives the state became true.'),
    latest: selected.exactOptional(),
    pendingApproval: image.exactOptional(),
    approvals: approvalsView.exactOptional(),
    changes: changes
      .exactOptional()
      .describe('As for ImagePolicies: the commits between the base that was selected before and `pendingApproval`.'),
    images: baseStatusSchema.shape.images,
    waves: baseStatusSchema.shape.waves,
    behindSince: z.string().exactOptional().describe('The earliest time since which an image is behind.'),
  })
  .meta({ id: 'BaseSummary', description: 'A BaseImagePolicy in a list.' });
export type BaseSummary = Immutable<z.output<typeof baseSummary>>;

/** The fields that the page of one BaseImagePolicy shows. */
export const baseDetail = baseSummary
  .extend({
    generation: z.int(),
    onNewBase: z.array(z.string()).describe('The actions of the policy, in their order: rebase, trigger, restart, report.'),
    conditions: z.array(condition),
    status: baseStatusSchema.loose().meta({ id: 'BaseStatus', description: 'The whole status of the resource.' }),
    actions: z
      .object({
        approve: z.string().exactOptional(),
        reject: z.string().exactOptional(),
        release: z.string().exactOptional(),
        requestedAt: z.string().exactOptional(),
      })
      .describe('What users have asked for, by annotation.'),
    withoutConsent: z
      .object({
        total: z.int(),
        namespaces: z.array(namespaceName).describe('The first twenty.'),
      })
      .exactOptional()
      .describe(
        'The namespaces that the policy selects and whose owners have not consented, so that nothing is known of their images. Only for callers that may list all namespaces.',
      ),
    requested: requestedView,
  })
  .meta({ id: 'Base', description: 'A BaseImagePolicy.' });
export type BaseDetail = Immutable<z.output<typeof baseDetail>>;

/** The states of images. NotExamined: an image volume. */
export const dependentStates = [...dependentSchema.shape.state.options, 'NotExamined'] as const;
export type DependentState = (typeof dependentStates)[number];

/** An image that is built on a base, or may be. */
const dependentView = dependentSchema
  .extend({
    state: z
      .enum(dependentStates)
      .describe('As in status.dependents. NotExamined: workloads only mount it as an image volume, which is not compared with the base.'),
    isPinned: z.boolean().describe('Whether workloads name it by its digest.'),
    uses: z.array(z.enum(imageUses)).describe('How workloads use it; empty for a base in between, and for what runs no more.'),
    runs: z
      .array(
        z
          .object({ kind: z.string(), namespace: z.string(), name: z.string(), containers: z.array(z.string()) })
          .meta({ id: 'DependentWorkload' }),
      )
      .describe('The first workloads that run it, and their containers; `volumes/NAME` for an image volume.'),
    nextStep: nextStep.exactOptional(),
  })
  .meta({ id: 'Dependent', description: 'An image that is built on the base, or may be.' });
export type DependentView = Immutable<z.output<typeof dependentView>>;

/** A version of a base. */
const version = z
  .object({
    digest: z.string(),
    tags: z.array(z.string()).describe('The tags that it has or had.'),
    seenAt: z.string().describe('When it was first seen.'),
    isLatest: z.boolean().describe('Whether it is the selected version.'),
    wasSelected: z.boolean().describe('Whether the policy has ever selected it.'),
    rejected: z.string().exactOptional().describe('Why it is not used again.'),
    images: z.int().describe('How many images are known to be built on it.'),
  })
  .meta({ id: 'BaseVersion', description: 'A version of the base.' });

/** A base of an application: its policy, and the images of the application that are built on it. */
const link = z
  .object({
    namespace: namespaceName,
    name: objectName,
    image: z.string().exactOptional(),
    latest: selected.exactOptional(),
    layers: z.int().exactOptional().describe('How many layers the version of the base has that the images are built on, if it is known.'),
    dependents: z.array(dependentView),
  })
  .meta({ id: 'BaseOfPolicy', description: 'A base that images are built on.' });
export type BaseLink = Immutable<z.output<typeof link>>;

const next = z.string().exactOptional().describe('For `after`; absent on the last page.');

/** The paths and answers that the dashboard reads. */
export const baseReads = {
  list: {
    path: '/bases',
    answer: z.object({ bases: z.array(baseSummary), counts: z.partialRecord(policyState, z.int()), next }).meta({ id: 'BaseList' }),
  },
  one: { path: '/bases/{namespace}/{name}', answer: baseDetail },
  permitted: { path: '/bases/permitted', answer: permittedIn },
  dependents: {
    path: '/bases/{namespace}/{name}/dependents',
    answer: z
      .object({
        dependents: z.array(dependentView),
        counts: z.partialRecord(z.enum(dependentStates), z.int()).describe('Of all images that match the other filters, by state.'),
        isComplete: z
          .boolean()
          .describe('Whether all images of the status are listed. If not, the status has only the first twenty until the next reconcile.'),
        next,
      })
      .meta({ id: 'DependentList' }),
  },
  versions: {
    path: '/bases/{namespace}/{name}/versions',
    answer: z.object({ versions: z.array(version), total: z.int(), next }).meta({ id: 'BaseVersionList' }),
  },
  chain: {
    path: '/policies/{namespace}/{name}/bases',
    answer: z
      .object({ bases: z.array(link).describe('The nearest base first, as far as their layers are known.') })
      .meta({ id: 'BaseOfPolicyList' }),
  },
} as const;
