import type { TargetKind } from '../target-kind.ts';

/** DaemonSets of apps/v1. */
export const daemonSet: TargetKind = {
  kind: 'DaemonSet',
  apiVersion: 'apps/v1',
  resource: 'daemonsets',
  podSpecPath: ['spec', 'template', 'spec'],
};
