/** Reads objects of the API group: what each says of itself, and a spec that may be wrong. */
import { z } from 'zod';
import { defined } from '../../core/model/defined.ts';
import { describeError, PermanentError } from '../../core/model/errors.ts';
import type { ApiObject, PolicyProblem } from '../../core/model/image-policy.ts';
import { cut } from '../../core/model/text.ts';
import { specWrittenAt } from '../../core/model/written-at.ts';
import type { CheckContext } from './rules.ts';
import { specProblems, unknownFields } from './validation/spec-problems.ts';
import { withoutNulls } from './validation/walk-schema.ts';

const metadata = z.object({
  name: z.string(),
  namespace: z.string(),
  uid: z.string(),
  resourceVersion: z.string(),
  generation: z.number().default(0),
  creationTimestamp: z.string().optional().catch(undefined),
  deletionTimestamp: z.string().optional().catch(undefined),
  labels: z.record(z.string(), z.string()).optional().catch(undefined),
  annotations: z.record(z.string(), z.unknown()).catch({}),
  managedFields: z.array(z.unknown()).catch([]),
  ownerReferences: z.array(z.unknown()).catch([]),
});
const envelope = z.looseObject({ metadata, spec: z.unknown().optional(), status: z.unknown().optional() });
const maxMessageLength = 1_000;

type Metadata = z.output<typeof metadata>;

/** An object as the API server answers it; only its names and versions are certain. */
export interface Envelope extends Pick<Metadata, 'annotations' | 'managedFields' | 'ownerReferences'> {
  /** The identity of the object, with what the model keeps of its metadata. */
  readonly known: ApiObject & { readonly isDeleting?: true };
  readonly spec: unknown;
  readonly status: unknown;
}

/** Reads an object. Throws only if it has no metadata. */
export function readEnvelope(raw: unknown): Envelope {
  const { metadata: found, spec, status } = envelope.parse(raw);
  const { annotations, managedFields, ownerReferences, creationTimestamp: createdAt, deletionTimestamp, labels, ...names } = found;
  return {
    known: {
      ...names,
      ...defined({ createdAt, writtenAt: specWrittenAt(managedFields), labels }),
      ...(deletionTimestamp !== undefined && { isDeleting: true }),
    },
    annotations,
    managedFields,
    ownerReferences,
    spec,
    status,
  };
}

/** The spec, or the problem of a spec that cannot be used, so that other objects are not affected. */
export function specOrProblem<T>(raw: unknown, read: () => T): T | PolicyProblem {
  try {
    return read();
  } catch (error) {
    const reason = error instanceof PermanentError ? error.reason : 'InvalidPolicy';
    const isSuspended = typeof raw === 'object' && raw !== null && 'suspend' in raw && raw.suspend === true;
    return { problem: { reason, message: cut(describeError(error), maxMessageLength) }, ...(isSuspended && { suspended: true }) };
  }
}

/** Parses a spec. Throws a PermanentError that lists all its errors, or the fields that this version does not know; `so` is what follows from these. */
export function parseSpec<S extends z.ZodType>(schema: S, raw: unknown, context: CheckContext, so: string): z.output<S> {
  const problems = specProblems(schema, raw, context);
  if (problems.length > 0) throw new PermanentError('InvalidPolicy', problems.map(({ path, message }) => `${path}: ${message}`).join('; '));
  const unknown = unknownFields(schema, withoutNulls(raw), ['spec']);
  if (unknown.length > 0)
    throw new PermanentError('NotYetSupported', `this version does not know ${unknown.map(({ path }) => path).join(', ')}, ${so}`);
  return schema.parse(withoutNulls(raw));
}
