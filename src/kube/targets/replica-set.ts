import type { TargetKind } from '../target-kind.ts';

/** ReplicaSets of apps/v1 that stand for themselves: those of a Deployment are its own business, and ten times as many. */
export const replicaSet: TargetKind = {
  kind: 'ReplicaSet',
  apiVersion: 'apps/v1',
  resource: 'replicasets',
  podSpecPath: ['spec', 'template', 'spec'],
  withoutControlled: true,
};
