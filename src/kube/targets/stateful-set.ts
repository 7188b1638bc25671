import type { TargetKind } from '../target-kind.ts';

/** StatefulSets of apps/v1. */
export const statefulSet: TargetKind = {
  kind: 'StatefulSet',
  apiVersion: 'apps/v1',
  resource: 'statefulsets',
  podSpecPath: ['spec', 'template', 'spec'],
};
