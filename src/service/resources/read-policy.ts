/** Reads objects of the API server, in the shape of v1, as the policies that the program works with. */
import { hash } from 'node:crypto';
import { z } from 'zod';
import { defined } from '../../core/model/defined.ts';
import { PermanentError, describeError } from '../../core/model/errors.ts';
import { baseAnnotation, workloadAnnotation } from '../../core/model/base-policy.ts';
import { isUsable, type ImagePolicy, type PolicyParent, type PolicyProblem, type PolicySpec } from '../../core/model/image-policy.ts';
import { readActions, readRequest } from '../../core/model/policy-actions.ts';
import { readStatus } from '../../core/model/stored-status.ts';
import type { Reason } from '../../core/model/reasons.ts';
import { cut } from '../../core/model/text.ts';
import { refOf } from '../../core/model/workload.ts';
import { baseKind, group } from './group.ts';
import { readScope } from './read-scope.ts';
import { specWrittenAt } from '../../core/model/written-at.ts';
import { readSpec, type ReadContext, type SpecSource } from './read-spec.ts';
import { fieldOf, has } from './rules.ts';
import { apiVersion, version as v1 } from './v1.ts';
import { withoutNulls } from './validation/walk-schema.ts';

const metadata = z.object({
  annotations: z.record(z.string(), z.unknown()).catch({}),
  name: z.string(),
  namespace: z.string(),
  uid: z.string(),
  resourceVersion: z.string(),
  generation: z.number().default(0),
  creationTimestamp: z.string().optional().catch(undefined),
  labels: z.record(z.string(), z.string()).optional().catch(undefined),
  managedFields: z.array(z.unknown()).catch([]),
  ownerReferences: z.array(z.unknown()).catch([]),
});
const envelope = z.looseObject({ metadata, spec: z.unknown().optional(), status: z.unknown().optional() });
const ownerReference = z.object({
  apiVersion: z.string().startsWith(`${group}/`),
  kind: z.literal(baseKind),
  name: z.string(),
  uid: z.string(),
  controller: z.literal(true),
});
const maxMessageLength = 1000;

/** For each spec, a hash of its source and its author's version, to recognise unchanged specs: the status changes a hundred times as often. */
const sources = new WeakMap<PolicySpec | PolicyProblem, string>();

/**
 * Reads an object. An error in its spec becomes the policy's problem, so that other policies are not affected; throws only without metadata. A spec that has
 * not changed since `before` was read (in the same context) is not read again.
 */
export function readPolicy(raw: unknown, context: ReadContext, before?: ImagePolicy): ImagePolicy {
  const object = envelope.parse(raw);
  const { annotations, creationTimestamp: createdAt, labels, managedFields, ownerReferences, ...names } = object.metadata;
  const parent = parentOf(ownerReferences, annotations);
  const actions = readActions(annotations);
  const requested = readRequest(annotations);
  const source: SpecSource = { namespace: names.namespace, writtenIn: writtenIn(managedFields, context) };
  const spec = readSpecOnce(object.spec, source, context, before?.namespace === names.namespace ? before.spec : undefined);
  return {
    ...names,
    apiVersion,
    ...defined({ createdAt, writtenAt: specWrittenAt(managedFields) }),
    ...legacyTargetOf(spec, object.spec, names.namespace, context),
    spec,
    status: readStatus(object.status, names.generation),
    ...(Object.keys(actions).length > 0 && { actions }),
    ...defined({ requested, labels, parent }),
  };
}

/** The BaseImagePolicy that controls the policy, and the base that it has named. */
function parentOf(references: readonly unknown[], annotations: Readonly<Record<string, unknown>>): PolicyParent | undefined {
  for (const raw of references) {
    const { success, data } = ownerReference.safeParse(raw);
    if (!success) continue;
    const { [baseAnnotation]: base, [workloadAnnotation]: workload } = annotations;
    return {
      name: data.name,
      uid: data.uid,
      ...(typeof base === 'string' && { base }),
      ...(typeof workload === 'string' && { workload }),
    };
  }
  return undefined;
}

/** The legacy target of a policy. Only a target in another namespace can be one; most policies have none, and their specs are not examined any further. */
function legacyTargetOf(
  spec: ImagePolicy['spec'],
  raw: unknown,
  namespace: string,
  { olderVersions }: ReadContext,
): Pick<ImagePolicy, 'legacyTarget'> {
  const [target] = isUsable(spec) ? spec.targets : [];
  if (target?.name === undefined || target.namespace === namespace) return {};
  return olderVersions.some(({ couldHaveWritten }) => couldHaveWritten(withoutNulls(raw))) ? { legacyTarget: refOf(target) } : {};
}

/** The version in which the author of a policy last wrote. Stored policies are of v1, but managedFields record the version of each author. */
function writtenIn(managedFields: readonly unknown[], { olderVersions }: ReadContext): SpecSource['writtenIn'] {
  const writes = managedFields.filter((entry) => has(fieldOf(entry, 'fieldsV1'), 'f:spec'));
  const last = writes.toSorted((a, b) => timeOf(a) - timeOf(b)).at(-1);
  return olderVersions.find((older) => older.apiVersion === fieldOf(last, 'apiVersion'))?.version ?? v1;
}

/** The time of an entry in ms since 1970; 0 if it cannot be read. */
function timeOf(entry: unknown): number {
  return Date.parse(String(fieldOf(entry, 'time'))) || 0;
}

function readSpecOnce(
  raw: unknown,
  source: SpecSource,
  context: ReadContext,
  before: ImagePolicy['spec'] | undefined,
): ImagePolicy['spec'] {
  const key = hash('sha1', JSON.stringify([source.writtenIn, raw]), 'base64');
  if (before !== undefined && sources.get(before) === key) return before;
  const spec = readSpecOrProblem(raw, source, context);
  sources.set(spec, key);
  return spec;
}

function readSpecOrProblem(raw: unknown, source: SpecSource, context: ReadContext): PolicySpec | PolicyProblem {
  try {
    return readSpec(raw, source, context);
  } catch (error) {
    const reason: Reason = error instanceof PermanentError ? error.reason : 'InvalidPolicy';
    const isSuspended = typeof raw === 'object' && raw !== null && 'suspend' in raw && raw.suspend === true;
    const scope = readScope(raw, source, context);
    return {
      problem: { reason, message: cut(describeError(error), maxMessageLength) },
      ...(isSuspended && { suspended: true }),
      ...(scope && { scope }),
    };
  }
}
