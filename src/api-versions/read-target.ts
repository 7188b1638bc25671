import type { z } from 'zod';
import { PermanentError } from '../core/errors.ts';
import type { PolicyTarget, TargetFields, TargetParts } from '../core/image-policy.ts';
import type { LabelSelector } from '../core/label-selector.ts';
import { isCustomVersion } from '../core/workload.ts';
import type { specSchema } from './v1-spec.ts';

type Written = z.output<typeof specSchema>['targets'][number];

/** One of a policy's targets. The API version counts only where it says which custom resource is meant. */
export function readTarget(target: Written, index: number, ownNamespace: string): PolicyTarget {
  const { apiVersion, kind, name, selector, namespace = ownNamespace } = target;
  const place = { ...(isCustomVersion(apiVersion) && { apiVersion }), kind, namespace, ...readParts(target) };
  if (selector !== undefined) return { ...place, selector: readSelector(selector) };
  if (name !== undefined) return { ...place, name };
  throw new PermanentError('InvalidPolicy', `spec.targets[${index}]: write either name or selector`);
}

function readParts({ containers, initContainers, fields }: Written): TargetParts {
  return {
    ...(containers !== undefined && { containers }),
    ...(initContainers && { initContainers }),
    ...(fields !== undefined && { fields: readFields(fields) }),
  };
}

function readSelector({ matchLabels, matchExpressions }: NonNullable<Written['selector']>): LabelSelector {
  const requirements = matchExpressions?.map(({ key, operator, values }) => ({ key, operator, ...(values !== undefined && { values }) }));
  return { ...(matchLabels !== undefined && { matchLabels }), ...(requirements !== undefined && { matchExpressions: requirements }) };
}

function readFields({ image, repository, tag, digest }: NonNullable<Written['fields']>): TargetFields {
  return {
    ...(image !== undefined && { image }),
    ...(repository !== undefined && { repository }),
    ...(tag !== undefined && { tag }),
    ...(digest !== undefined && { digest }),
  };
}
