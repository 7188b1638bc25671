/**
 * Whether an image is proven: the policies that another one follows run it, complete and available, since long enough. The one place for it: `select.proven` takes the
 * image from here, and the guard `proven` asks it before each change, also for policies that select for themselves (`update.after`).
 *
 * | the followed policies …                       | the image            | the guard                             |
 * | --------------------------------------------- | -------------------- | ------------------------------------- |
 * | all run one digest, for long enough           | that digest          | passes                                |
 * | all run one digest, not yet for long enough   | that digest          | waits until then                      |
 * | run different digests, or one shows none      | as selected before   | blocks: their next change wakes it    |
 * | at least one runs it, and it was promoted     | as in the rows above | passes                                |
 *
 * What a followed policy shows is a value (`Followed`), made by one function (`followedOf`): where the policy is, and how that is known, is decided nowhere else.
 */
import { defined } from '../model/defined.ts';
import type { Followed } from '../model/followed-status.ts';
import { isUsable, policyKey, type ImagePolicy, type PolicyName, type PolicySpec, type ProofRules } from '../model/image-policy.ts';
import type { Candidate } from '../model/image-reference.ts';
import type { PolicyActions } from '../model/policy-actions.ts';
import { promotionOf, runsSomewhere } from '../model/promotion.ts';
import { formatDuration, listFew, toSeconds } from '../model/text.ts';
import { consentAnnotation } from '../model/consent-annotation.ts';
import { evaluateConsent, needsConsent, type Asker, type ConsentRules, type ConsentSources } from './consent.ts';

/** The policies that may be followed, as a policy may see them. */
export interface FollowView extends ConsentRules {
  /** Finds a policy in the caches, whoever asks; absent where other policies are not known. */
  readonly findPolicy?: (namespace: string, name: string) => ImagePolicy | undefined;
}

/** What the followed policies show, and when that was so. */
export interface FollowedNow {
  readonly policies: readonly Followed[];
  /** The time of the evaluation: by the clock of the API server if the followed policies were read, otherwise by our own. */
  readonly at: Date;
}

/** What the policies that a policy follows show, from the caches; none if it follows none. */
export function followedBy(policy: Asker & PolicyName, { after }: PolicySpec, view: FollowView): readonly Followed[] {
  const { findPolicy } = view;
  if (after === undefined) return [];
  if (findPolicy === undefined) return after.policies.map((name) => ({ ...name, message: 'other policies are not known here' }));
  const circular = whyCircular(policy, after, view);
  if (circular !== undefined) return circular;
  return after.policies.map((name) => {
    const found = findPolicy(name.namespace, name.name);
    return followedOf(name, found, whyUnseen(policy, { ...name, ...defined({ allowPoliciesFrom: found?.allowPoliciesFrom }) }, view));
  });
}

/** What the followed policies show to a policy that follows itself through them; undefined if it does not. */
export function whyCircular(policy: PolicyName, after: ProofRules, { findPolicy }: FollowView): readonly Followed[] | undefined {
  const isCircular = isInCycle(policy, after, findPolicy ?? (() => undefined));
  return isCircular ? after.policies.map((name) => ({ ...name, message: inCycle })) : undefined;
}

/** A policy that may be followed, with its answer to who asks. */
type Asked = PolicyName & Pick<ImagePolicy, 'allowPoliciesFrom'>;

/** Whether a policy may follow another one, and learn what that runs. */
export function maySee(policy: Asker, followed: Asked, rules: ConsentRules): boolean {
  return whyUnseen(policy, followed, rules) === undefined;
}

/** Why a policy may not see another one, by the caches; undefined if it may. */
export function whyUnseen(policy: Asker, followed: Asked, { crossNamespace, namespaceConsent }: ConsentRules): Unseen | undefined {
  const { allowPoliciesFrom: onTarget, namespace } = followed;
  const onNamespace = onTarget === undefined ? namespaceConsent(namespace) : undefined;
  return whyNotFollowed(policy, followed, { onTarget, onNamespace }, crossNamespace);
}

/** Why a policy may not follow another one: one of another namespace needs the same consent as a target there. Undefined if it may. */
export function whyNotFollowed(
  policy: Asker,
  followed: PolicyName,
  sources: ConsentSources,
  crossNamespace: ConsentRules['crossNamespace'],
): Unseen | undefined {
  const { namespace, name } = followed;
  if (namespace === policy.namespace || crossNamespace === 'allow') return undefined;
  if (crossNamespace === 'deny') return { message: 'it is in another namespace, and the configuration says crossNamespace: deny' };
  const target = { kind: 'ImagePolicy', namespace, name };
  const isGranted = !needsConsent(target, policy, crossNamespace) || evaluateConsent(policy, target, sources, crossNamespace).granted;
  if (isGranted) return undefined;
  const hint = `ask them to annotate it, or its Namespace, with ${consentAnnotation}: "${policy.namespace}"`;
  return { message: `it either does not exist or its owners have not consented: ${hint}` };
}

/** Why a policy may not see another one. It says the same whether that exists or not. */
interface Unseen {
  readonly message: string;
}

