import { hasWaitedForSignature, nextSignatureCheck } from '../plan/await-signature.ts';
import { PermanentError, WaitError } from '../model/errors.ts';
import type { ImagePolicy, PolicySpec } from '../model/image-policy.ts';
import type { ImageReference, Candidate } from '../model/image-reference.ts';
import type { ImageSource } from '../model/image-source.ts';
import { hasChanges, type UpdatePlan } from '../plan/plan-update.ts';
import type { VerificationResult, Verification } from '../model/verification.ts';
import { formatTag, type HeadManifest } from './resolve-tag.ts';

export interface VerifyPorts {
  /** Whether an image has the signatures that are demanded; throws PermanentError where nothing can be verified. */
  readonly verifyImage: (
    request: { source: ImageSource; digest: string; verification: Verification; namespace: string },
    signal: AbortSignal,
  ) => Promise<VerificationResult>;
  readonly headManifest: HeadManifest;
  readonly sourceOf: (policy: ImagePolicy, spec: PolicySpec) => ImageSource;
  readonly now: () => number;
}

/** The plan, and since when the image could have been signed: the time of the push, or of another cause of the reconcile. */
export interface VerifyRequest {
  readonly plan: UpdatePlan;
  readonly sinceMs?: number | undefined;
}

/**
 * Checks that the candidate of a plan has the signatures that the policy demands, and returns the digest that was verified. A plan that changes nothing is not
 * verified. Not signed: WaitError for some minutes, because signatures follow their image, then PermanentError; wrong signatures: PermanentError.
 */
export async function verifyCandidate(
  policy: ImagePolicy,
  spec: PolicySpec,
  { plan, sinceMs }: VerifyRequest,
  ports: VerifyPorts,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { verification } = spec;
  if (verification === undefined || !hasChanges(plan)) return undefined;
  const { tag, digest } = plan.candidate;
  const name = formatTag(spec.repository, tag);
  // The running images changed after the choice: the next try asks for the digest.
  if (digest === undefined) throw new Error(`${name} has to be verified, and its digest was not asked for`);
  const source = ports.sourceOf(policy, spec);
  const result = await ports.verifyImage({ source, digest, verification, namespace: policy.namespace }, signal);
  if (result.kind === 'invalid') throw notUsed(name, digest, result.why);
  if (result.kind === 'unsigned') {
    const nowMs = ports.now();
    throw notSigned(policy, digest, `${name} (${digest}) is not signed: ${result.why}`, { sinceMs: sinceMs ?? nowMs, nowMs });
  }
  if (spec.pin === 'Tag') await checkTag(source, { tag, digest }, ports.headManifest, signal);
  return digest;
}

/**
 * Demands the signatures of an earlier image of the repository, by its digest or by what its tag points to now: it may have run before signatures were
 * demanded, or may no longer be trusted. Throws PermanentError where they are missing: an old image is not waited for.
 */
export async function verifyEarlier(
  policy: ImagePolicy,
  spec: PolicySpec,
  { name, tag = 'latest', digest: pinned }: ImageReference,
  ports: VerifyPorts,
  signal: AbortSignal,
): Promise<void> {
  const { verification } = spec;
  if (verification === undefined) return;
  const source = ports.sourceOf(policy, spec);
  const digest = pinned ?? (await ports.headManifest(source, tag, signal))?.digest;
  if (digest === undefined) throw new PermanentError('TagNotFound', `${name}:${tag} is not in the registry any more`);
  const result = await ports.verifyImage({ source, digest, verification, namespace: policy.namespace }, signal);
  if (result.kind === 'invalid') throw notUsed(`${name}:${tag}`, digest, result.why);
  if (result.kind === 'unsigned') throw new PermanentError('NotSigned', `${name}:${tag} (${digest}) is not signed: ${result.why}`);
  if (pinned === undefined) await checkTag(source, { tag, digest }, ports.headManifest, signal);
}

function notUsed(name: string, digest: string, why: string): PermanentError {
  return new PermanentError('SignatureInvalid', `${name} (${digest}) is not used: ${why}`);
}

function notSigned(policy: ImagePolicy, digest: string, message: string, { sinceMs, nowMs }: { sinceMs: number; nowMs: number }): Error {
  const until = hasWaitedForSignature(policy, digest) ? undefined : nextSignatureCheck(sinceMs, nowMs);
  return until === undefined ? new PermanentError('NotSigned', message) : new WaitError('NotSigned', until, message);
}

/** A tag is written without its digest, so it has to point to the verified one, checked as late as possible. */
async function checkTag(source: ImageSource, { tag, digest }: Candidate, headManifest: HeadManifest, signal: AbortSignal): Promise<void> {
  const head = await headManifest(source, tag, signal);
  if (head?.digest === digest) return;
  throw new Error(`${formatTag(source, tag)} moved from ${digest}, which was verified, to ${head?.digest ?? 'nothing'}`);
}
