/** Reads objects of the API server, in the shape of v1, as the policies that the program works with. */
import { hash } from 'node:crypto';
import { z } from 'zod';
import { defined } from '../../core/model/defined.ts';
import { baseAnnotation, workloadAnnotation } from '../../core/model/base-policy.ts';
import { isUsable, type ImagePolicy, type PolicyParent, type PolicyProblem, type PolicySpec } from '../../core/model/image-policy.ts';
import { readEditor } from '../../core/model/named-approvals.ts';
import { readActions, readRequest } from '../../core/model/policy-actions.ts';
import { readStatus } from '../../core/model/stored-status.ts';
import { refOf } from '../../core/model/workload.ts';
import { consentAnnotation } from '../../core/model/consent-annotation.ts';
import { baseKind, group } from './group.ts';
import { readScope } from './read-scope.ts';
import { readEnvelope, specOrProblem } from './read-envelope.ts';
import { readSpec, type ReadContext, type SpecSource } from './read-spec.ts';
import { fieldOf, has } from './rules.ts';
import { apiVersion, version as v1 } from './v1.ts';
import { withoutNulls } from './validation/walk-schema.ts';

const ownerReference = z.object({
  apiVersion: z.string().startsWith(`${group}/`),
  kind: z.literal(baseKind),
  name: z.string(),
  uid: z.string(),
  controller: z.literal(true),
});

/** A hash of the source of each spec, and of the version in which it was written. It shows whether a spec is unchanged: the status changes a hundred times as often. */
const sources = new WeakMap<PolicySpec | PolicyProblem, string>();

/**
 * Reads an object. An error in its spec becomes the policy's problem, so that other policies are not affected; throws only without metadata. A spec that has
 * not changed since `before` was read (in the same context) is not read again.
 */
export function readPolicy(raw: unknown, context: ReadContext, before?: ImagePolicy): ImagePolicy {
  const { known, annotations, managedFields, ownerReferences, ...object } = readEnvelope(raw);
  const { isDeleting: _, ...names } = known;
  const parent = parentOf(ownerReferences, annotations);
  const actions = readActions(annotations);
  const requested = readRequest(annotations);
  const editedBy = readEditor(annotations);
  const { [consentAnnotation]: allowed } = annotations;
  const allowPoliciesFrom = typeof allowed === 'string' ? allowed : undefined;
  const source: SpecSource = { namespace: names.namespace, writtenIn: writtenIn(managedFields, context) };
  const spec = readSpecOnce(object.spec, source, context, before?.namespace === names.namespace ? before.spec : undefined);
  return {
    ...names,
    apiVersion,
    ...legacyTargetOf(spec, object.spec, names.namespace, context),
    spec,
    status: readStatus(object.status, names.generation),
    ...(Object.keys(actions).length > 0 && { actions }),
    ...defined({ requested, parent, editedBy, allowPoliciesFrom }),
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
  const spec = specOrProblem(raw, () => readSpec(raw, source, context));
  const scope = 'problem' in spec ? readScope(raw, source, context) : undefined;
  return scope === undefined ? spec : { ...spec, scope };
}
