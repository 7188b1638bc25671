import type { z } from 'zod';
import { PermanentError } from '../model/errors.ts';
import { checkFields, type FieldContext } from '../model/field-rules.ts';
import type { PolicyTarget, TargetFields, TargetParts } from '../model/image-policy.ts';
import type { Repository } from '../model/image-reference.ts';
import type { LabelSelector } from '../model/label-selector.ts';
import { isCustomVersion, type KindRef } from '../model/workload.ts';
import type { specSchema } from './v1-spec.ts';

type Written = z.output<typeof specSchema>['targets'][number];

/** What a target is read with. */
interface TargetContext extends FieldContext {
  /** The namespace of the policy. */
  readonly namespace: string;
  readonly repository: Repository;
}

/** One of a policy's targets. The API version counts only where it says which custom resource is meant. */
export function readTarget(target: Written, index: number, context: TargetContext): PolicyTarget {
  const { apiVersion, kind, name, selector, namespace = context.namespace } = target;
  const ref = { ...(isCustomVersion(apiVersion) && { apiVersion }), kind };
  const place = { ...ref, namespace, ...readParts(target, ref, context) };
  if (selector !== undefined) return { ...place, selector: readSelector(selector) };
  if (name !== undefined) return { ...place, name };
  throw new PermanentError('InvalidPolicy', `spec.targets[${index}]: write either name or selector`);
}

function readParts({ containers, initContainers, volumes, fields }: Written, ref: KindRef, context: TargetContext): TargetParts {
  return {
    ...(containers !== undefined && { containers }),
    ...(initContainers && { initContainers }),
    ...(volumes === true && { volumes }),
    ...(fields !== undefined && { fields: readFields(fields, ref, context) }),
  };
}

function readSelector({ matchLabels, matchExpressions }: NonNullable<Written['selector']>): LabelSelector {
  const requirements = matchExpressions?.map(({ key, operator, values }) => ({ key, operator, ...(values !== undefined && { values }) }));
  return { ...(matchLabels !== undefined && { matchLabels }), ...(requirements !== undefined && { matchExpressions: requirements }) };
}

/** With the field of the repository, also where the policy does not name it. */
function readFields(
  { image, repository, tag, digest }: NonNullable<Written['fields']>,
  ref: KindRef,
  context: TargetContext,
): TargetFields {
  const written = {
    ...(image !== undefined && { image }),
    ...(repository !== undefined && { repository }),
    ...(tag !== undefined && { tag }),
    ...(digest !== undefined && { digest }),
  };
  const result = checkFields(ref, written, context.repository, context);
  if ('fields' in result) return result.fields;
  throw new PermanentError('FieldNotAllowed', result.message);
}
