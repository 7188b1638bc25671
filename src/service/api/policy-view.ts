/** ImagePolicies as the API shows them. Pure. */
import { z } from 'zod';
import type { Immutable } from '../../core/model/immutable.ts';
import { decisiveCondition } from '../../core/model/decisive-condition.ts';
import { defined } from '../../core/model/defined.ts';
import { isUsable, scopeOf, type ImagePolicy } from '../../core/model/image-policy.ts';
import { originLinkKinds, originLinksOf, type Origins } from '../../core/model/image-origin.ts';
import { actionsView, requestedView, shownActions } from './requested-view.ts';
import { policyStates, stateOf } from '../../core/model/policy-state.ts';
import { formatRepository } from '../../core/model/image-reference.ts';
import { checkRecord } from '../../core/model/check-record.ts';
import { checkStates } from '../../core/rollout/check-states.ts';
import type { ApprovalRound } from '../../core/model/approval-round.ts';
import {
  changeSchema,
  conditionSchema,
  statusSchema,
  type LatestImage,
  type RolloutCounts,
  type TargetCounts,
} from '../../core/model/policy-status.ts';
import { environmentsView } from './environments-view.ts';
import type { ChangeOrigins } from './history-origins.ts';
import { namespaceName, objectName, time } from './route.ts';

/** An image that a policy selects. */
export const selectedImage = z
  .object({ tag: z.string(), digest: z.string().exactOptional() })
  .meta({ id: 'SelectedImage', description: 'A tag, and its digest if it is known.' });
/** The companions that belong to an image. */
export const companions = z
  .array(
    z
      .object({ image: z.string(), tag: z.string(), digest: z.string() })
      .meta({ id: 'Companion', description: 'The image of a companion.' }),
  )
  .describe('The companions that belong to it (`spec.alongside`), once they are known.');
/** The image that a policy selects, with its companions. */
const latestImage = selectedImage
  .extend({
    companions: companions.exactOptional(),
  })
  .meta({ id: 'LatestImage', description: 'The selected tag, its digest if it is known, and its companions.' });
/** The schema of the image that waits for approval, with its companions. */
const pendingImage = selectedImage
  .extend({
    images: z
      .array(z.string())
      .exactOptional()
      .describe(
        'With companions: the images that are approved together, the own one first, each as REPOSITORY@DIGEST. `digest` is that of the set.',
      ),
  })
  .meta({ id: 'PendingImage', description: 'A tag that waits for approval, and its digest or, with companions, that of its set.' });
const waiting = selectedImage.partial().extend({ until: time, reason: z.string() });
/** The state of a policy of either kind. */
export const policyState = z.enum(policyStates).meta({ id: 'PolicyState', description: 'What a reader should know first.' });
/** A condition of a policy of either kind. */
export const condition = conditionSchema.meta({ id: 'Condition' });

/** The approvals of what waits, of a policy of either kind. */
export const approvalsView = z
  .object({
    required: z.int().describe('How many people have to approve it.'),
    given: z
      .array(z.object({ user: z.string(), at: time, reason: z.string().exactOptional() }).meta({ id: 'GivenApproval' }))
      .describe('The approvals that count.'),
    uncounted: z
      .array(z.object({ user: z.string(), at: time, why: z.string() }).meta({ id: 'UncountedApproval' }))
      .describe('Those that do not; `why` as in `status.approvals.uncounted`.'),
    until: time.exactOptional().describe('When the first approval ends if the others do not come.'),
  })
  .describe('The approvals of `pendingApproval`; only if the policy asks for several people.');
export type ApprovalsView = Immutable<z.output<typeof approvalsView>>;

/** What changed between what runs and what waits, or between two bases. */
export const changes = z
  .object({
    repository: z.string().describe('The web address of the source repository.'),
    from: z.string().exactOptional().describe('The commit that what runs was built from, if it is of the same repository.'),
    to: z.string().exactOptional().describe('The commit that the image was built from.'),
    version: z.string().exactOptional().describe('The version of the software.'),
    links: z
      .array(
        z
          .object({
            kind: z.enum(originLinkKinds).describe('changes: all commits in between. commit: that of the image. source: its repository.'),
            url: z.string(),
            host: z.string().describe('The builder of the image chose it: show it to readers.'),
            from: z.string().exactOptional().describe('The shortened commit.'),
            to: z.string().exactOptional().describe('The shortened commit.'),
          })
          .meta({ id: 'OriginLink', description: 'A link to the source of an image.' }),
      )
      .describe('Links to the changes and releases.'),
  })
  .describe(
    'The commits between what runs and `pendingApproval`, as the labels or annotations of the images name them. Absent if they do not, and until the registry was read, which does not delay the answer.',
  );
