import { crdName, group, kind, plural, shortName } from '../../../src/service/resources/group.ts';

const text = { type: 'string' };
const time = { type: 'string', format: 'date-time' };
const object = (properties: Record<string, object>, required: readonly string[] = []) => ({
  type: 'object',
  properties,
  ...(required.length > 0 && { required }),
});

/** The definition that clusters have from before v1: v1alpha1 alone, no status subresource, no bounds, a spec that may be missing. */
export const oldCrd = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: crdName },
  spec: {
    group,
    scope: 'Namespaced',
    names: { kind, listKind: `${kind}List`, plural, singular: kind.toLowerCase(), shortNames: [shortName] },
    versions: [
      {
        name: 'v1alpha1',
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: object({
            spec: object(
              {
                repository: text,
                tagPolicy: object({ strategy: { type: 'string', enum: ['SemVer', 'Latest', 'Regex'] }, pattern: text }, ['strategy']),
                updateTarget: object({ kind: text, name: text, namespace: text }, ['kind', 'name', 'namespace']),
                pollIntervalMinutes: { type: 'integer', default: 60 },
              },
              ['repository', 'tagPolicy', 'updateTarget'],
            ),
            status: object({
              lastCheckedTime: time,
              lastAppliedTag: text,
              observedGeneration: { type: 'integer' },
              conditions: {
                type: 'array',
                items: object({ type: text, status: text, reason: text, message: text, lastTransitionTime: time }),
              },
            }),
          }),
        },
      },
    ],
  },
};
