/** Objects of the API server, in the shape of v1, as the policies that the program works with. */
import { hash } from 'node:crypto';
import { z } from 'zod';
import { PermanentError, describeError } from '../model/errors.ts';
import { isUsable, type ImagePolicy, type PolicyProblem, type PolicySpec } from '../model/image-policy.ts';
import { readActions } from '../model/policy-actions.ts';
import { readStatus } from '../model/policy-status.ts';
import type { Reason } from '../model/reasons.ts';
import { cut } from '../model/text.ts';
import { refOf } from '../model/workload.ts';
import { isOfV1alpha1 } from './conversion/is-expressible.ts';
import { readSpec, type ReadContext } from './read-spec.ts';
import { apiVersion } from './v1.ts';
import { withoutNulls } from './validation/walk-schema.ts';

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

/** A hash of what each spec was read from: the status changes a hundred times as often as the spec. */
const sources = new WeakMap<PolicySpec | PolicyProblem, string>();

/**
 * Reads an object. What is wrong with its spec becomes the policy's problem, so that other policies are not affected; throws only without metadata. A spec
 * that has not changed since `before` was read (in the same context) is not read again.
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

/** Only a target in another namespace can be a legacy target: most policies have none, and their specs are not examined any further. */
function legacyTargetOf(spec: ImagePolicy['spec'], raw: unknown, namespace: string): Pick<ImagePolicy, 'legacyTarget'> {
  const [target] = isUsable(spec) ? spec.targets : [];
  if (target?.name === undefined || target.namespace === namespace || !isOfV1alpha1(withoutNulls(raw))) return {};
  return { legacyTarget: refOf(target) };
}

function readSpecOnce(raw: unknown, namespace: string, context: ReadContext, before: ImagePolicy['spec'] | undefined): ImagePolicy['spec'] {
  const source = hash('sha1', JSON.stringify(raw) ?? '', 'base64');
  if (before !== undefined && sources.get(before) === source) return before;
  const spec = readSpecOrProblem(raw, namespace, context);
  sources.set(spec, source);
  return spec;
}

function readSpecOrProblem(raw: unknown, namespace: string, context: ReadContext): PolicySpec | PolicyProblem {
  try {
    return readSpec(raw, namespace, context);
  } catch (error) {
    const reason: Reason = error instanceof PermanentError ? error.reason : 'InvalidPolicy';
    const isSuspended = typeof raw === 'object' && raw !== null && 'suspend' in raw && raw.suspend === true;
    return { problem: { reason, message: cut(describeError(error), maxMessageLength) }, ...(isSuspended && { suspended: true }) };
  }
}