export type ChangesView = Immutable<z.output<typeof changes>>;

/** The fields of a policy that lists show. */
export const policySummary = z
  .object({
    namespace: namespaceName,
    name: objectName,
    uid: z.string(),
    image: z.string().exactOptional().describe('The repository; absent if it cannot be read.'),
    selects: z.string().exactOptional().describe('What is selected, in words.'),
    mode: z.enum(['Automatic', 'Approval', 'DryRun']).exactOptional(),
    state: policyState,
    reason: z.string().exactOptional().describe('The reason of the state, one of docs/reasons.md.'),
    message: z.string().exactOptional(),
    since: z.string().exactOptional().describe('When the condition that gives the state became true.'),
    running: z.string().exactOptional().describe('What the targets run, as `kubectl get` shows it.'),
    alongside: z
      .array(z.string())
      .exactOptional()
      .describe('The repositories of the companions (`spec.alongside`), which are changed together with the image.'),
    latest: latestImage.exactOptional().describe('What the policy selects.'),
    pendingApproval: pendingImage.exactOptional(),
    approvals: approvalsView.exactOptional(),
    changes: changes.exactOptional(),
    waiting: waiting.exactOptional(),
    targets: z.object({ total: z.int(), upToDate: z.int(), problems: z.int() }).exactOptional(),
    rollouts: z.object({ progressing: z.int(), done: z.int(), failed: z.int(), rolledBack: z.int() }).exactOptional(),
    lastChangeAt: z.string().exactOptional(),
  })
  .meta({ id: 'PolicySummary', description: 'An ImagePolicy in a list.' });
export type PolicySummary = Immutable<z.output<typeof policySummary>>;

const checkView = checkRecord
  .pick({ name: true, phase: true, startedAt: true, at: true, message: true })
  .partial({ startedAt: true })
  .extend({
    state: z
      .enum(['NotAsked', ...checkRecord.shape.state.options])
      .describe('NotAsked: it has not begun. The others as in `status.checks`.'),
  })
  .meta({ id: 'PolicyCheck', description: 'A check of an image, with its last answer and its verdict.' });
export type CheckView = z.output<typeof checkView>;

/** The commits between the two images of a change. */
const changeCommits = changeSchema
  .pick({ from: true, to: true, digest: true, trigger: true })
  .extend({ changes })
  .meta({ id: 'ChangeCommits', description: 'The commits between the two images of the changes with these images and this trigger.' });

/** The fields that the page of one policy shows. */
export const policyDetail = policySummary
  .extend({
    generation: z.int(),
    pods: z
      .object({
        wanted: z.int(),
        available: z.int(),
        toUpdate: z.int().describe('How many should be of the newest revision of their workload.'),
        updated: z.int().describe('How many of these are.'),
      })
      .exactOptional()
      .describe('The pods of all workloads, as their controllers report them; absent if none of them rolls out.'),
    environments: environmentsView.exactOptional(),
    checks: z
      .array(checkView)
      .exactOptional()
      .describe('The checks of `latest` (`rollout.checks`), in their order. What does not count any more is only in `status.checks`.'),
    conditions: z.array(condition),
    status: statusSchema
      .loose()
      .meta({ id: 'PolicyStatus', description: 'The whole status of the resource, with all changes in the history.' }),
    commits: z
      .array(changeCommits)
      .exactOptional()
      .describe(
        'The commits of the newest changes in `status.history`, as far as the images name them and the registry was read, which does not delay the answer.',
      ),
    actions: actionsView,
    requested: requestedView,
  })
  .meta({ id: 'Policy', description: 'An ImagePolicy.' });

export type PolicyDetail = Immutable<z.output<typeof policyDetail>>;

