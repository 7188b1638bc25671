/**
 * Where each image is on its way through the policies that follow each other (`select.proven`, `update.after`): one row per digest, one column per policy. Pure.
 *
 * | state      | the targets of the policy …                                              | since                          |
 * | ---------- | ------------------------------------------------------------------------ | ------------------------------ |
 * | Healthy    | all run it, complete and available                                       | they do so                     |
 * | Runs       | run it; nobody follows the policy, so how long they are healthy is unknown | it was applied                 |
 * | RollingOut | are being changed to it                                                  | it was applied                 |
 * | Failed     | are not changed to it any more: it failed, was rolled back or rejected    | that was found                 |
 * | Approval   | wait for an approval of it                                               | it was selected                |
 * | NotCopied  | wait for a copy of it in the repository of the policy                    |                                |
 * | Waits      | wait for a time, or for what the reason says                             | the wait began                 |
 * | Ran        | ran it before                                                            | it was applied                 |
 */
import { decisiveCondition } from './decisive-condition.ts';
import { defined } from './defined.ts';
import type { Followed } from './followed-status.ts';
import { policyKey, scopeOf, type ImagePolicy, type PolicyName } from './image-policy.ts';
import { formatRepository, tryParseImageReference } from './image-reference.ts';
import type { PolicyStatus } from './policy-status.ts';

/** The maximum number of environments in a table. */
const maxRows = 10;

export const stageStates = ['Healthy', 'Runs', 'RollingOut', 'Failed', 'Approval', 'NotCopied', 'Waits', 'Ran'] as const;

/** A policy that images pass: itself as far as it may be read, or only what a follower has seen of it. */
export type Environment = ImagePolicy | Followed;
/** Where an image is in one policy. Times are RFC 3339. */
export interface Stage extends PolicyName {
  readonly state: (typeof stageStates)[number];
  readonly since?: string;
  readonly until?: string;
  /** Why it is not further, as a stable word and as a sentence. */
  readonly reason?: string;
  readonly message?: string;
}

/** An image, and where it is in each policy that knows it. */
export interface ImageOnItsWay {
  readonly digest: string;
  readonly tag?: string;
  /** The repository of the first policy that knows the image. */
  readonly repository?: string;
  readonly stages: readonly Stage[];
}

/** The rows: for each policy, in the order of following, what it selects, what runs, and what it has rejected last. */
export function imagesOnTheirWay(environments: readonly Environment[]): readonly ImageOnItsWay[] {
  const digests = new Set(environments.flatMap((one) => (isRead(one) ? newestOf(one.status) : (one.digest ?? []))));
  return [...digests].slice(0, maxRows).map((digest) => {
    const stages = environments.flatMap((one) => stageOf(digest, one) ?? []);
    const [first] = stages;
    const owner = environments.find((one) => first !== undefined && policyKey(one) === policyKey(first));
    const scope = owner !== undefined && isRead(owner) ? scopeOf(owner.spec) : undefined;
    const tag = environments.map((one) => tagIn(digest, one)).find((found) => found !== undefined);
    return { digest, ...defined({ tag }), ...(scope && { repository: formatRepository(scope.repository) }), stages };
  });
}

function isRead(environment: Environment): environment is ImagePolicy {
  return 'status' in environment;
}

/** The digests that a policy is concerned with now, the newest first. */
function newestOf(status: PolicyStatus): string[] {
  const { pendingApproval, waiting, latest, rejected: [failed] = [], healthy, follows = [] } = status;
  const coming = follows.flatMap(({ digest }) => digest ?? []);
  const digests = [
    pendingApproval?.digest,
    waiting?.digest,
    latest?.digest,
    failed?.digest,
    healthy?.digest,
    ...runningIn(status),
    ...coming,
  ];
  return digests.filter((digest) => digest !== undefined);
}

/** The digests in the images that the targets run, without companions. */
function runningIn({ targets = [] }: PolicyStatus): string[] {
  const own = targets.filter(({ companion, image }) => companion !== true && image !== undefined);
  return own.flatMap(({ image = '' }) => tryParseImageReference(image)?.digest ?? []);
}

function tagIn(digest: string, environment: Environment): string | undefined {
  if (!isRead(environment)) return environment.digest === digest ? environment.tag : undefined;
  const { latest, pendingApproval, waiting, healthy, history = [], rejected = [], follows = [] } = environment.status;
  const known = [latest, pendingApproval, waiting, healthy, ...history, ...rejected, ...follows];
  return known.find((one) => one?.digest === digest && one.tag !== undefined)?.tag;
}

type About = { readonly [Key in Exclude<keyof Stage, keyof PolicyName | 'state'>]?: Stage[Key] | undefined };

/** Where an image is in a policy; undefined if the policy does not know it. */
function stageOf(digest: string, environment: Environment): Stage | undefined {
  const { namespace, name } = environment;
  const found = isRead(environment) ? findStage(digest, environment.status) : seenStage(digest, environment);
  if (found === undefined) return undefined;
  const [state, about] = found;
  return { namespace, name, state, ...defined(about) };
}

type Found = readonly [state: Stage['state'], about: About];

function seenStage(digest: string, { digest: healthy, since }: Followed): Found | undefined {
  return healthy === digest ? ['Healthy', { since }] : undefined;
}

function findStage(digest: string, status: PolicyStatus): Found | undefined {
  const { healthy, rejected = [], history = [], latest, pendingApproval, waiting, follows = [] } = status;
  const failed = rejected.find((one) => one.digest === digest);
  if (failed !== undefined) return ['Failed', { since: failed.at, reason: failed.reason, message: failed.message }];
  if (healthy?.digest === digest) return ['Healthy', { since: healthy.since }];
  if (runningIn(status).includes(digest)) return runningStage(digest, status);
  const { reason, message } = whyNotFurther(status);
  const selectedAt = latest?.digest === digest ? latest.selectedAt : undefined;
  if (pendingApproval?.digest === digest) return ['Approval', { since: selectedAt, reason, message }];
  if (waiting?.digest === digest) return ['Waits', { since: waiting.since, until: waiting.until, reason: waiting.reason, message }];
  // What is not copied is not selected yet: it is what all followed policies run.
  if (reason === 'NotCopied' && follows.length > 0 && follows.every((one) => one.digest === digest))
    return ['NotCopied', { reason, message }];
  if (selectedAt !== undefined) return ['Waits', { since: selectedAt, reason, message }];
  const change = history.find((one) => one.digest === digest);
  return change && ['Ran', { since: change.at }];
}

/** The stage of an image that at least one target runs. */
function runningStage(digest: string, status: PolicyStatus): Found {
  const { history = [], latest, rollouts } = status;
  const change = history.find((one) => one.digest === digest);
  const since = change?.at;
  if (change?.result === 'Failed') return ['Failed', { since, reason: change.failure?.reason, message: change.failure?.message }];
  const isUnderWay = change?.result === 'Applied' && (rollouts?.progressing ?? 0) > 0;
  const isPartial = latest?.digest === digest && new Set(runningIn(status)).size > 1;
  return isUnderWay || isPartial ? ['RollingOut', { since, ...whyNotFurther(status) }] : ['Runs', { since }];
}

/** What the policy says first about itself. */
function whyNotFurther({ conditions = [] }: PolicyStatus): Pick<About, 'reason' | 'message'> {
  const { reason, message } = decisiveCondition(conditions) ?? {};
  return { reason, message };
}