/** What a followed policy shows: the image that its targets run, complete and available, or why there is none. `unseen`: why it may not be seen. */
export function followedOf(name: PolicyName, policy: ImagePolicy | undefined, unseen: Unseen | undefined): Followed {
  const { namespace, name: own } = name;
  const none = (message: string): Followed => ({ namespace, name: own, message });
  if (unseen !== undefined) return none(unseen.message);
  if (policy === undefined) return none('it does not exist');
  const { spec, status, generation } = policy;
  if (!isUsable(spec)) return none('its spec cannot be used');
  if (spec.suspended) return none('it is suspended');
  const never = whyNeverShown(spec);
  if (never !== undefined) return none(never);
  if (status.observedGeneration !== generation) return none(notEvaluated);
  if (status.healthy === undefined) return none(notHealthy);
  const { tag, digest, since } = status.healthy;
  return { namespace, name: own, ...defined({ tag }), digest, since };
}

/** Why a policy never shows what it runs, whatever that is, and what to do; undefined if it may. */
export function whyNeverShown({ rollout, pin, targets }: PolicySpec): string | undefined {
  if (rollout === undefined) return 'its rollouts are not watched: write rollout.watch: true in it';
  if (pin === 'Tag') return 'it pins tags, and a tag may have moved since its pods started: write update.pin: Digest in it';
  return targets.some(({ fields }) => fields !== undefined)
    ? 'it writes fields of custom resources, whose pods are not known: follow a policy that changes workloads'
    : undefined;
}

const notHealthy = 'its status does not show that all of its targets run one image, complete and available';
const notEvaluated = 'it has changed and has not been evaluated since';
const inCycle = 'the policies follow each other in a circle: remove one of them from select.proven or update.after';
/** How many policies are visited to find a circle. Longer chains are no use to anybody. */
const maxVisited = 200;

/** Whether a policy follows itself, directly or through others. Too long a chain counts as one. */
function isInCycle(policy: PolicyName, { policies }: ProofRules, findPolicy: NonNullable<FollowView['findPolicy']>): boolean {
  const own = policyKey(policy);
  const seen = new Set<string>();
  const left = [...policies];
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    const key = policyKey(next);
    if (key === own || seen.size > maxVisited) return true;
    if (seen.has(key)) continue;
    seen.add(key);
    const spec = findPolicy(next.namespace, next.name)?.spec;
    if (spec !== undefined && isUsable(spec)) left.push(...(spec.after?.policies ?? []));
  }
  return false;
}

/** The image that all followed policies run, or why there is none. */
export function commonImage(policies: readonly Followed[]): (Candidate & { readonly digest: string }) | { readonly message: string } {
  const [first] = policies;
  const missing = policies.filter(({ digest }) => digest === undefined);
  if (first?.digest === undefined || missing.length > 0) return { message: listFew(missing, describeFollowed) };
  if (policies.some(({ digest }) => digest !== first.digest)) return { message: listFew(policies, describeFollowed) };
  const tag = policies.find((one) => one.tag !== undefined)?.tag ?? hiddenTag(first.digest);
  return { tag, digest: first.digest };
}

/** A name for an image whose tag nobody knows, in the form that tools give to digests. */
function hiddenTag(digest: string): string {
  return digest.replace(':', '-').slice(0, 19);
}

/** Whether the image of a digest is proven: yes, not before a time, or not before something changes. */
export type Proof =
  | { readonly kind: 'proven' }
  | { readonly kind: 'waits'; readonly until: Date; readonly message: string }
  | { readonly kind: 'missing'; readonly message: string };

/** Whether all followed policies run this digest since long enough. `at`: by the clock that the times are compared with. */
export function proofOf({ tag, digest }: Candidate, { forMs }: ProofRules, { policies, at }: FollowedNow): Proof {
  const others = policies.filter((one) => one.digest === undefined || one.digest !== digest);
  if (others.length > 0) return { kind: 'missing', message: `${tag} is not proven: ${listFew(others, describeFollowed)}` };
  const until = new Date(Math.max(...policies.map(({ since = '' }) => Date.parse(since))) + forMs);
  if (!(until.getTime() > at.getTime())) return { kind: 'proven' };
  const names = listFew(policies, policyKey);
  return { kind: 'waits', until, message: `${tag} has to run in ${names} for ${formatDuration(forMs)}: until ${toSeconds(until)}` };
}

/** Whether an image may be applied: it is proven, or it is promoted, and at least one of the followed policies runs it. */
export function proofFor(
  candidate: Candidate,
  { after, actions }: { readonly after: ProofRules; readonly actions: PolicyActions | undefined },
  followed: FollowedNow,
): Proof {
  const proof = proofOf(candidate, after, followed);
  if (proof.kind === 'proven' || promotionOf(actions, candidate) === undefined) return proof;
  if (runsSomewhere(candidate, followed.policies)) return { kind: 'proven' };
  return { ...proof, message: `${proof.message}; it is promoted, and waits until one of them runs it, complete and available` };
}

function describeFollowed({ namespace, name, tag, digest, since, message }: Followed): string {
  const key = policyKey({ namespace, name });
  if (message !== undefined || digest === undefined) return `${key}: ${message ?? 'it shows no image'}`;
  return `${key} runs ${tag ?? digest.slice(0, 19)} (${digest.slice(0, 19)}…) since ${since}`;
}