/** The view of a policy in a list. `origins`: where the image that waits and the one that runs were built from. */
export function summarize(policy: ImagePolicy, origins: Origins = {}): PolicySummary {
  const { namespace, name, uid, spec, status } = policy;
  const { running, latest, pendingApproval, approvals, waiting: wait, targetCounts, rollouts, history: [newest] = [] } = status;
  const condition = decisiveCondition(status.conditions ?? []);
  const scope = scopeOf(spec);
  return {
    namespace,
    name,
    uid,
    ...(scope && { image: formatRepository(scope.repository) }),
    ...(isUsable(spec) && { selects: spec.strategy.description, mode: spec.mode }),
    state: stateOf(policy),
    ...(condition && { reason: condition.reason, message: condition.message, since: condition.lastTransitionTime }),
    ...defined({ running }),
    ...(isUsable(spec) && spec.alongside && { alongside: spec.alongside.images.map(({ repository }) => formatRepository(repository)) }),
    ...(latest && { latest: toLatest(latest) }),
    ...(pendingApproval && { pendingApproval: toPending(pendingApproval) }),
    ...(pendingApproval && approvals && { approvals: toApprovals(approvals) }),
    ...defined({ changes: changesOf(origins) }),
    ...(wait && {
      waiting: { ...(wait.tag !== undefined && toImage({ ...wait, tag: wait.tag })), until: wait.until, reason: wait.reason },
    }),
    ...(targetCounts && { targets: countedOf(targetCounts) }),
    ...(rollouts && { rollouts: countsOf(rollouts) }),
    ...(newest && { lastChangeAt: newest.at }),
  };
}

/** The checks of the selected image, as they count now; undefined if the policy has none. */
export function checksView(policy: ImagePolicy, now: Date): CheckView[] | undefined {
  const { spec, status } = policy;
  if (!isUsable(spec) || status.latest === undefined) return undefined;
  const states = checkStates(policy, spec, status.latest, now);
  if (states.length === 0) return undefined;
  return states.map(({ check: { name, phase }, record }) => {
    const { state = 'NotAsked', startedAt, at, message } = record ?? {};
    return { name, phase, state, ...defined({ startedAt, at, message }) };
  });
}

/** The approvals of what waits, as the status has them. */
export function toApprovals({ required, given = [], uncounted = [], until }: ApprovalRound): ApprovalsView {
  return {
    required,
    given: given.map(({ user, at, reason }) => ({ user, at, ...defined({ reason }) })),
    uncounted: uncounted.map(({ user, at, why }) => ({ user, at, why })),
    ...defined({ until }),
  };
}

function countedOf({ total, upToDate, problems }: TargetCounts): NonNullable<PolicySummary['targets']> {
  return { total, upToDate, problems };
}

function countsOf({ progressing, done, failed, rolledBack }: RolloutCounts): NonNullable<PolicySummary['rollouts']> {
  return { progressing, done, failed, rolledBack };
}

/** What changed, for a reader of the API; undefined if the image that waits does not name its source, or that is not known yet. */
export function changesOf({ now, before }: Origins): ChangesView | undefined {
  if (now === undefined) return undefined;
  const { repository, revision, version } = now;
  const from = before?.repository === repository ? before.revision : undefined;
  return { repository, ...defined({ from, to: revision, version }), links: originLinksOf({ now, ...defined({ before }) }) };
}

/** The view of one policy. `origins`: as of a policy in a list. `changed`: where the images of its newest changes were built from. */
export function detail(policy: ImagePolicy, origins?: Origins, changed: readonly ChangeOrigins[] = []): PolicyDetail {
  const { generation, status, actions = {}, requested } = policy;
  const { conditions = [] } = status;
  const commits = changed.flatMap(({ origins: found, ...change }) => {
    const view = changesOf(found);
    return view === undefined ? [] : [{ ...change, changes: view }];
  });
  return {
    ...summarize(policy, origins),
    generation,
    conditions,
    status,
    ...(commits.length > 0 && { commits }),
    actions: shownActions(actions),
    ...defined({ requested }),
  };
}

function toImage({ tag, digest }: { readonly tag: string; readonly digest?: string }): z.output<typeof selectedImage> {
  return { tag, ...defined({ digest }) };
}

function toLatest({ companions, ...own }: LatestImage): NonNullable<PolicySummary['latest']> {
  return { ...toImage(own), ...(companions && { companions: companions.map(({ image, tag, digest }) => ({ image, tag, digest })) }) };
}

function toPending({
  images,
  ...own
}: NonNullable<ImagePolicy['status']['pendingApproval']>): NonNullable<PolicySummary['pendingApproval']> {
  return { ...toImage(own), ...defined({ images }) };
}
